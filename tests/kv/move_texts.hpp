// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace syncyte::test {

/// Messages about keys that move, as texts.
using texts = std::vector<std::string>;

inline constexpr std::int64_t length = 2;  // of each key's vector
inline const std::vector<float> ones(length, 1.0f), twos(length, 2.0f);

inline std::span<const std::byte> bytes_of(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace syncyte::test
