// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/array_argument.hpp"
#include "base/buffer.hpp"

namespace syncyte::tensor {

/// The lower corner of a box and the caller's array, of any strides, for its elements.
struct box_part {
  std::vector<std::int64_t> lower;
  syncyte_buffer_t array;
};

/// Calls visit() for parts of a box that have about `most_bytes` at most; cuts it along `dimension` and the later ones.
template <class Visit>
void visit_parts(const box_part& box, int dimension, std::size_t most_bytes, Visit&& visit) {
  const std::int64_t extent = box.array.shape[dimension];
  const std::size_t slab = base::buffer(&box.array, "box").bytes() / static_cast<std::size_t>(extent);
  const auto step = static_cast<std::int64_t>(std::max<std::size_t>(1, most_bytes / slab));
  for (std::int64_t first = 0; first < extent; first += step) {
    box_part part = box;
    part.lower[static_cast<std::size_t>(dimension)] += first;
    part.array.shape[dimension] = std::min(step, extent - first);
    part.array.data = static_cast<std::byte*>(part.array.data) + first * part.array.strides[dimension];
    if (slab > most_bytes && dimension + 1 < part.array.ndim)
      visit_parts(part, dimension + 1, most_bytes, visit);
    else
      visit(part);
  }
}

/// Packed bytes that take about `memory` bytes with the list of their offsets, in pieces of `piece` bytes.
inline std::size_t packed_bytes_in(std::size_t memory, std::size_t piece) {
  return std::min(memory, std::max<std::size_t>(1, memory / (piece + sizeof(std::size_t))) * piece);
}

/// Cuts a box whose rows have more than `most_bytes` into parts that are smaller, so that they need little memory.
/// visit(lower corner, checked array) of each; of the whole box if its rows are small or it is empty.
template <class Visit>
void visit_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t& raw, const base::buffer& checked,
               std::size_t most_bytes, Visit&& visit) {
  if (checked.elements() == 0 || checked.bytes() / static_cast<std::size_t>(checked.extent(0)) <= most_bytes)
    return visit(lower, checked);
  const box_part whole{{lower.values, lower.values + lower.length}, raw};
  visit_parts(whole, 0, most_bytes, [&](const box_part& part) {
    visit(base::array_argument<std::int64_t>(part.lower), base::buffer(&part.array, checked.argument()));
  });
}

}  // namespace syncyte::tensor
