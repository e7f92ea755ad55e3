// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "distribution/layout.hpp"

namespace syncyte::collectives {

/// The arrays of this rank's blocks, in the order of the layout's blocks, ghosts included, with any strides.
struct block_arrays {
  const distribution::layout& cut;
  std::span<const syncyte_buffer_t> buffers;
  const char* argument;  // in messages
};

/// Extents of a block's array, ghosts included.
std::vector<std::int64_t> allocated_shape(const distribution::layout& cut, int block);

/// The arrays, one for each block of the rank, of this element type and of the blocks' shapes, in host memory. Throws
/// SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE and SYNCYTE_ERR_SHAPE.
std::vector<base::buffer> checked_arrays(const block_arrays& given, int rank, syncyte_dtype_t dtype);

/// The arrays, which a call writes: throws SYNCYTE_ERR_ARGUMENT for constant memory, and if two of them have a byte in
/// common.
void require_targets(std::span<const base::buffer> arrays);

}  // namespace syncyte::collectives
