// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/dense_parts.hpp"

#include <algorithm>
#include <array>

#include "base/strided_copy.hpp"

namespace syncyte::collectives {
namespace {

/// Whether the parts of a dense array along an axis are dense themselves.
bool is_outermost(const base::buffer& array, int axis) {
  const auto before = array.shape().first(static_cast<std::size_t>(axis));
  return std::all_of(before.begin(), before.end(), [](std::int64_t extent) { return extent == 1; });
}

constexpr int no_axis = -1;

/// Scratch for an array whose parts are not dense one after the other.
memory::scratch room_to_pack(const base::buffer& array) {
  base::require(
      array.memory() == SYNCYTE_MEMORY_HOST, SYNCYTE_ERR_UNSUPPORTED,
      "{} of shape {} would have to be packed, which device memory is not; expected a dense array that is cut "
      "along its first axis, or a copy in host memory",
      array.argument(), base::shape_text(array.shape()));
  return memory::scratch(array.bytes());
}

}  // namespace

std::int64_t elements_across(const base::buffer& array, int axis) {
  std::int64_t result = 1;
  for (int d = 0; d < array.ndim(); ++d)
    if (d != axis) result *= array.extent(d);
  return result;
}

dense_parts::dense_parts(const base::buffer& array)
    : array_(array), axis_(no_axis), counts_{array.elements()}, is_in_place_(array.is_contiguous()) {
  if (!is_in_place_) packed_ = room_to_pack(array);
}

dense_parts::dense_parts(const base::buffer& array, int axis, std::span<const std::int64_t> extents)
    : array_(array),
      axis_(axis),
      part_extents_(extents.begin(), extents.end()),
      is_in_place_(array.is_contiguous() && (array.elements() == 0 || is_outermost(array, axis))) {
  const std::int64_t across = elements_across(array, axis);
  for (const std::int64_t extent : extents) counts_.push_back(extent * across);
  if (!is_in_place_) packed_ = room_to_pack(array);
}

std::byte* dense_parts::data() const { return is_in_place_ ? array_.data() : packed_.data(); }

/// Packs or unpacks the parts.
void dense_parts::copy(bool packs) {
  if (is_in_place_ || array_.elements() == 0) return;
  std::array<std::int64_t, SYNCYTE_MAX_NDIM> extents{};
  std::ranges::copy(array_.shape(), extents.begin());
  const std::span<const std::int64_t> shape(extents.data(), array_.shape().size());
  std::byte* part = array_.data();
  std::byte* dense = packed_.data();
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (axis_ != no_axis) extents[static_cast<std::size_t>(axis_)] = part_extents_[i];
    const auto dense_strides = base::dense_strides(shape, array_.element_bytes());
    if (counts_[i] > 0 && packs)
      base::copy_strided(dense, dense_strides, part, array_.strides(), shape, array_.element_bytes());
    else if (counts_[i] > 0)
      base::copy_strided(part, array_.strides(), dense, dense_strides, shape, array_.element_bytes());
    if (axis_ != no_axis) part += part_extents_[i] * array_.stride(axis_);
    dense += static_cast<std::size_t>(counts_[i]) * array_.element_bytes();
  }
}

}  // namespace syncyte::collectives
