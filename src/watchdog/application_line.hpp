// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace syncyte::watchdog {

/// Writes the application's current source line to `text`, of `size` bytes, as a zero-terminated string.
using line_function = void (*)(std::int64_t size, void* text, void* context);

constexpr int line_bytes = 160;

/// Sets the function; null removes it. May be called while the function is running.
void set_line_function(line_function function, void* context);
bool has_line_function();

/// Calls the function on a separate thread and returns its text, or "unknown" if it takes longer than a second.
std::string application_line();

}  // namespace syncyte::watchdog
