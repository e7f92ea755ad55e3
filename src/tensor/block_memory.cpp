// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/block_memory.hpp"

#include <algorithm>
#include <utility>

#include "base/strided_copy.hpp"

namespace syncyte::tensor {

using distribution::block_part;
using distribution::box;
using distribution::holding;
using distribution::run;

block_memory::block_memory(std::shared_ptr<collectives::shared_layout> by, std::size_t element_bytes,
                           std::int64_t slots)
    : layout_(std::move(by)),
      element_bytes_(element_bytes),
      slots_(slots),
      counts_(static_cast<std::size_t>(cut().size())),
      arrays_(static_cast<std::size_t>(cut().blocks())) {
  const auto axes = static_cast<std::size_t>(cut().ndim());
  const distribution::per_axis extents = cut().extents();
  if (slots_ > 0) shape_.push_back(slots_);
  shape_.insert(shape_.end(), extents.begin(), extents.begin() + cut().ndim());
  for (int block = 0; block < cut().blocks(); ++block) {
    block_array& its = arrays_[static_cast<std::size_t>(block)];
    its.shape = box().count;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::vector<run> owned = cut().runs_of(block, axis, holding::owned);
      its.shape[axis] = 0;
      for (const run& each : owned) its.shape[axis] += each.count;
      if (cut().lists() == nullptr && !owned.empty()) its.skipped[axis] = owned.front().offset;
    }
    const std::int64_t elements = distribution::volume({{}, its.shape});
    if (elements == 0) continue;
    std::int64_t& count = counts_[static_cast<std::size_t>(owner_of(block))];
    its.first = std::exchange(count, count + elements * std::max<std::int64_t>(slots_, 1));
  }
}

std::vector<int> block_memory::blocks_of(int rank) const {
  std::vector<int> result;
  for (const int block : cut().blocks_of(rank))
    if (part_of_slot(rank, block, 0)) result.push_back(block);
  return result;
}

std::vector<std::int64_t> block_memory::shape_of(int block) const {
  const auto& shape = arrays_[static_cast<std::size_t>(block)].shape;
  std::vector<std::int64_t> result(shape.begin(), shape.begin() + cut().ndim());
  if (slots_ > 0) result.insert(result.begin(), slots_);
  return result;
}

std::optional<owned_part> block_memory::part_of_slot(int rank, int block, std::int64_t slot) const {
  const block_array& its = arrays_[static_cast<std::size_t>(block)];
  const std::int64_t elements = distribution::volume({{}, its.shape});
  if (owner_of(block) != rank || elements == 0) return std::nullopt;
  const auto ndim = cut().ndim();
  owned_part result;
  result.owner = rank;
  result.inset.assign(its.skipped.begin(), its.skipped.begin() + ndim);
  result.shape.assign(its.shape.begin(), its.shape.begin() + ndim);
  result.strides = base::dense_strides(result.shape, element_bytes_);
  result.offset = static_cast<std::size_t>(its.first + slot * elements) * element_bytes_;
  return result;
}

std::vector<owned_part> block_memory::parts_of_slot(int rank, int block, std::int64_t slot) const {
  const std::optional<owned_part> whole = part_of_slot(rank, block, slot);
  if (!whole) return {};
  if (cut().lists() == nullptr) return {*whole};
  std::vector<owned_part> result;
  std::int64_t next = 0;
  for (const block_part& each : cut().parts_of(block, holding::owned)) {
    owned_part& rows = result.emplace_back(*whole);
    rows.inset[0] = each.offset[0];
    rows.shape[0] = each.points.count[0];
    rows.offset += static_cast<std::size_t>(std::exchange(next, next + rows.shape[0]) * rows.strides[0]);
  }
  return result;
}

void block_memory::for_each_part(std::span<const std::int64_t> lower, std::span<const std::int64_t> extent,
                                 const part_visitor& visit) const {
  if (std::ranges::find(extent, 0) != extent.end()) return;
  const std::size_t before = slots_ > 0;  // dimensions before those of the layout
  const auto axes = lower.size() - before;
  box wanted;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    wanted.first[axis] = lower[axis + before];
    wanted.count[axis] = extent[axis + before];
  }
  owned_part part;
  part.inset.resize(lower.size());
  part.shape.resize(lower.size());
  for (const block_part& each : cut().owned_parts_in(wanted)) {
    const block_array& its = arrays_[static_cast<std::size_t>(each.block)];
    part.owner = owner_of(each.block);
    part.strides = base::dense_strides(shape_of(each.block), element_bytes_);
    part.offset = static_cast<std::size_t>(its.first) * element_bytes_;
    if (before > 0) {
      part.shape[0] = extent[0];
      part.offset += static_cast<std::size_t>(lower[0] * part.strides[0]);
    }
    for (std::size_t axis = 0; axis < axes; ++axis) {
      part.shape[axis + before] = each.points.count[axis];
      part.inset[axis + before] = each.points.first[axis] - wanted.first[axis];
      part.offset += static_cast<std::size_t>((each.offset[axis] - its.skipped[axis]) * part.strides[axis + before]);
    }
    visit(part);
  }
}

}  // namespace syncyte::tensor
