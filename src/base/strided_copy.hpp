// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "syncyte/base.h"

namespace syncyte::base {

/// Copies an N-dimensional box between two arrays of any strides (in bytes; they may be negative or 0). Extents, in
/// elements, may be 0. The arrays must not overlap. Contiguous inner dimensions are copied in one piece.
void copy_strided(std::byte* target, std::span<const std::int64_t> target_strides, const std::byte* source,
                  std::span<const std::int64_t> source_strides, std::span<const std::int64_t> shape,
                  std::size_t element_bytes);

/// The same, and long runs by copy_streaming(); finish_streaming() follows the last copy.
void stream_strided(std::byte* target, std::span<const std::int64_t> target_strides, const std::byte* source,
                    std::span<const std::int64_t> source_strides, std::span<const std::int64_t> shape,
                    std::size_t element_bytes);

/// Adds a box to another, element by element (combine() with SYNCYTE_OP_SUM).
void add_strided(std::byte* target, std::span<const std::int64_t> target_strides, const std::byte* source,
                 std::span<const std::int64_t> source_strides, std::span<const std::int64_t> shape,
                 syncyte_dtype_t dtype);

/// Sets all bytes of a box to zero.
void zero_strided(std::byte* target, std::span<const std::int64_t> strides, std::span<const std::int64_t> shape,
                  std::size_t element_bytes);

/// Bytes from an array's first element to the one with these indices.
inline std::int64_t offset_of(std::span<const std::int64_t> strides, std::span<const std::int64_t> indices) {
  return std::inner_product(strides.begin(), strides.end(), indices.begin(), std::int64_t{0});
}

/// Number of elements of a box.
inline std::size_t volume(std::span<const std::int64_t> shape) {
  return static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
}

/// Strides in bytes of a dense row-major array.
std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> shape, std::size_t element_bytes);

/// The contiguous pieces of a box, all of the same length.
struct box_pieces {
  std::size_t bytes = 0;             // of each
  std::vector<std::size_t> offsets;  // in row-major order of the box
};

/// Bytes of a contiguous piece of a box in an array of these strides; 0 if the box is empty.
std::size_t piece_bytes(std::span<const std::int64_t> strides, std::span<const std::int64_t> shape,
                        std::size_t element_bytes);

/// Pieces of a box that begins `origin` bytes after an array's start and has its strides.
box_pieces find_pieces(std::size_t origin, std::span<const std::int64_t> strides, std::span<const std::int64_t> shape,
                       std::size_t element_bytes);

/// The pieces of a box that are contiguous in two arrays, all of the same length.
struct paired_pieces {
  std::size_t bytes = 0;                                       // of each
  std::vector<std::pair<std::int64_t, std::int64_t>> offsets;  // from the first element of each array
};

paired_pieces find_paired_pieces(std::span<const std::int64_t> first_strides,
                                 std::span<const std::int64_t> second_strides, std::span<const std::int64_t> shape,
                                 std::size_t element_bytes);

}  // namespace syncyte::base
