#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>

namespace syncyte::base {

/// Value of an environment variable; nothing if unset or empty.
std::optional<std::string> environment(const char* name);

/// Place of the variable's value among the choices; `fallback` if it is unset *or not one of them* (bad values are
/// reported by environment_check(), which init calls, because nobody can catch an error here).
int environment_choice(const char* name, std::initializer_list<const char*> choices, int fallback);

/// A number from the environment, `fallback` if unset; throws SYNCYTE_ERR_ARGUMENT if it is no number or below `least`.
double environment_number(const char* name, double fallback, double least);

/// A size such as 4096, 64K, 2M or 1G, `fallback` if unset; throws SYNCYTE_ERR_ARGUMENT otherwise.
std::size_t environment_bytes(const char* name, std::size_t fallback);

/// Throws SYNCYTE_ERR_ARGUMENT, naming variable, value and choices, if the variable is set to something else.
void environment_check(const char* name, std::initializer_list<const char*> choices);

}  // namespace syncyte::base
