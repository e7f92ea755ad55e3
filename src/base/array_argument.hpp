#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <ranges>
#include <span>
#include <string>

#include "base/error.hpp"

namespace syncyte::base {

/// Numbers that a caller of the C interface gives: a pointer, and how many there are.
template <class T>
struct array_argument {
  const T* values;
  std::int64_t length;

  array_argument(const T* first, std::int64_t count) : values(first), length(count) {}
  template <std::ranges::contiguous_range Range>
  array_argument(const Range& all) : array_argument(std::ranges::data(all), std::ssize(all)) {}

  /// The numbers; throws SYNCYTE_ERR_SHAPE if they are not one for `each` of `expected` things, SYNCYTE_ERR_ARGUMENT if
  /// there are none.
  std::span<const T> checked(const char* name, std::int64_t expected, const char* each) const {
    if (length != expected) {
      const std::string wanted = fmt::format("{}, one for each {}", expected, each);
      throw error(SYNCYTE_ERR_SHAPE, fmt::format("{} has {} entries; expected {}", name, length, wanted),
                  {.argument = name, .value = fmt::format("of {} entries", length), .expected = wanted});
    }
    expect(values != nullptr, SYNCYTE_ERR_ARGUMENT, name, "null", "{} numbers", expected);
    return {values, static_cast<std::size_t>(expected)};
  }
};

}  // namespace syncyte::base
