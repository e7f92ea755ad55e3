// SPDX-License-Identifier: BSD-3-Clause
// Operations between the start of a non-blocking collective and its end: other collectives, messages, halos,
// communicators, threads.

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "comm/cart.hpp"
#include "comm/collective_call.hpp"
#include "comm/split.hpp"
#include "halo/grid_halo.hpp"
#include "messages/message.hpp"
#include "trials.hpp"

namespace {

using namespace syncyte;
using test::buffer_of;
using test::expect_error;
using test::group;
using test::outcome_of;
using test::reference_world;
using test::shared_world;
using test::start_allreduce;
using test::start_any;
using test::start_bcast;
using test::trial;
using test::world;

TEST(nonblocking_order, blocking_collectives_may_come_between) {
  std::vector<trial> trials;
  for (int i = 0; i < 30; ++i) {
    trials.push_back(start_any(shared_world(), i % 5, i));
    if (i % 3 == 0) collectives::barrier(world());
    if (i % 7 == 0) comm::duplicate(*shared_world(), {});  // also frees the previous duplicate
    if (i % 4 == 3) {
      trials[static_cast<std::size_t>(i / 2)].started->wait();
    }
  }
  for (const trial& each : trials) {
    each.started->wait();
    each.expect();
  }
}

/// A message of one number to or from a rank.
std::unique_ptr<messages::message> letter(bool is_send, int peer, std::vector<std::int32_t>& number) {
  const auto buffer = buffer_of(number, SYNCYTE_INT32);
  return is_send ? messages::message::send(shared_world(), &buffer, {peer, 5, 0, 0})
                 : messages::message::receive(shared_world(), &buffer, {peer, 5, 0, 0});
}

/// Rank 0 tests an operation that the others start only after an allreduce has ended, which all ranks have started.
void expect_to_post_when_tested(const std::function<bool()>& test_once, const std::function<void()>& other_ranks) {
  const trial one = start_allreduce(shared_world(), 3);
  if (world().rank() != 0) one.started->wait();
  const auto begin = std::chrono::steady_clock::now();
  bool is_done = false;
  if (world().rank() == 0)
    while (!is_done && std::chrono::steady_clock::now() - begin < std::chrono::seconds(15)) is_done = test_once();
  EXPECT_TRUE(is_done || world().rank() != 0);
  one.started->wait();
  if (world().rank() != 0) other_ranks();
  one.expect();
}

TEST(nonblocking_order, is_posted_by_testing_a_message) {
  if (world().size() == 1) GTEST_SKIP();
  std::vector<std::int32_t> number{world().rank()};
  const auto awaited = world().rank() == 0 ? letter(false, 1, number) : nullptr;
  expect_to_post_when_tested([&] { return awaited->test(); },
                             [&] {
                               if (world().rank() == 1) letter(true, 0, number)->wait();
                             });
  EXPECT_EQ(number[0], world().rank() == 0 ? 1 : world().rank());
}

TEST(nonblocking_order, is_posted_by_testing_a_halo_exchange) {
  const auto cart = comm::make_cartesian(world(), {{world().size()}, {0}}, {});
  halo::description asked;
  asked.dtype = SYNCYTE_INT32;
  asked.shape = {4};
  asked.low = asked.high = {1};
  const auto plan = halo::grid_halo::create(cart, asked);
  std::vector<std::int32_t> cells(4, world().rank());
  const auto buffer = buffer_of(cells, SYNCYTE_INT32);
  const auto start = [&] { return halo::start(plan, &buffer, halo::operation::exchange); };
  const auto exchange = world().rank() == 0 ? start() : nullptr;
  expect_to_post_when_tested([&] { return exchange->test(); }, [&] { start()->wait(); });
  EXPECT_EQ(cells[3], std::min(world().rank() + 1, world().size() - 1));
}

TEST(nonblocking_order, a_start_waits_for_nobody) {
  // Rank 0 starts the broadcast before it sends, the others after they have received.
  std::vector<std::int32_t> number{world().rank()};
  trial one;
  if (world().rank() == 0) {
    one = start_bcast(shared_world(), 1);
    for (int rank = 1; rank < world().size(); ++rank) letter(true, rank, number)->wait();
  } else {
    letter(false, 0, number)->wait();
    one = start_bcast(shared_world(), 1);
  }
  one.started->wait();
  one.expect();
}

TEST(nonblocking_order, who_waits_for_a_message_goes_on_with_what_was_started) {
  // Rank 0 waits in a receive; the last rank sends only after its wait for a broadcast, which rank 0 has to post.
  for (const bool is_long : {false, true}) {
    std::vector<std::int32_t> number(is_long ? 100000 : 1, 7);
    const int last = world().size() - 1;
    if (last == 0) return;
    const trial one = start_bcast(shared_world(), 3);
    if (world().rank() == 0) letter(false, last, number)->wait();
    one.started->wait();
    one.expect();
    if (world().rank() == last) letter(true, 0, number)->wait();
  }
}

TEST(nonblocking_order, waits_go_on_with_other_communicators) {
  const group first = comm::duplicate(*shared_world(), {});
  const group second = comm::duplicate(*shared_world(), {});
  const trial one = start_bcast(first, 3);
  const trial two = start_bcast(second, 4);
  if (world().rank() % 2 == 0) {
    one.started->wait();
    two.started->wait();
  } else {
    two.started->wait();
    one.started->wait();
  }
  one.expect();
  two.expect();
}

TEST(nonblocking_order, early_ranks_wait_while_a_late_one_is_in_a_blocking_collective) {
  for (comm::communicator* blocking : {&world(), &reference_world()}) {
    const trial one = start_bcast(shared_world(), 3);
    if (world().rank() == 0) collectives::barrier(*blocking);
    one.started->wait();
    if (world().rank() != 0) collectives::barrier(*blocking);
    one.expect();
  }
}

TEST(nonblocking_order, another_thread_waits_while_this_one_is_in_collectives) {
  for (int round = 0; round < 20; ++round) {
    std::vector<trial> trials;
    for (int i = 0; i < 10; ++i) trials.push_back(start_any(shared_world(), i % 5, i));
    std::thread waiter([&] {
      for (auto each = trials.rbegin(); each != trials.rend(); ++each) each->started->wait();
    });
    for (int i = 0; i < 10; ++i) collectives::barrier(world());
    waiter.join();
    for (const trial& each : trials) each.expect();
  }
}

TEST(nonblocking_order, a_start_beside_another_threads_collective_is_busy) {
  const group comm = comm::duplicate(*shared_world(), {});
  std::vector<float> values(3);
  const auto buffer = buffer_of(values, SYNCYTE_FLOAT32);
  {
    const comm::collective_guard turn(*comm, "test_operation");
    expect_error(outcome_of([&] { collectives::start<collectives::bcast>(comm, "comm_ibcast", {}, 0, &buffer); }),
                 SYNCYTE_ERR_BUSY, "another thread");
  }
  collectives::start<collectives::bcast>(comm, "comm_ibcast", {}, 0, &buffer)->wait();
}

TEST(nonblocking_order, a_communicator_stays_until_its_requests_have_ended) {
  group comm = comm::duplicate(*shared_world(), {});
  const trial one = start_allreduce(comm, 3);
  comm.reset();
  collectives::barrier(world());  // frees objects that all ranks have dropped
  one.started->wait();
  one.expect();
}

TEST(nonblocking_order, freed_resources_are_not_disturbed) {
  const group comm = comm::duplicate(*shared_world(), {});
  for (int i = 0; i < 10; ++i) {
    const trial one = start_bcast(comm, 3);
    comm::duplicate(*comm, {});  // dropped at once: freed by the next call that always agrees
    one.started->wait();
    one.expect();
  }
  collectives::barrier(*comm);
  EXPECT_FALSE(comm->deferred().pending());
}

}  // namespace
