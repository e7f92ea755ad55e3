#pragma once

#include <cstdint>
#include <string>

namespace syncyte::watchdog {

/// Writes which line of its program the application is at, as a text that ends with a zero byte.
using line_function = void (*)(void* text, std::int64_t bytes, void* context);

constexpr int line_bytes = 160;

/// Null: none. May be called while the function is running.
void set_line_function(line_function function, void* context);
bool has_line_function();

/// The text that it writes, called on a thread of its own; "unknown" where it has not done so within a second.
std::string application_line();

}  // namespace syncyte::watchdog
