// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/row_relocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/overlap.hpp"
#include "base/strided_copy.hpp"
#include "mpi/progress.hpp"
#include "mpi/small_collectives.hpp"

namespace syncyte::collectives {
namespace {

bool is_same_memory(const base::buffer& a, const base::buffer& b) {
  return a.data() == b.data() && std::ranges::equal(a.strides(), b.strides());
}

}  // namespace

row_relocation::table::table(const base::buffer& given)
    : array(given),
      row_bytes(base::volume(array.shape().subspan(1)) * array.element_bytes()),
      is_dense(std::ranges::equal(array.strides(), base::dense_strides(array.shape(), array.element_bytes()))) {}

std::vector<std::int64_t> row_relocation::table::shape_of(std::int64_t rows) const {
  std::vector<std::int64_t> result(array.shape().begin(), array.shape().end());
  result[0] = rows;
  return result;
}

void row_relocation::table::copy_to(std::byte* dense, std::int64_t first, std::int64_t count) const {
  if (is_dense) {
    std::memcpy(dense, row(first), static_cast<std::size_t>(count) * row_bytes);
    return;
  }
  const auto shape = shape_of(count);
  base::copy_strided(dense, base::dense_strides(shape, array.element_bytes()), row(first), array.strides(), shape,
                     array.element_bytes());
}

void row_relocation::table::copy_from(const std::byte* dense, std::int64_t first, std::int64_t count) const {
  if (is_dense) {
    std::memcpy(row(first), dense, static_cast<std::size_t>(count) * row_bytes);
    return;
  }
  const auto shape = shape_of(count);
  base::copy_strided(row(first), array.strides(), dense, base::dense_strides(shape, array.element_bytes()), shape,
                     array.element_bytes());
}

/// Moves rows towards the beginning of the same array, or to another array.
void row_relocation::table::move_to(const table& target, std::int64_t place, std::int64_t first,
                                    std::int64_t count) const {
  if (is_dense && target.is_dense) {
    std::memmove(target.row(place), row(first), static_cast<std::size_t>(count) * row_bytes);
    return;
  }
  const std::int64_t step = array.data() == target.array.data() ? 1 : count;  // rows that may overlap go one by one
  const auto shape = shape_of(step);
  for (std::int64_t done = 0; done < count; done += step)
    base::copy_strided(target.row(place + done), target.array.strides(), row(first + done), array.strides(), shape,
                       array.element_bytes());
}

row_relocation::row_relocation(comm::agreement& terms, form, const rows_to_move& given)
    : rank_(terms.comm().rank()), rows_(given.rows), leaving_(static_cast<std::size_t>(terms.comm().size())) {
  const std::int64_t moved = std::ssize(given.destinations);
  base::expect(!given.arrays.empty(), SYNCYTE_ERR_ARGUMENT, "count", 0, "1 or more arrays");
  terms.fact("count", std::ssize(given.arrays));
  for (const syncyte_buffer_t& each : given.arrays) {
    const base::buffer array(&each, "arrays");
    array.require_host();
    base::expect(array.ndim() > 0 && array.extent(0) >= moved, SYNCYTE_ERR_SHAPE, "shape of an array",
                 base::shape_text(array.shape()), "{} rows or more, one for each destination", moved);
    record_bytes_ += arrays_.emplace_back(array).row_bytes;
    terms.named_fact("dtype", array.dtype(), base::dtype_name);
    terms.fact("dimensions of an array", array.ndim());
    for (int axis = 1; axis < array.ndim(); ++axis)
      terms.fact("extent of axis {} of an array", array.extent(axis), {"arrays", axis, array.ndim()});
  }
  sort_rows(given.destinations);
  check_targets(given.targets);
  terms.fact("whether there are targets", !given.targets.empty());
}

void row_relocation::sort_rows(std::span<const std::int32_t> destinations) {
  const int size = static_cast<int>(leaving_.size());
  send_counts_.resize(leaving_.size());
  for (auto each = destinations.begin(); each != destinations.end();) {
    const int to = *each;
    const std::int64_t row = each - destinations.begin();
    each = std::find_if(each, destinations.end(), [&](std::int32_t other) { return other != to; });
    if (to == SYNCYTE_PROC_NULL) continue;
    base::expect(to >= 0 && to < size, SYNCYTE_ERR_ARGUMENT, {"destinations", row}, to,
                 "0 to {}, or SYNCYTE_PROC_NULL for a row that goes nowhere", size - 1);
    const std::int64_t count = each - destinations.begin() - row;
    leaving_[static_cast<std::size_t>(to)].push_back({row, count});
    send_counts_[static_cast<std::size_t>(to)] += count;
  }
  receive_counts_.assign(leaving_.size(), 0);
  receive_counts_[static_cast<std::size_t>(rank_)] = send_counts_[static_cast<std::size_t>(rank_)];
}

void row_relocation::check_targets(std::span<const syncyte_buffer_t> targets) {
  base::expect(targets.empty() || targets.size() == arrays_.size(), SYNCYTE_ERR_ARGUMENT, "targets",
               fmt::format("{} arrays", targets.size()), "{}, one for each array", arrays_.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const base::buffer target(&targets[i], "targets");
    target.require_host().require_writable().require_dtype(arrays_[i].array.dtype());
    const auto rows = arrays_[i].shape_of(target.ndim() > 0 ? target.extent(0) : 0);
    base::expect(std::ranges::equal(rows, target.shape()), SYNCYTE_ERR_SHAPE, "shape of a target",
                 base::shape_text(target.shape()), "rows as those of its array, of shape {}",
                 base::shape_text(arrays_[i].array.shape()));
    for (std::size_t other = 0; other < arrays_.size(); ++other)
      if (other != i || !is_same_memory(arrays_[i].array, target)) base::require_apart(arrays_[other].array, target);
    for (const table& other : targets_) base::require_apart(other.array, target);
    targets_.emplace_back(target);
  }
  require_room();
}

std::int64_t row_relocation::total() const {
  std::int64_t result = 0;
  for (const std::int64_t count : receive_counts_) result += count;
  return result;
}

void row_relocation::require_room() const {
  for (const table& target : targets_)
    base::expect(target.array.extent(0) >= total(), SYNCYTE_ERR_SHAPE, "rows of a target", target.array.extent(0),
                 "{} or more, the rows that this rank gets", total());
}

void row_relocation::compare(comm::collective_call& call) {
  mpi::alltoall(send_counts_, receive_counts_, call.comm().data());
  call.attempt([&] {
    require_room();
    if (targets_.empty()) return;
    outgoing_ = memory::scratch(bytes_of_others(send_counts_));
    incoming_ = memory::scratch(bytes_of_others(receive_counts_));
  });
  call.agree();
}

std::size_t row_relocation::bytes_of_others(std::span<const std::int64_t> counts) const {
  std::size_t result = 0;
  for (const peer_rows& each : others(counts)) result += bytes_of(each);
  return result;
}

/// The other ranks that send or get rows, in order.
std::vector<row_relocation::peer_rows> row_relocation::others(std::span<const std::int64_t> counts) const {
  std::vector<peer_rows> result;
  for (int rank = 0; rank < std::ssize(counts); ++rank)
    if (const std::int64_t count = counts[static_cast<std::size_t>(rank)]; rank != rank_ && count > 0)
      result.push_back({rank, count});
  return result;
}

/// The order of the elements of a message: all rows of the first array, then those of the next.
void row_relocation::pack(int to, std::byte* message) const {
  for (const table& each : arrays_)
    for (const auto& [first, count] : leaving_[static_cast<std::size_t>(to)]) {
      each.copy_to(message, first, count);
      message += static_cast<std::size_t>(count) * each.row_bytes;
    }
}

void row_relocation::unpack(const std::byte* message, std::int64_t first, std::int64_t count) const {
  for (const table& each : targets_) {
    each.copy_from(message, first, count);
    message += static_cast<std::size_t>(count) * each.row_bytes;
  }
}

/// Moves the rows that stay to the beginning of the targets. A target that is its array is written behind where it is
/// read, or there.
void row_relocation::keep_own() const {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    std::int64_t next = 0;
    for (const auto& [first, count] : leaving_[static_cast<std::size_t>(rank_)]) {
      if (targets_[i].row(next) != arrays_[i].row(first)) arrays_[i].move_to(targets_[i], next, first, count);
      next += count;
    }
  }
}

void row_relocation::move(mover& by) {
  if (targets_.empty()) return;
  try {
    exchange(by);
  } catch (...) {  // a rank has died: MPI may still write what others send
    using messages = std::pair<memory::scratch, memory::scratch>;
    mpi::keep_for_ever(std::make_shared<messages>(std::move(outgoing_), std::move(incoming_)));
    throw;
  }
}

void row_relocation::exchange(mover& by) {
  std::byte* next = incoming_.data();
  for (const peer_rows& each : others(receive_counts_)) {
    by.receive(each.peer, next, static_cast<std::int64_t>(bytes_of(each)), SYNCYTE_UINT8);
    next += bytes_of(each);
  }
  next = outgoing_.data();
  for (const peer_rows& each : others(send_counts_)) {
    pack(each.peer, next);
    by.send(each.peer, next, static_cast<std::int64_t>(bytes_of(each)), SYNCYTE_UINT8);
    next += bytes_of(each);
  }
  keep_own();
  by.wait_for_messages();
  std::int64_t row = receive_counts_[static_cast<std::size_t>(rank_)];
  const std::byte* message = incoming_.data();
  for (const peer_rows& each : others(receive_counts_)) {
    unpack(message, row, each.count);
    message += bytes_of(each);
    row += each.count;
  }
}

}  // namespace syncyte::collectives
