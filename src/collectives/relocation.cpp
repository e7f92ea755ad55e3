// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/relocation.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include "base/overlap.hpp"
#include "base/streaming_copy.hpp"
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

}  // namespace

relocation::blocks::blocks(const block_arrays& given, const comm::communicator& comm, syncyte_dtype_t dtype)
    : ghosts(given.cut.ghosts()) {
  base::expect(given.cut.size() == comm.size(), SYNCYTE_ERR_ARGUMENT, "ranks of the layout", given.cut.size(),
               "{}, those of the communicator", comm.size());
  std::ranges::copy(given.cut.blocks_of(comm.rank()), std::back_inserter(numbers));
  arrays = checked_arrays(given, comm.rank(), dtype);
  for (const base::buffer& each : arrays) {
    const auto rows = base::dense_strides(each.shape(), each.element_bytes());
    const bool is_dense = std::ranges::equal(each.strides().subspan(1), std::span(rows).subspan(1));
    const bool has_ghosts = std::ranges::any_of(std::span(ghosts.low).subspan(1), std::identity()) ||
                            std::ranges::any_of(std::span(ghosts.high).subspan(1), std::identity());
    row_bytes.push_back(is_dense && !has_ghosts ? static_cast<std::size_t>(rows[0]) : 0);
  }
}

std::size_t relocation::blocks::place_of(int block) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(numbers, block) - numbers.begin());
}

std::span<std::byte> relocation::blocks::run_of(const shipment& box) const {
  const std::size_t at = place_of(box.block), bytes = row_bytes[at];
  const base::buffer& array = arrays[at];
  if (bytes == 0 || (box.count[0] > 1 && array.stride(0) != static_cast<std::int64_t>(bytes))) return {};
  for (int axis = 1; axis < array.ndim(); ++axis)
    if (box.count[static_cast<std::size_t>(axis)] != array.extent(axis)) return {};
  return {array.data() + (ghosts.low[0] + box.offset[0]) * array.stride(0),
          static_cast<std::size_t>(box.count[0]) * bytes};
}

relocation::relocation(comm::agreement& terms, form, direction way, syncyte_dtype_t dtype, const block_arrays& from,
                       const block_arrays& to, const std::optional<distribution::per_axis>& first,
                       const route_finder& find, std::size_t buffer_bytes)
    : rank_(terms.comm().rank()),
      way_(way),
      dtype_(dtype),
      element_bytes_(base::dtype_size(dtype)),
      buffer_bytes_(buffer_bytes),
      read_(from, terms.comm(), dtype),
      written_(to, terms.comm(), dtype) {
  route_ = find();
  sends_ = route_->sends, receives_ = route_->receives;
  if (way == direction::adjoint) {
    std::swap(read_, written_);
    std::swap(sends_, receives_);
  }
  require_targets(written_.arrays);
  for (const base::buffer& target : written_.arrays)
    for (const base::buffer& source : read_.arrays) base::require_apart(source, target);
  std::size_t written = 0;
  for (const base::buffer& target : written_.arrays) written += target.bytes();
  streams_ = way == direction::forward && written >= base::streaming_threshold;
  most_elements_ = static_cast<std::int64_t>(buffer_bytes_ / element_bytes_);
  const std::int64_t moved = elements_for_others(sends_) + elements_for_others(receives_);
  memory_ = memory::scratch(std::min(buffer_bytes_, bytes_of(moved, dtype)));
  terms.named_fact("dtype", dtype, base::dtype_name);
  terms.fact("hash of the layout before", hash_of(from.cut));
  terms.fact("hash of the layout after", hash_of(to.cut));
  for (int axis = 0; axis < from.cut.ndim(); ++axis)
    terms.fact("first", first ? (*first)[static_cast<std::size_t>(axis)] : -1);
  terms.fact("buffer_bytes", static_cast<std::int64_t>(buffer_bytes));
}

/// All ranks' messages have the same size, because each pair has to cut its boxes in the same way.
void relocation::compare(comm::collective_call& call) {
  const std::size_t peers = channels_of(sends_, rank_, 1).size() + channels_of(receives_, rank_, 1).size();
  const auto messages = static_cast<std::int64_t>(mpi::allreduce(peers, MPI_MAX, call.comm().data()));  // at once
  if (messages == 0) return;
  most_elements_ /= messages;
  if (most_elements_ > 0) return;
  call.attempt([&] {
    base::expect(false, SYNCYTE_ERR_ARGUMENT, "buffer_bytes", static_cast<std::int64_t>(buffer_bytes_),
                 "{} or more: an element for each of {} messages", messages * static_cast<std::int64_t>(element_bytes_),
                 messages);
  });
  call.agree();
}

std::int64_t relocation::elements_for_others(std::span<const shipment> all) const {
  std::int64_t result = 0;
  for (const shipment& each : all)
    if (each.peer != rank_) result += distribution::volume({{}, each.count});
  return result;
}

void relocation::pack(const box_message& what, std::byte* to) const {
  for (const shipment& each : what.boxes) {
    if (const auto run = read_.run_of(each); !run.empty()) {
      std::memcpy(to, run.data(), run.size());
      to += run.size();
      continue;
    }
    const base::buffer& array = read_.array_of(each.block);
    const auto shape = shape_of(each, array.ndim());
    const place from = place_of(array, read_.ghosts, each);
    base::copy_strided(to, base::dense_strides(shape, element_bytes_), from.data, from.strides, shape, element_bytes_);
    to += bytes_of(distribution::volume({{}, each.count}), dtype_);
  }
}

void relocation::unpack(const box_message& what, const std::byte* from) const {
  for (const shipment& each : what.boxes) {
    if (const auto run = written_.run_of(each); !run.empty() && !streams_ && way_ == direction::forward) {
      std::memcpy(run.data(), from, run.size());
      from += run.size();
      continue;
    }
    store(each, from, base::dense_strides(shape_of(each, written_.array_of(each.block).ndim()), element_bytes_));
    from += bytes_of(distribution::volume({{}, each.count}), dtype_);
  }
}

/// Copies the boxes that stay on this rank.
void relocation::copy_own() const {
  const auto is_own = [this](const shipment& each) { return each.peer == rank_; };
  auto sent = std::ranges::find_if(sends_, is_own);
  for (auto got = std::ranges::find_if(receives_, is_own); got != receives_.end() && is_own(*got); ++got, ++sent) {
    const place from = place_of(read_.array_of(sent->block), read_.ghosts, *sent);
    store(*got, from.data, from.strides);
  }
}

void relocation::clear_targets() const {
  for (const base::buffer& each : written_.arrays)
    base::zero_strided(each.data(), each.strides(), each.shape(), element_bytes_);
}

/// Copies elements to a box of a target, or adds them to it.
void relocation::store(const shipment& what, const std::byte* from, std::span<const std::int64_t> strides) const {
  const base::buffer& array = written_.array_of(what.block);
  const auto shape = shape_of(what, array.ndim());
  const place to = place_of(array, written_.ghosts, what);
  if (way_ == direction::adjoint)
    base::add_strided(to.data, to.strides, from, strides, shape, dtype_);
  else
    (streams_ ? base::stream_strided : base::copy_strided)(to.data, to.strides, from, strides, shape, element_bytes_);
}

void relocation::move(mover& by) {
  if (way_ == direction::adjoint) clear_targets();
  try {
    exchange(by);
  } catch (...) {  // a rank has died: MPI may still write what others send
    mpi::keep_for_ever(std::make_shared<memory::scratch>(std::move(memory_)));
    throw;
  }
  if (streams_) base::finish_streaming();
}

void relocation::exchange(mover& by) {
  std::vector<box_channel> sends = channels_of(sends_, rank_, most_elements_);
  std::vector<box_channel> receives = channels_of(receives_, rank_, most_elements_);
  std::vector<std::pair<box_message, const std::byte*>> arrived;
  bool is_first = true;
  for (bool are_left = true; std::exchange(are_left, false);) {
    std::byte* next = memory_.data();
    const auto take = [&](const box_message& what) {
      are_left = true;
      return std::exchange(next, next + bytes_of(what.elements, dtype_));
    };
    arrived.clear();
    for (box_channel& each : receives)
      if (box_message what = each.next(); what.elements > 0) {
        std::byte* const room = take(what);
        by.receive(each.peer(), room, what.elements, dtype_);
        arrived.emplace_back(std::move(what), room);
      }
    for (box_channel& each : sends)
      if (const box_message what = each.next(); what.elements > 0) {
        std::byte* const packed = take(what);
        pack(what, packed);
        by.send(each.peer(), packed, what.elements, dtype_);
      }
    if (std::exchange(is_first, false)) copy_own();
    by.wait_for_messages();
    for (const auto& [what, elements] : arrived) unpack(what, elements);
  }
}

}  // namespace syncyte::collectives
