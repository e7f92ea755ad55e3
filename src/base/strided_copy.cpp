// SPDX-License-Identifier: BSD-3-Clause
#include "base/strided_copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/ops.hpp"
#include "base/streaming_copy.hpp"

namespace syncyte::base {
namespace {

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

layout coalesce(std::span<const std::int64_t> target_strides, std::span<const std::int64_t> source_strides,
                std::span<const std::int64_t> shape, std::size_t element_bytes) {
  layout result;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1) result.append({shape[i], target_strides[i], source_strides[i]});
  result.append({static_cast<std::int64_t>(element_bytes), 1, 1});
  return result;
}

/// Calls visit(target, source) in row-major order with the positions (pointers or offsets) of every part of the box
/// that its innermost `inner` loops walk; 1: every run.
template <std::size_t inner = 1, class Target, class Source, class Visit>
void for_each_part(const layout& box, Target target, Source source, Visit&& visit, std::size_t level = 0) {
  if (level + inner == box.count) return visit(target, source);
  const dimension& d = box.dimensions[level];
  for (std::int64_t i = 0; i < d.extent; ++i)
    for_each_part<inner>(box, target + i * d.target, source + i * d.source, visit, level + 1);
}

bool is_empty(std::span<const std::int64_t> shape) { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

/// Copies `extent` runs of RunBytes bytes; RunBytes is 0 if the length is known only at run time.
template <std::size_t RunBytes>
void copy_runs(const dimension& d, std::size_t run, std::byte* target, const std::byte* source) {
  for (std::int64_t i = 0; i < d.extent; ++i)
    std::memcpy(target + i * d.target, source + i * d.source, RunBytes != 0 ? RunBytes : run);
}

void copy_runs(const dimension& d, std::size_t run, std::byte* target, const std::byte* source) {
  switch (run) {
    case 1:
      return copy_runs<1>(d, run, target, source);
    case 2:
      return copy_runs<2>(d, run, target, source);
    case 4:
      return copy_runs<4>(d, run, target, source);
    case 8:
      return copy_runs<8>(d, run, target, source);
    case 16:
      return copy_runs<16>(d, run, target, source);
    default:
      return copy_runs<0>(d, run, target, source);
  }
}

}  // namespace

void copy_strided(std::byte* target, std::span<const std::int64_t> target_strides, const std::byte* source,
                  std::span<const std::int64_t> source_strides, std::span<const std::int64_t> shape,
                  std::size_t element_bytes) {
  if (is_empty(shape)) return;
  const layout box = coalesce(target_strides, source_strides, shape, element_bytes);
  if (box.count == 1) {
    std::memcpy(target, source, box.run());
    return;
  }
  const dimension& runs = box.dimensions[box.count - 2];
  for_each_part<2>(box, target, source,
                   [&](std::byte* to, const std::byte* from) { copy_runs(runs, box.run(), to, from); });
}

void stream_strided(std::byte* target, std::span<const std::int64_t> target_strides, const std::byte* source,
                    std::span<const std::int64_t> source_strides, std::span<const std::int64_t> shape,
                    std::size_t element_bytes) {
  if (is_empty(shape)) return;
  const layout box = coalesce(target_strides, source_strides, shape, element_bytes);
  if (box.run() < shortest_streamed_run)
    return copy_strided(target, target_strides, source, source_strides, shape, element_bytes);
  for_each_part(box, target, source,
                [&](std::byte* to, const std::byte* from) { copy_streaming(to, from, box.run()); });
}

void zero_strided(std::byte* target, std::span<const std::int64_t> strides, std::span<const std::int64_t> shape,
                  std::size_t element_bytes) {
  if (is_empty(shape)) return;
  const layout box = coalesce(strides, strides, shape, element_bytes);
  for_each_part(box, target, target, [&](std::byte* run, const std::byte*) { std::memset(run, 0, box.run()); });
}

void add_strided(std::byte* target, std::span<const std::int64_t> target_strides, const std::byte* source,
                 std::span<const std::int64_t> source_strides, std::span<const std::int64_t> shape,
                 syncyte_dtype_t dtype) {
  if (is_empty(shape)) return;
  const layout box = coalesce(target_strides, source_strides, shape, dtype_size(dtype));
  visit_dtype(dtype, [&](auto tag) {
    using type = typename decltype(tag)::type;
    const std::size_t elements = box.run() / sizeof(type);
    for_each_part(box, target, source,
                  [&](std::byte* to, const std::byte* from) { add_elements<type>(to, from, elements); });
  });
}

std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> shape, std::size_t element_bytes) {
  std::vector<std::int64_t> strides(shape.size());
  auto stride = static_cast<std::int64_t>(element_bytes);
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

std::size_t piece_bytes(std::span<const std::int64_t> strides, std::span<const std::int64_t> shape,
                        std::size_t element_bytes) {
  return is_empty(shape) ? 0 : coalesce(strides, strides, shape, element_bytes).run();
}

box_pieces find_pieces(std::size_t origin, std::span<const std::int64_t> strides, std::span<const std::int64_t> shape,
                       std::size_t element_bytes) {
  box_pieces pieces;
  if (is_empty(shape)) return pieces;
  const layout box = coalesce(strides, strides, shape, element_bytes);
  pieces.bytes = box.run();
  const auto start = static_cast<std::int64_t>(origin);
  for_each_part(box, start, start,
                [&](std::int64_t offset, std::int64_t) { pieces.offsets.push_back(static_cast<std::size_t>(offset)); });
  return pieces;
}

paired_pieces find_paired_pieces(std::span<const std::int64_t> first_strides,
                                 std::span<const std::int64_t> second_strides, std::span<const std::int64_t> shape,
                                 std::size_t element_bytes) {
  paired_pieces pieces;
  if (is_empty(shape)) return pieces;
  const layout box = coalesce(first_strides, second_strides, shape, element_bytes);
  pieces.bytes = box.run();
  for_each_part(box, std::int64_t{0}, std::int64_t{0},
                [&](std::int64_t first, std::int64_t second) { pieces.offsets.emplace_back(first, second); });
  return pieces;
}

}  // namespace syncyte::base
