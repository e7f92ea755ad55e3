// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/buffer.hpp"

namespace syncyte::base {

// Memory that a call both reads and writes. The usual case, separate memory, costs one comparison of byte ranges; rows
// or elements are compared only if the ranges meet.

/// Text for the expected value in errors about shared memory.
inline constexpr const char* separate_memory = "separate memory, such as a copy (in Python clone() or copy())";

/// Addresses from the first byte of some memory to the one after its last.
struct byte_range {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;

  bool meets(const byte_range& other) const { return begin < other.end && other.begin < end; }
};

/// The range of `bytes` at an address. A range of 0 bytes meets no other range.
inline byte_range range_of(const void* first, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(first);
  return bytes == 0 ? byte_range{} : byte_range{begin, begin + bytes};
}

/// The range of an array of any strides, with the gaps between its elements.
byte_range range_of(const buffer& array);

/// Whether two arrays have a byte in common.
bool share_memory(const buffer& first, const buffer& second);

/// Throws SYNCYTE_ERR_ARGUMENT, naming `written`, if the arrays have a byte in common.
void require_apart(const buffer& read, const buffer& written);

/// A part of an operand, such as a row. Parts of two operands with the same number belong together: a call copies or
/// adds one to the other.
struct operand_part {
  const std::byte* at;
  std::int64_t number;
};

/// All parts of an operand, of the same length.
struct operand_parts {
  std::vector<operand_part> parts;
  std::size_t bytes;  // of each
};

/// Numbers of two parts that have a byte in common.
struct overlap {
  std::int64_t first;
  std::int64_t second;
};

/// Finds a byte that one part of a call reads and another one writes: two parts, one of each operand, that have a byte
/// in common, unless they belong together and begin at the same address. A byte that is only replaced by itself, or
/// only added to itself, is therefore no overlap. O(n) if the parts are in order of addresses, otherwise O(n log n).
std::optional<overlap> find_overlap(operand_parts first, operand_parts second);

/// As find_overlap(), for one part of `bytes` and an operand whose parts lie one after the other in `packed`.
inline bool overlaps_packed(const byte_range& packed, const operand_part& part, std::size_t bytes) {
  return range_of(part.at, bytes).meets(packed) &&
         part.at != packed.begin + static_cast<std::size_t>(part.number) * bytes;
}

}  // namespace syncyte::base
