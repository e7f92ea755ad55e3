#include "base/environment.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/error.hpp"

namespace syncyte::base {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

int environment_choice(const char* name, std::initializer_list<const char*> choices, int fallback) {
  const auto value = environment(name);
  if (!value) return fallback;
  const auto found = std::find(choices.begin(), choices.end(), *value);
  return found != choices.end() ? static_cast<int>(found - choices.begin()) : fallback;
}

void environment_check(const char* name, std::initializer_list<const char*> choices) {
  const auto value = environment(name);
  require(!value || environment_choice(name, choices, -1) >= 0, SYNCYTE_ERR_ARGUMENT,
          "environment variable {} is \"{}\"; expected one of {}", name, value.value_or(""), fmt::join(choices, ", "));
}

double environment_seconds(const char* name, double fallback, double least) {
  const auto value = environment(name);
  if (!value) return fallback;
  char* end = nullptr;
  const double number = std::strtod(value->c_str(), &end);
  const bool is_number = end != value->c_str() && *end == '\0';
  require(is_number && number >= least && number <= most_seconds, SYNCYTE_ERR_ARGUMENT,
          "environment variable {} is \"{}\"; expected a number of at least {} and at most {}", name, *value, least,
          most_seconds);
  return number;
}

std::size_t environment_bytes(const char* name, std::size_t fallback) {
  const auto value = environment(name);
  if (!value) return fallback;
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = std::strtoull(value->c_str(), &end, 10);
  const std::string unit = end;
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  const bool ok =
      end != value->c_str() && (*value)[0] != '-' && errno == 0 && shift >= 0 && number < (1ull << (63 - shift));
  require(ok, SYNCYTE_ERR_ARGUMENT, "environment variable {} is \"{}\"; expected a size such as 4096, 64K, 2M or 1G",
          name, *value);
  return static_cast<std::size_t>(number) << shift;
}

}  // namespace syncyte::base
