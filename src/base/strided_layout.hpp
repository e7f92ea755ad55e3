#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "syncyte/base.h"

namespace syncyte::base {

/// One loop of a nest that walks a box in two arrays of different strides.
struct dimension {
  std::int64_t extent;
  std::int64_t target;  // strides, in bytes
  std::int64_t source;
};

/// Loops from the outermost to the innermost. The last one is a run of bytes that is contiguous in both arrays.
struct layout {
  std::array<dimension, SYNCYTE_MAX_NDIM + 1> dimensions;
  std::size_t count = 0;

  std::size_t run() const { return static_cast<std::size_t>(dimensions[count - 1].extent); }

  /// Appends an inner dimension; merges it with the dimension before if the two are contiguous.
  void append(const dimension& inner) {
    if (count > 0) {
      dimension& outer = dimensions[count - 1];
      if (outer.target == inner.target * inner.extent && outer.source == inner.source * inner.extent) {
        outer = {outer.extent * inner.extent, inner.target, inner.source};
        return;
      }
    }
    dimensions[count++] = inner;
  }
};

inline layout coalesce(std::span<const std::int64_t> target_strides, std::span<const std::int64_t> source_strides,
                       std::span<const std::int64_t> shape, std::size_t element_bytes) {
  layout result;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1) result.append({shape[i], target_strides[i], source_strides[i]});
  result.append({static_cast<std::int64_t>(element_bytes), 1, 1});
  return result;
}

/// Calls visit(target, source) for every run, in row-major order.
template <class Visit>
void for_each_run(const layout& box, std::size_t level, std::byte* target, const std::byte* source, Visit&& visit) {
  if (level + 1 == box.count) return visit(target, source);
  const dimension& d = box.dimensions[level];
  for (std::int64_t i = 0; i < d.extent; ++i)
    for_each_run(box, level + 1, target + i * d.target, source + i * d.source, visit);
}

inline bool is_empty(std::span<const std::int64_t> shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

}  // namespace syncyte::base
