// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "syncyte/base.h"

namespace syncyte::hdf5 {

/// An array of contiguous elements, of which some bytes of a dataset come or go.
struct array_bytes {
  const syncyte_buffer_t& array;
  std::uint64_t first;  ///< of the array's bytes in the dataset
  std::uint64_t count;
};

/// Calls use(first byte in the dataset, bytes) for all bytes of an array: at once if it is in host memory; otherwise in
/// pieces of at most 32 MiB, or a block, copied to host memory. @throws error
void read_in_pieces(const array_bytes& from, std::uint64_t block_bytes,
                    const std::function<void(std::uint64_t, std::span<const std::byte>)>& use);

/// Calls fill(first byte in the dataset, bytes), which sets the bytes, for all bytes of an array, as above. Pieces end
/// at multiples of a block. @throws error
void write_in_pieces(const array_bytes& to, std::uint64_t block_bytes,
                     const std::function<void(std::uint64_t, std::span<std::byte>)>& fill);

}  // namespace syncyte::hdf5
