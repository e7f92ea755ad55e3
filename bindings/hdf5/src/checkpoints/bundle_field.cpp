// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoints/bundle_field.hpp"

#include <algorithm>
#include <array>

#include "base/errors.hpp"

namespace syncyte::hdf5 {
namespace {

constexpr std::int64_t part_bytes = std::int64_t{16} << 20;

}  // namespace

bundle_field::bundle_field(syncyte_bundle_t bundle, std::int64_t number) {
  const char* name = nullptr;
  syncyte_layout_t cut = nullptr;
  syncyte_dtype_t type = 0;
  syncyte::check(syncyte_bundle_field(bundle, number, &name, &cut, &type));
  name_ = name;
  cut_ = layout(cut);
  type_ = static_cast<dtype>(type);
  whole_ = cut_.shape();
  rows_ = whole_;
  rows_[0] = 0;
  const std::int32_t count = cut_.describe(cut_.comm().rank()).blocks;
  for (std::int32_t block = 0; block < count; ++block) {
    syncyte_buffer_t array{};
    array.struct_size = sizeof array;
    syncyte::check(syncyte_bundle_array(bundle, number, block, &array));
    arrays_.push_back(array);
  }
}

syncyte_buffer_t bundle_field::rows() {
  syncyte_buffer_t result{};
  result.struct_size = sizeof result;
  syncyte::check(
      syncyte_buffer_set(nullptr, detail::raw(type_), static_cast<std::int32_t>(rows_.size()), rows_.data(), &result));
  return result;
}

void bundle_field::divide(const ranks& all) {
  rows_ = layout::mesh(cut_.comm(), whole_, {all.size()}).blocks_of(all.rank())[0].shape;
  index_bytes_ = size_of(type_);
  for (const std::int64_t extent : whole_) index_bytes_ *= extent;
  if (index_bytes_ == 0) return;
  std::int64_t outer = 1;
  for (axis_ = 0;; ++axis_) {
    index_bytes_ /= whole_[axis_];
    if (index_bytes_ <= part_bytes || axis_ + 1 == whole_.size()) break;
    outer *= whole_[axis_];
  }
  length_ = std::min(whole_[axis_], all.size() * std::max<std::int64_t>(part_bytes / index_bytes_, 1));
  longest_ = (length_ + all.size() - 1) / all.size();
  per_index_ = (whole_[axis_] + length_ - 1) / length_;
  slabs_ = outer * per_index_;
}

bundle_field::part bundle_field::part_of(std::int64_t slab) {
  extents shape = whole_;
  std::fill_n(shape.begin(), axis_, 1);
  first_.assign(whole_.size(), 0);
  first_[axis_] = slab % per_index_ * length_;
  shape[axis_] = std::min(length_, whole_[axis_] - first_[axis_]);
  std::int64_t outer = slab / per_index_;
  std::int64_t place = outer * whole_[axis_] + first_[axis_];  // in indices of axis_
  for (std::size_t axis = axis_; axis-- > 0; outer /= whole_[axis]) first_[axis] = outer % whole_[axis];
  const communicator comm = cut_.comm();
  if (shape != slab_)
    by_parts_ = layout::mesh(comm, shape, {comm.size()}, {.axes = {static_cast<std::int32_t>(axis_)}});
  slab_ = shape;
  const auto block = by_parts_.blocks_of(comm.rank())[0];
  part_shape_ = block.shape;
  place += block.first[axis_];
  const auto bytes = static_cast<std::size_t>(part_shape_[axis_] * index_bytes_);
  return {static_cast<std::uint64_t>(place * index_bytes_), std::span(memory_).first(bytes)};
}

buffer bundle_field::part_array() {
  syncyte_buffer_t result{};
  result.struct_size = sizeof result;
  syncyte::check(syncyte_buffer_set(memory_.data(), detail::raw(type_), static_cast<std::int32_t>(part_shape_.size()),
                                    part_shape_.data(), &result));
  return buffer(result);
}

std::vector<buffer> bundle_field::blocks() const {
  std::vector<buffer> result;
  for (const syncyte_buffer_t& each : arrays_) result.emplace_back(each);
  return result;
}

void bundle_field::collect() {
  const std::vector<buffer> from = blocks();
  const std::vector<const_buffer> sources(from.begin(), from.end());
  cut_.relocate(type_, sources, by_parts_, std::array{part_array()}, {.first = first_});
}

void bundle_field::distribute() {
  const std::array<const_buffer, 1> source{const_buffer(part_array())};
  by_parts_.relocate(type_, source, cut_, blocks(), {.first = first_});
}

}  // namespace syncyte::hdf5
