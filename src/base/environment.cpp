// SPDX-License-Identifier: BSD-3-Clause
#include "base/environment.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <span>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace syncyte::base {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::optional<std::string> environment(const setting& which) { return environment(which.name); }

/// The choices, without the nulls behind them.
static std::span<const char* const> choices_of(const setting& which) {
  const auto end = std::ranges::find(which.choices, nullptr);
  return {which.choices.begin(), end};
}

static int index_of(std::string_view name, const setting& which) {
  const auto choices = choices_of(which);
  const auto found = std::ranges::find(choices, name);
  return found != choices.end() ? static_cast<int>(found - choices.begin()) : -1;
}

int environment_index(const setting& which) {
  const auto value = environment(which);
  const int given = value ? index_of(*value, which) : -1;
  return given >= 0 ? given : index_of(which.otherwise, which);
}

double environment_seconds(const setting& which) {
  const std::string value = environment(which).value_or(which.otherwise);
  double number = 0;  // not by strtod, which obeys the locale's decimal comma
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = error == std::errc() && end == value.data() + value.size();
  require(is_number && number >= which.least && number <= most_seconds, SYNCYTE_ERR_ARGUMENT,
          "environment variable {} is \"{}\"; expected a number of at least {} and at most {}", which.name, value,
          which.least, most_seconds);
  return number;
}

static std::size_t bytes_of(const std::string& value, const setting& which) {
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = std::strtoull(value.c_str(), &end, 10);
  const std::string unit = end;
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  const bool ok =
      end != value.c_str() && value[0] != '-' && errno == 0 && shift >= 0 && number < (1ull << (63 - shift));
  require(ok, SYNCYTE_ERR_ARGUMENT, "environment variable {} is \"{}\"; expected a size such as 4096, 64K, 2M or 1G",
          which.name, value);
  return static_cast<std::size_t>(number) << shift;
}

std::optional<std::size_t> environment_bytes(const setting& which) {
  const auto value = environment(which);
  return value ? std::optional(bytes_of(*value, which)) : std::nullopt;
}

std::size_t default_bytes(const setting& which) { return bytes_of(which.otherwise, which); }

std::vector<std::int64_t> environment_numbers(const setting& which) {
  std::vector<std::int64_t> result;
  const std::string value = environment(which).value_or("");
  if (value.empty()) return result;
  const char* at = value.data();
  const char* const last = at + value.size();
  while (true) {
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(at, last, number);
    require(error == std::errc() && number >= 0 && (end == last || *end == ','), SYNCYTE_ERR_ARGUMENT,
            "environment variable {} is \"{}\"; expected numbers of at least 0 such as 7 or 7,12", which.name, value);
    result.push_back(number);
    if (end == last) return result;
    at = end + 1;  // behind the comma
  }
}

void check_setting(const setting& which) {
  const auto value = environment(which);
  switch (which.type) {
    case setting::kind::choice:
      require(!value || index_of(*value, which) >= 0, SYNCYTE_ERR_ARGUMENT,
              "environment variable {} is \"{}\"; expected one of {}", which.name, value.value_or(""),
              fmt::join(choices_of(which), ", "));
      break;
    case setting::kind::seconds:
      environment_seconds(which);
      break;
    case setting::kind::bytes:
      environment_bytes(which);
      break;
    case setting::kind::numbers:
      environment_numbers(which);
      break;
    case setting::kind::text:
      break;
  }
}

void check_environment() {
  for (const setting* const each : settings::all) check_setting(*each);
}

}  // namespace syncyte::base
