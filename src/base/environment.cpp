#include "base/environment.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <span>

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

int environment_choice(const setting& which, int fallback) {
  const auto value = environment(which);
  if (!value) return fallback;
  const auto choices = choices_of(which);
  const auto found = std::ranges::find(choices, *value);
  return found != choices.end() ? static_cast<int>(found - choices.begin()) : fallback;
}

double environment_seconds(const setting& which, double fallback) {
  const auto value = environment(which);
  if (!value) return fallback;
  char* end = nullptr;
  const double number = std::strtod(value->c_str(), &end);
  const bool is_number = end != value->c_str() && *end == '\0';
  require(is_number && number >= which.least && number <= most_seconds, SYNCYTE_ERR_ARGUMENT,
          "environment variable {} is \"{}\"; expected a number of at least {} and at most {}", which.name, *value,
          which.least, most_seconds);
  return number;
}

std::size_t environment_bytes(const setting& which, std::size_t fallback) {
  const auto value = environment(which);
  if (!value) return fallback;
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = std::strtoull(value->c_str(), &end, 10);
  const std::string unit = end;
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  const bool ok =
      end != value->c_str() && (*value)[0] != '-' && errno == 0 && shift >= 0 && number < (1ull << (63 - shift));
  require(ok, SYNCYTE_ERR_ARGUMENT, "environment variable {} is \"{}\"; expected a size such as 4096, 64K, 2M or 1G",
          which.name, *value);
  return static_cast<std::size_t>(number) << shift;
}

void check_setting(const setting& which) {
  switch (which.type) {
    case setting::kind::choice:
      require(!environment(which) || environment_choice(which, -1) >= 0, SYNCYTE_ERR_ARGUMENT,
              "environment variable {} is \"{}\"; expected one of {}", which.name, environment(which).value_or(""),
              fmt::join(choices_of(which), ", "));
      break;
    case setting::kind::seconds:
      environment_seconds(which, 0);
      break;
    case setting::kind::bytes:
      environment_bytes(which, 0);
      break;
    case setting::kind::text:
      break;
  }
}

void check_environment() {
  for (const setting* const each : settings::all) check_setting(*each);
}

}  // namespace syncyte::base
