#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <ranges>
#include <span>
#include <string>

#include "base/error.hpp"

namespace syncyte::base {

/// An array argument of the C interface: pointer and length.
template <class T>
struct array_argument {
  const T* values;
  std::int64_t length;

  array_argument(const T* first, std::int64_t count) : values(first), length(count) {}
  template <std::ranges::contiguous_range Range>
  array_argument(const Range& all) : array_argument(std::ranges::data(all), std::ssize(all)) {}

  /// The array. Throws SYNCYTE_ERR_SHAPE unless it has `expected` elements (`each` names what one belongs to), and
  /// SYNCYTE_ERR_ARGUMENT if it is null.
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
