// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoints/bundle_field.hpp"

#include <array>

#include "base/errors.hpp"

namespace syncyte::hdf5 {

bundle_field::bundle_field(syncyte_bundle_t bundle, std::int64_t number) {
  const char* name = nullptr;
  syncyte_layout_t cut = nullptr;
  syncyte_dtype_t type = 0;
  syncyte::check(syncyte_bundle_field(bundle, number, &name, &cut, &type));
  name_ = name;
  cut_ = layout(cut);
  type_ = static_cast<dtype>(type);
  shape_ = cut_.shape();
  shape_[0] = 0;
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
  syncyte::check(syncyte_buffer_set(memory_.data(), detail::raw(type_), static_cast<std::int32_t>(shape_.size()),
                                    shape_.data(), &result));
  return result;
}

void bundle_field::cut_into_rows(const ranks& all) {
  const communicator comm = cut_.comm();
  by_rows_ = layout::mesh(comm, cut_.shape(), {all.size()});
  shape_ = by_rows_.blocks_of(all.rank())[0].shape;
}

std::size_t bundle_field::row_bytes_total() const {
  std::int64_t bytes = size_of(type_);
  for (const std::int64_t extent : shape_) bytes *= extent;
  return static_cast<std::size_t>(bytes);
}

std::vector<buffer> bundle_field::blocks() const {
  std::vector<buffer> result;
  for (const syncyte_buffer_t& each : arrays_) result.emplace_back(each);
  return result;
}

void bundle_field::collect_rows() {
  const std::vector<buffer> from = blocks();
  const std::vector<const_buffer> sources(from.begin(), from.end());
  const std::array<buffer, 1> target{buffer(rows())};
  cut_.relocate(type_, sources, by_rows_, target);
}

void bundle_field::distribute_rows() {
  const std::array<const_buffer, 1> source{const_buffer(rows())};
  by_rows_.relocate(type_, source, cut_, blocks());
}

}  // namespace syncyte::hdf5
