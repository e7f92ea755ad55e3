// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace syncyte::distribution {

/// Takes the first number from a list, or the first ones.
inline std::int64_t take(std::span<const std::int64_t>& list) {
  const std::int64_t result = list.front();
  list = list.subspan(1);
  return result;
}

inline std::span<const std::int64_t> take(std::span<const std::int64_t>& list, std::size_t count) {
  const auto result = list.first(count);
  list = list.subspan(count);
  return result;
}

}  // namespace syncyte::distribution
