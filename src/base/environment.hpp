// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/settings.hpp"

namespace syncyte::base {

/// Value of an environment variable; nothing if unset or empty.
std::optional<std::string> environment(const char* name);
std::optional<std::string> environment(const setting& which);

/// Index of the value among the setting's choices; the default's if it is unset *or not one of them*, -1 without one.
int environment_index(const setting& which);

/// The chosen value, or the default; nothing if there is none. syncyte_init() reports bad values by
/// check_environment(), because callers of this function cannot handle an error.
template <class Choice>
std::optional<Choice> environment_choice(const choice_setting<Choice>& which) {
  const int index = environment_index(which);
  return index >= 0 ? std::optional(static_cast<Choice>(index)) : std::nullopt;
}

/// Longest duration in the environment: 32 years, which 64-bit nanoseconds can hold several times.
inline constexpr double most_seconds = 1e9;

/// Seconds from the environment, or the default. Throws SYNCYTE_ERR_ARGUMENT if it is not a number of at least
/// the setting's `least` and at most most_seconds.
double environment_seconds(const setting& which);

/// A size such as 4096, 64K, 2M or 1G, nothing if unset; throws SYNCYTE_ERR_ARGUMENT otherwise.
std::optional<std::size_t> environment_bytes(const setting& which);
/// The default of a setting that has one.
std::size_t default_bytes(const setting& which);

/// Numbers such as 7 or 7,12, none if unset; throws SYNCYTE_ERR_ARGUMENT otherwise.
std::vector<std::int64_t> environment_numbers(const setting& which);

/// Throws SYNCYTE_ERR_ARGUMENT, naming variable, value and what was expected, if the variable has a wrong value.
void check_setting(const setting& which);

/// check_setting() of all settings.
void check_environment();

}  // namespace syncyte::base
