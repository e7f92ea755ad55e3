// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace syncyte::hdf5 {

constexpr std::uint64_t default_block_bytes = std::uint64_t{4} << 20;

/// Whether a checksum's block may have this size: a power of two from a page to 1 GiB.
constexpr bool valid_block_bytes(std::uint64_t bytes) {
  return std::has_single_bit(bytes) && bytes >= 4096 && bytes <= (std::uint64_t{1} << 30);
}

/// Number of blocks of this size that hold `bytes`; the last may be shorter.
constexpr std::uint64_t block_count(std::uint64_t bytes, std::uint64_t block_bytes) {
  return bytes / block_bytes + (bytes % block_bytes != 0 ? 1 : 0);
}

/// The part of a range of bytes that lies in one block; all offsets are in the dataset.
struct block_part {
  std::uint64_t number;       ///< of the block
  std::uint64_t block_begin;  ///< the block is [block_begin, block_end) of the dataset
  std::uint64_t block_end;
  std::uint64_t begin;  ///< the part is [begin, end), not empty
  std::uint64_t end;
};

/// Calls `use(block_part)` for every block that [begin, end) of a dataset touches, in order.
template <class Function>
void for_each_block(std::uint64_t begin, std::uint64_t end, std::uint64_t dataset_bytes, std::uint64_t block_bytes,
                    Function&& use) {
  while (begin < end) {
    const std::uint64_t number = begin / block_bytes;
    const std::uint64_t block_begin = number * block_bytes;
    const std::uint64_t block_end = block_begin + std::min(block_bytes, dataset_bytes - block_begin);
    const std::uint64_t part_end = std::min(end, block_end);
    use(block_part{number, block_begin, block_end, begin, part_end});
    begin = part_end;
  }
}

}  // namespace syncyte::hdf5
