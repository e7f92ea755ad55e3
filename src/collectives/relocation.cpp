// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/relocation.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/overlap.hpp"
#include "base/strided_copy.hpp"
#include "collectives/shared_layout.hpp"
#include "mpi/progress.hpp"
#include "mpi/small_collectives.hpp"

namespace syncyte::collectives {
namespace {

using distribution::layout;
using distribution::per_axis;
using distribution::shipment;

/// A box of a block's array in memory.
struct place {
  std::byte* data;
  std::span<const std::int64_t> strides;
};

place place_of(const base::buffer& array, const distribution::ghost_widths& ghosts, const shipment& of) {
  std::byte* data = array.data();
  for (int axis = 0; axis < array.ndim(); ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    data += (ghosts.low[at] + of.offset[at]) * array.stride(axis);
  }
  return {data, array.strides()};
}

std::span<const std::int64_t> shape_of(const shipment& of, int ndim) {
  return {of.count.data(), static_cast<std::size_t>(ndim)};
}

std::vector<int> blocks_of(const layout& cut, int rank) {
  const std::span<const int> blocks = cut.blocks_of(rank);
  return {blocks.begin(), blocks.end()};
}

const base::buffer& array_of(const std::vector<base::buffer>& arrays, const std::vector<int>& blocks, int block) {
  return arrays[static_cast<std::size_t>(std::ranges::lower_bound(blocks, block) - blocks.begin())];
}

int peers_of(std::span<const shipment> all, int rank) {
  int result = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    result += all[i].peer != rank && (i == 0 || all[i].peer != all[i - 1].peer);
  return result;
}

/// Calls visitor(box) with parts of a box of at most `most` elements, in row-major order.
template <class Visitor>
void in_boxes(const shipment& whole, std::int64_t most, Visitor&& visitor) {
  std::size_t axis = 0;
  while (axis + 1 < whole.count.size() && whole.count[axis] == 1) ++axis;
  const std::int64_t elements = distribution::volume({{}, whole.count});
  if (elements <= most) return visitor(whole);
  const std::int64_t length = std::max<std::int64_t>(most / (elements / whole.count[axis]), 1);
  for (std::int64_t first = 0; first < whole.count[axis]; first += length) {
    shipment part = whole;
    part.offset[axis] += first;
    part.count[axis] = std::min(length, whole.count[axis] - first);
    in_boxes(part, most, visitor);
  }
}

}  // namespace

relocation::relocation(comm::agreement& terms, form, syncyte_dtype_t dtype, const block_arrays& from,
                       const block_arrays& to, std::size_t buffer_bytes)
    : rank_(terms.comm().rank()),
      dtype_(dtype),
      element_bytes_(base::dtype_size(dtype)),
      buffer_bytes_(buffer_bytes),
      source_ghosts_(from.cut.ghosts()),
      target_ghosts_(to.cut.ghosts()) {
  base::expect(from.cut.size() == terms.comm().size(), SYNCYTE_ERR_ARGUMENT, "ranks of the layout", from.cut.size(),
               "{}, those of the communicator", terms.comm().size());
  route_ = distribution::find_route(from.cut, to.cut, rank_);
  sources_ = checked_arrays(from, rank_, dtype);
  targets_ = checked_arrays(to, rank_, dtype);
  source_blocks_ = blocks_of(from.cut, rank_);
  target_blocks_ = blocks_of(to.cut, rank_);
  require_targets(targets_);
  for (const base::buffer& target : targets_)
    for (const base::buffer& source : sources_) base::require_apart(source, target);
  most_elements_ = static_cast<std::int64_t>(buffer_bytes_ / element_bytes_);
  const std::int64_t moved = elements_for_others(route_.sends) + elements_for_others(route_.receives);
  memory_ = memory::scratch(std::min(buffer_bytes_, bytes_of(moved, dtype)));
  terms.named_fact("dtype", dtype, base::dtype_name);
  terms.fact("hash of the layout before", hash_of(from.cut));
  terms.fact("hash of the layout after", hash_of(to.cut));
  terms.fact("buffer_bytes", static_cast<std::int64_t>(buffer_bytes));
}

/// All ranks' messages have the same size, because each pair has to cut its boxes in the same way.
void relocation::compare(comm::collective_call& call) {
  const auto messages = static_cast<unsigned>(peers_of(route_.sends, rank_) + peers_of(route_.receives, rank_));
  const std::int64_t most = mpi::allreduce(messages, MPI_MAX, call.comm().data());  // of a rank in a round
  if (most == 0) return;
  most_elements_ /= most;
  if (most_elements_ > 0) return;
  call.attempt([&] {
    base::expect(false, SYNCYTE_ERR_ARGUMENT, "buffer_bytes", static_cast<std::int64_t>(buffer_bytes_),
                 "{} or more: an element for each of {} messages", most * static_cast<std::int64_t>(element_bytes_),
                 most);
  });
  call.agree();
}

std::int64_t relocation::elements_for_others(std::span<const shipment> all) const {
  std::int64_t result = 0;
  for (const shipment& each : all)
    if (each.peer != rank_) result += distribution::volume({{}, each.count});
  return result;
}

std::vector<relocation::round> relocation::in_rounds(std::span<const shipment> all) const {
  std::vector<round> result;
  std::size_t number = 0;
  int peer = -1;
  for (const shipment& whole : all) {
    if (whole.peer == rank_) continue;
    if (whole.peer != peer) peer = whole.peer, number = 0;
    in_boxes(whole, most_elements_, [&](const shipment& part) {
      const std::int64_t elements = distribution::volume({{}, part.count});
      if (number < result.size() && !result[number].empty() && result[number].back().peer == peer &&
          result[number].back().elements + elements > most_elements_)
        ++number;
      if (number == result.size()) result.emplace_back();
      if (result[number].empty() || result[number].back().peer != peer) result[number].push_back({peer, 0, {}});
      result[number].back().elements += elements;
      result[number].back().boxes.push_back(part);
    });
  }
  return result;
}

void relocation::pack(const message& what, std::byte* to) const {
  for (const shipment& each : what.boxes) {
    const base::buffer& array = array_of(sources_, source_blocks_, each.block);
    const auto shape = shape_of(each, array.ndim());
    const place from = place_of(array, source_ghosts_, each);
    base::copy_strided(to, base::dense_strides(shape, element_bytes_), from.data, from.strides, shape, element_bytes_);
    to += bytes_of(distribution::volume({{}, each.count}), dtype_);
  }
}

void relocation::unpack(const message& what, const std::byte* from) const {
  for (const shipment& each : what.boxes) {
    const base::buffer& array = array_of(targets_, target_blocks_, each.block);
    const auto shape = shape_of(each, array.ndim());
    const place to = place_of(array, target_ghosts_, each);
    base::copy_strided(to.data, to.strides, from, base::dense_strides(shape, element_bytes_), shape, element_bytes_);
    from += bytes_of(distribution::volume({{}, each.count}), dtype_);
  }
}

/// Copies the boxes that stay on this rank.
void relocation::copy_own() const {
  const auto is_own = [this](const shipment& each) { return each.peer == rank_; };
  auto sent = std::ranges::find_if(route_.sends, is_own);
  for (auto got = std::ranges::find_if(route_.receives, is_own); got != route_.receives.end() && is_own(*got);
       ++got, ++sent) {
    const base::buffer& source = array_of(sources_, source_blocks_, sent->block);
    const base::buffer& target = array_of(targets_, target_blocks_, got->block);
    const place from = place_of(source, source_ghosts_, *sent);
    const place to = place_of(target, target_ghosts_, *got);
    base::copy_strided(to.data, to.strides, from.data, from.strides, shape_of(*got, target.ndim()), element_bytes_);
  }
}

void relocation::move(mover& by) {
  try {
    exchange(by);
  } catch (...) {  // a rank has died: MPI may still write what others send
    mpi::keep_for_ever(std::make_shared<memory::scratch>(std::move(memory_)));
    throw;
  }
}

void relocation::exchange(mover& by) {
  const std::vector<round> sends = in_rounds(route_.sends);
  const std::vector<round> receives = in_rounds(route_.receives);
  for (std::size_t number = 0; number < std::max(sends.size(), receives.size()); ++number) {
    std::byte* next = memory_.data();
    const auto take = [&](const message& what) { return std::exchange(next, next + bytes_of(what.elements, dtype_)); };
    std::vector<std::byte*> arrived;
    if (number < receives.size())
      for (const message& each : receives[number]) {
        arrived.push_back(take(each));
        by.receive(each.peer, arrived.back(), each.elements, dtype_);
      }
    if (number < sends.size())
      for (const message& each : sends[number]) {
        std::byte* const packed = take(each);
        pack(each, packed);
        by.send(each.peer, packed, each.elements, dtype_);
      }
    if (number == 0) copy_own();
    by.wait_for_messages();
    for (std::size_t i = 0; i < arrived.size(); ++i) unpack(receives[number][i], arrived[i]);
  }
  if (sends.empty() && receives.empty()) copy_own();
}

}  // namespace syncyte::collectives
