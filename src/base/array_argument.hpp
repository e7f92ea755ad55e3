// SPDX-License-Identifier: BSD-3-Clause
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

  /// The array. Throws SYNCYTE_ERR_SHAPE unless it has `expected` elements, one for each `each`, and
  /// SYNCYTE_ERR_ARGUMENT if it is null.
  std::span<const T> checked(const char* name, std::int64_t expected, const char* each) const {
    if (length != expected) {
      const std::string wanted = fmt::format("{}, one for each {}", expected, each);
      refuse(SYNCYTE_ERR_SHAPE, {.argument = name, .value = fmt::format("of {} entries", length), .expected = wanted},
             fmt::format("{} has {} entries; expected {}", name, length, wanted));
    }
    expect(values != nullptr, SYNCYTE_ERR_ARGUMENT, name, "null", "{} numbers", expected);
    return {values, static_cast<std::size_t>(expected)};
  }

  /// The array, of any length (the caller's `count`). Throws SYNCYTE_ERR_ARGUMENT if the length is negative, or if the
  /// array is null or `results`, which has the same length.
  std::span<const T> with_results(const char* name, const void* results, const char* results_name) const {
    expect(length >= 0, SYNCYTE_ERR_ARGUMENT, "count", length, "0 or more");
    if (length == 0) return {};
    expect(values != nullptr, SYNCYTE_ERR_ARGUMENT, name, "null", "{} elements", length);
    expect(results != nullptr, SYNCYTE_ERR_ARGUMENT, results_name, "null", "{} elements", length);
    return {values, static_cast<std::size_t>(length)};
  }
};

}  // namespace syncyte::base
