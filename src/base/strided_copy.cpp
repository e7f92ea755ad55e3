#include "base/strided_copy.hpp"

#include <algorithm>
#include <cstring>

#include "base/add_elements.hpp"
#include "base/strided_layout.hpp"

namespace syncyte::base {
namespace {

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

void copy_level(const layout& box, std::size_t level, std::byte* target, const std::byte* source) {
  const dimension& d = box.dimensions[level];
  if (level + 1 == box.count) {
    std::memcpy(target, source, box.run());
  } else if (level + 2 == box.count) {
    copy_runs(d, box.run(), target, source);
  } else {
    for (std::int64_t i = 0; i < d.extent; ++i)
      copy_level(box, level + 1, target + i * d.target, source + i * d.source);
  }
}

void append_offsets(const layout& box, std::size_t level, std::size_t offset, std::vector<std::size_t>& offsets) {
  if (level + 1 == box.count) {
    offsets.push_back(offset);
    return;
  }
  const dimension& d = box.dimensions[level];
  for (std::int64_t i = 0; i < d.extent; ++i)
    append_offsets(box, level + 1, offset + static_cast<std::size_t>(i * d.target), offsets);
}

}  // namespace

void copy_strided(std::byte* target, std::span<const std::int64_t> target_strides, const std::byte* source,
                  std::span<const std::int64_t> source_strides, std::span<const std::int64_t> shape,
                  std::size_t element_bytes) {
  if (is_empty(shape)) return;
  copy_level(coalesce(target_strides, source_strides, shape, element_bytes), 0, target, source);
}

void zero_strided(std::byte* target, std::span<const std::int64_t> strides, std::span<const std::int64_t> shape,
                  std::size_t element_bytes) {
  if (is_empty(shape)) return;
  const layout box = coalesce(strides, strides, shape, element_bytes);
  for_each_run(box, 0, target, target, [&](std::byte* run, const std::byte*) { std::memset(run, 0, box.run()); });
}

void add_strided(std::byte* target, std::span<const std::int64_t> target_strides, const std::byte* source,
                 std::span<const std::int64_t> source_strides, std::span<const std::int64_t> shape,
                 syncyte_dtype_t dtype) {
  if (is_empty(shape)) return;
  const layout box = coalesce(target_strides, source_strides, shape, dtype_size(dtype));
  visit_dtype(dtype, [&](auto tag) {
    using type = typename decltype(tag)::type;
    const std::size_t elements = box.run() / sizeof(type);
    for_each_run(box, 0, target, source,
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

box_pieces find_pieces(std::size_t origin, std::span<const std::int64_t> strides, std::span<const std::int64_t> shape,
                       std::size_t element_bytes) {
  box_pieces pieces;
  if (is_empty(shape)) return pieces;
  const layout box = coalesce(strides, strides, shape, element_bytes);
  pieces.bytes = box.run();
  append_offsets(box, 0, origin, pieces.offsets);
  return pieces;
}

}  // namespace syncyte::base
