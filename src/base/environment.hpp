#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>

namespace syncyte::base {

/// Value of an environment variable; nothing if unset or empty.
std::optional<std::string> environment(const char* name);

/// Index of the variable's value among the choices; `fallback` if it is unset *or not one of them*. Init reports bad
/// values by environment_check(), because callers of this function cannot handle an error.
int environment_choice(const char* name, std::initializer_list<const char*> choices, int fallback);

/// Longest duration in the environment: 32 years, which 64-bit nanoseconds can hold several times.
inline constexpr double most_seconds = 1e9;

/// Seconds from the environment, `fallback` if unset. Throws SYNCYTE_ERR_ARGUMENT if it is not a number of at least
/// `least` and at most most_seconds.
double environment_seconds(const char* name, double fallback, double least);

/// A size such as 4096, 64K, 2M or 1G, `fallback` if unset; throws SYNCYTE_ERR_ARGUMENT otherwise.
std::size_t environment_bytes(const char* name, std::size_t fallback);

/// Throws SYNCYTE_ERR_ARGUMENT, naming variable, value and choices, if the variable is set to none of the choices.
void environment_check(const char* name, std::initializer_list<const char*> choices);

}  // namespace syncyte::base
