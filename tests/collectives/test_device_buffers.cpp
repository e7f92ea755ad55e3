// SPDX-License-Identifier: BSD-3-Clause
// Device buffers when MPI accepts them: collectives that only move elements give them to MPI, all others refuse them on
// all ranks.

#include <numeric>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "core_world.hpp"
#include "messages/message.hpp"
#include "mpi/large_counts.hpp"
#include "mpi/memory_kinds.hpp"
#include "pretended_cuda.hpp"
#include "reference.hpp"

namespace {

using namespace syncyte;
using messages::message;
using test::expect_error;
using test::outcome_of;
using test::shared_world;
using test::world;
using values = std::vector<std::int32_t>;

constexpr const char* refusal = "device memory is not supported here";

/// An array with rows of two elements, on a device or on the host.
class array {
 public:
  array(std::size_t rows, bool is_on_device, std::int32_t first = 0)
      : elements_(room + 2 * rows), is_on_device_(is_on_device) {
    std::iota(elements_.begin() + room, elements_.end(), first);
  }

  syncyte_buffer_t buffer() {
    const std::int64_t shape[] = {static_cast<std::int64_t>(elements_.size() - room) / 2, 2};
    syncyte_buffer_t result = base::make_buffer(elements_.data() + room, SYNCYTE_INT32, shape);
    result.memory = is_on_device_ ? SYNCYTE_MEMORY_CUDA : SYNCYTE_MEMORY_HOST;
    result.device = is_on_device_ ? 1 : 0;
    return result;
  }
  values contents() const { return {elements_.begin() + room, elements_.end()}; }

 private:
  static constexpr std::ptrdiff_t room = SYNCYTE_MESSAGE_ROOM / sizeof(std::int32_t);
  values elements_;
  bool is_on_device_;
};

values numbers(std::int32_t first, std::size_t count) {
  values result(count);
  std::iota(result.begin(), result.end(), first);
  return result;
}

/// Runs a test with device memory on all ranks, on every second rank, and on no rank.
template <class Body>
void for_places(Body&& body) {
  body(true);
  body(world().rank() % 2 == 0);
  body(false);
  const std::int64_t limit = mpi::piece_limit();
  mpi::piece_limit() = 3;
  body(world().rank() % 2 == 0);
  mpi::piece_limit() = limit;
}

/// Rank r has r rows.
struct partition {
  reference::lengths lengths;
  std::size_t mine = static_cast<std::size_t>(world().rank());
  std::size_t all = 0;
  std::int32_t first = 0;  // number of this rank's first element

  partition() {
    for (int rank = 0; rank < world().size(); ++rank) {
      lengths.push_back(rank);
      all += static_cast<std::size_t>(rank);
      if (rank < world().rank()) first += 2 * rank;
    }
  }
};

TEST(device_buffers, mpi_takes_both_kinds) {
  shared_world();
  EXPECT_TRUE(mpi::takes(SYNCYTE_MEMORY_HOST));
  EXPECT_TRUE(mpi::takes(SYNCYTE_MEMORY_CUDA));
  expect_error(outcome_of([] { mpi::takes(7); }), SYNCYTE_ERR_ARGUMENT, "memory is 7; expected");
}

TEST(device_buffers, are_broadcast) {
  for_places([](bool is_on_device) {
    array mine(4, is_on_device, 100 * world().rank());
    const auto buffer = mine.buffer();
    collectives::run<collectives::bcast>(world(), "comm_bcast", {}, world().size() - 1, &buffer);
    EXPECT_EQ(mine.contents(), numbers(100 * (world().size() - 1), 8));
  });
}

TEST(device_buffers, are_gathered_and_scattered) {
  const partition parts;
  const int root = world().size() - 1;
  const bool is_root = world().rank() == root;
  for_places([&](bool is_on_device) {
    array part(parts.mine, is_on_device, parts.first);
    array everywhere(parts.all, is_on_device, -1000);
    array at_root(parts.all, is_on_device, -1000);
    array back(parts.mine, is_on_device, -1000);
    const auto from = part.buffer();
    const auto all = everywhere.buffer();
    const auto whole = at_root.buffer();
    const auto to = back.buffer();
    collectives::run<collectives::allgather_along>(world(), "comm_allgather_along", {}, &from, 0, parts.lengths, &all);
    collectives::run<collectives::gather_along>(world(), "comm_gather_along", {}, &from, 0, root, parts.lengths,
                                                is_root ? &whole : nullptr);
    collectives::run<collectives::scatter_along>(world(), "comm_scatter_along", {}, is_root ? &whole : nullptr, 0, root,
                                                 parts.lengths, &to);
    EXPECT_EQ(everywhere.contents(), numbers(0, 2 * parts.all));
    EXPECT_EQ(at_root.contents(), numbers(is_root ? 0 : -1000, 2 * parts.all));
    EXPECT_EQ(back.contents(), part.contents());
  });
}

TEST(device_buffers, are_repartitioned) {
  const partition parts;
  const reference::lengths reversed(parts.lengths.rbegin(), parts.lengths.rend());
  const auto mine = static_cast<std::size_t>(reversed[parts.mine]);
  std::int32_t first = 0;
  for (std::size_t rank = 0; rank < parts.mine; ++rank) first += 2 * static_cast<std::int32_t>(reversed[rank]);
  for_places([&](bool is_on_device) {
    array before(parts.mine, is_on_device, parts.first);
    array after(mine, is_on_device, -1000);
    const auto from = before.buffer();
    const auto to = after.buffer();
    collectives::run<collectives::alltoall_along>(world(), "comm_alltoall_along", {}, &from, 0, 0, parts.lengths,
                                                  reversed, &to);
    EXPECT_EQ(after.contents(), numbers(first, 2 * mine));
  });
}

TEST(device_buffers, are_gathered_without_an_axis) {
  const auto size = static_cast<std::size_t>(world().size());
  const std::vector<std::int64_t> counts(size, 4);
  for_places([&](bool is_on_device) {
    array mine(2, is_on_device, 4 * world().rank());
    array all(2 * size, is_on_device, -1000);
    array again(2 * size, is_on_device, -1000);
    array exchanged(2 * size, is_on_device, -1000);
    const auto from = mine.buffer();
    const auto to = all.buffer();
    const auto once_more = again.buffer();
    const auto other = exchanged.buffer();
    collectives::run<collectives::allgather>(world(), "comm_allgather", {}, &from, &to);
    EXPECT_EQ(all.contents(), numbers(0, 4 * size));
    collectives::run<collectives::allgatherv>(world(), "comm_allgatherv", {}, &from, counts, &once_more);
    EXPECT_EQ(again.contents(), numbers(0, 4 * size));
    collectives::run<collectives::alltoallv>(world(), "comm_alltoallv", {}, &to, counts, counts, &other);
    for (std::size_t rank = 0; rank < size; ++rank)
      EXPECT_EQ(exchanged.contents()[4 * rank], 4 * world().rank()) << "from rank " << rank;
  });
}

TEST(device_buffers, are_sent_and_received) {
  const int next = (world().rank() + 1) % world().size();
  const int previous = (world().rank() + world().size() - 1) % world().size();
  for (const std::size_t rows : {0u, 1u, 5000u})  // none, short, long
    for_places([&](bool is_on_device) {
      array outgoing(rows, is_on_device, world().rank());
      array incoming(rows, is_on_device, -5);
      const auto from = outgoing.buffer();
      const auto to = incoming.buffer();
      const auto receiving = message::receive(shared_world(), &to, {previous, 1}, SYNCYTE_MESSAGE_ROOM);
      const auto sending = message::send(shared_world(), &from, {next, 1, 0, 7}, SYNCYTE_MESSAGE_ROOM);
      sending->wait();
      receiving->wait();
      EXPECT_EQ(incoming.contents(), numbers(previous, 2 * rows));
      EXPECT_EQ(receiving->peer().label, 7);
    });
}

TEST(device_buffers, show_what_was_sent_instead) {
  array outgoing(3, true);
  const auto from = outgoing.buffer();
  for (const std::size_t rows : {2u, 4u}) {
    array incoming(rows, true);
    const auto to = incoming.buffer();
    const auto sending = message::send(shared_world(), &from, {world().rank(), 2}, SYNCYTE_MESSAGE_ROOM);
    expect_error(
        outcome_of([&] { message::receive(shared_world(), &to, {world().rank(), 2}, SYNCYTE_MESSAGE_ROOM)->wait(); }),
        SYNCYTE_ERR_MISMATCH,
        rows == 2 ? "longer than expected, which was int32 of shape [2, 2]"
                  : "is int32 of shape [3, 2]; expected int32 of shape [4, 2]");
    sending->wait();
  }
}

TEST(device_buffers, without_room_are_copied_through_host_memory) {
  const int self = world().rank();
  for (const std::size_t rows : {1u, 5000u}) {  // short, long
    array outgoing(rows, true, self);
    array incoming(rows, true, -5);
    const auto from = outgoing.buffer();
    const auto to = incoming.buffer();
    const int before = test::pretended_cuda::copies;
    const auto sending = message::send(shared_world(), &from, {self, 1});
    message::receive(shared_world(), &to, {self, 1})->wait();
    sending->wait();
    EXPECT_EQ(incoming.contents(), numbers(self, 2 * rows));
    EXPECT_EQ(test::pretended_cuda::copies - before, 2);
  }
}

TEST(device_buffers, are_contiguous_in_messages) {
  array mine(3, true);
  auto buffer = mine.buffer();
  const int self = world().rank();
  expect_error(outcome_of([&] { message::receive(shared_world(), &buffer, {self, 1}, 8); }), SYNCYTE_ERR_ARGUMENT,
               "options->room is 8; expected 0 or SYNCYTE_MESSAGE_ROOM (64)");
  std::swap(buffer.strides[0], buffer.strides[1]);
  for (const int room : {0, SYNCYTE_MESSAGE_ROOM})
    expect_error(outcome_of([&] { message::send(shared_world(), &buffer, {self, 1}, room); }), SYNCYTE_ERR_UNSUPPORTED,
                 "array: layout is strided, of shape [3, 2]; expected a contiguous array");
}

TEST(device_buffers, that_are_strided_need_no_room_on_the_host) {
  array outgoing(3, false), incoming(3, false, -5);
  auto from = outgoing.buffer();
  auto to = incoming.buffer();
  for (auto* const each : {&from, &to}) {
    std::swap(each->strides[0], each->strides[1]);
    std::swap(each->shape[0], each->shape[1]);
  }
  const auto sending = message::send(shared_world(), &from, {world().rank(), 1}, SYNCYTE_MESSAGE_ROOM);
  message::receive(shared_world(), &to, {world().rank(), 1}, SYNCYTE_MESSAGE_ROOM)->wait();
  sending->wait();
  EXPECT_EQ(incoming.contents(), outgoing.contents());
}

TEST(device_buffers, of_one_rank_that_would_be_packed_are_everybodys_error) {
  const bool is_odd_one = world().rank() == world().size() - 1;
  array part(2, is_odd_one);
  array whole(2 * static_cast<std::size_t>(world().size()), is_odd_one);
  const reference::lengths lengths(static_cast<std::size_t>(world().size()), 2);
  const auto from = part.buffer();
  auto to = whole.buffer();
  to.shape[0] = 2;
  to.shape[1] = 2 * world().size();
  to.strides[0] = to.shape[1] * to.strides[1];
  expect_error(outcome_of([&] {
                 collectives::run<collectives::allgather_along>(world(), "comm_allgather_along", {}, &from, 1, lengths,
                                                                &to);
               }),
               SYNCYTE_ERR_UNSUPPORTED, "would have to be packed, which device memory is not");
}

TEST(device_buffers, are_both_on_devices) {
  array part(2, true), whole(2 * static_cast<std::size_t>(world().size()), false);
  const reference::lengths lengths(static_cast<std::size_t>(world().size()), 2);
  const auto from = part.buffer();
  const auto to = whole.buffer();
  expect_error(outcome_of([&] {
                 collectives::run<collectives::allgather_along>(world(), "comm_allgather_along", {}, &from, 0, lengths,
                                                                &to);
               }),
               SYNCYTE_ERR_UNSUPPORTED, "output is in host memory; expected device memory, as input");
  expect_error(outcome_of([&] {
                 collectives::run<collectives::scatter_along>(world(), "comm_scatter_along", {}, &to, 0, 0, lengths,
                                                              &from);
               }),
               SYNCYTE_ERR_UNSUPPORTED, "input is in host memory; expected device memory, as output");
}

TEST(device_buffers, are_not_reduced) {
  array mine(2, world().rank() == 0);
  const auto buffer = mine.buffer();
  const reference::lengths lengths(static_cast<std::size_t>(world().size()), 0);
  expect_error(outcome_of([&] {
                 collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, nullptr, SYNCYTE_OP_SUM,
                                                          &buffer);
               }),
               SYNCYTE_ERR_UNSUPPORTED, refusal);
  expect_error(outcome_of([&] {
                 collectives::run<collectives::reduce_scatter_along>(world(), "comm_reduce_scatter_along", {}, &buffer,
                                                                     0, SYNCYTE_OP_SUM, lengths, &buffer);
               }),
               SYNCYTE_ERR_UNSUPPORTED, refusal);
}

TEST(device_buffers, are_not_started) {
  array mine(2, true);
  const auto buffer = mine.buffer();
  const reference::lengths lengths(static_cast<std::size_t>(world().size()), 2);
  expect_error(
      outcome_of([&] { collectives::start<collectives::bcast>(shared_world(), "comm_ibcast", {}, 0, &buffer); }),
      SYNCYTE_ERR_UNSUPPORTED, refusal);
  expect_error(outcome_of([&] {
                 collectives::start<collectives::allgather_along>(shared_world(), "comm_iallgather_along", {}, &buffer,
                                                                  0, lengths, &buffer);
               }),
               SYNCYTE_ERR_UNSUPPORTED, refusal);
  expect_error(outcome_of([&] {
                 collectives::start<collectives::alltoall_along>(shared_world(), "comm_ialltoall_along", {}, &buffer, 0,
                                                                 0, lengths, lengths, &buffer);
               }),
               SYNCYTE_ERR_UNSUPPORTED, refusal);
}

TEST(device_buffers, are_of_devices_that_exist) {
  array mine(2, true);
  auto buffer = mine.buffer();
  if (world().rank() == 0) buffer.device = 2;
  expect_error(outcome_of([&] { collectives::run<collectives::bcast>(world(), "comm_bcast", {}, 0, &buffer); }),
               SYNCYTE_ERR_ARGUMENT, "device is 2; expected 0 to 1");
}

}  // namespace
