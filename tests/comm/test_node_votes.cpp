// SPDX-License-Identifier: BSD-3-Clause
// Agreements of the ranks of a node: how many slots a rank reads, and trees of several widths at any number of ranks.
// Threads stand for ranks where a test needs more of them than the job has.

#include "comm/node_votes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "comm/collective_call.hpp"
#include "comm/departures.hpp"
#include "comm/node_collectives.hpp"
#include "trials.hpp"
#include "watchdog/board.hpp"

namespace {

using namespace syncyte;
using comm::node_votes;
using test::expect_error;
using test::group;
using test::outcome_of;
using test::world;

std::size_t slots_read(int ranks) {
  std::size_t count = 0;
  for (const auto& distances : node_votes::steps(ranks, node_votes::usual_width(ranks))) count += distances.size();
  return count;
}

TEST(node_votes, beyond_32_ranks_a_rank_reads_few_slots) {
  EXPECT_EQ(slots_read(2), 1U);
  EXPECT_EQ(slots_read(8), 7U);
  EXPECT_EQ(slots_read(32), 31U);
  EXPECT_EQ(slots_read(33), 7U + 4);
  EXPECT_EQ(slots_read(64), 7U + 7);
  EXPECT_EQ(slots_read(256), 7U + 7 + 3);
  EXPECT_EQ(node_votes::steps(32, node_votes::usual_width(32)).size(), 1U) << "as many as a message needs";
}

TEST(node_votes, a_rank_s_tree_has_every_rank) {
  for (int width = 2; width <= 9; ++width)
    for (int ranks = 1; ranks <= 70; ++ranks) {
      std::set<int> known{0};
      for (const auto& distances : node_votes::steps(ranks, width)) {
        EXPECT_LT(std::ssize(distances), width);
        const std::set<int> before = known;
        for (const int distance : distances)
          for (const int other : before) known.insert((distance + other) % ranks);
      }
      EXPECT_EQ(std::ssize(known), ranks) << "width " << width;
    }
}

/// A wait that knows which ranks it is for, and ends if it is told to.
struct observed_wait final : watchdog::long_wait {
  explicit observed_wait(const std::atomic<bool>& shall_end) : shall_end_(shall_end) {}

  void set_awaited(std::function<bool(int)> is_awaited) override { awaited = std::move(is_awaited); }
  void examine(std::optional<watchdog::scope>&) override {
    if (shall_end_) throw std::runtime_error("told to");
  }

  std::function<bool(int)> awaited;

 private:
  const std::atomic<bool>& shall_end_;
};

/// Calls body(rank, its votes) on a thread for each rank.
template <class Body>
void on_threads(int ranks, int width, Body&& body) {
  struct alignas(64) line {
    std::byte bytes[64] = {};
  };
  std::vector<line> memory(node_votes::bytes(ranks, width) / sizeof(line));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      node_votes mine(memory.data()->bytes, rank, ranks, width);
      body(rank, mine);
    });
}

struct shape {
  int ranks, width;
};

TEST(node_votes, all_ranks_get_the_highest_numbers_whichever_rank_is_late) {
  if (world().rank() != 0) return;
  for (const shape& each : {shape{2, 32}, {3, 2}, {5, 2}, {8, 3}, {33, 8}, {64, 8}, {64, 64}}) {
    const auto highest = [&](int round, int rank) {
      return static_cast<std::uint64_t>((rank * 7 + round * 13) % each.ranks);
    };
    const std::atomic<bool> never = false;
    on_threads(each.ranks, each.width, [&](int rank, node_votes& mine) {
      std::mt19937 own(static_cast<unsigned>(rank));
      for (int round = 0; round < 10; ++round) {
        if (own() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own() % 500));
        observed_wait wait(never);
        const auto number = static_cast<std::uint64_t>(rank);
        const node_votes::votes got = mine.highest({highest(round, rank), number, ~number}, wait);
        std::uint64_t wanted = 0;
        for (int other = 0; other < each.ranks; ++other) wanted = std::max(wanted, highest(round, other));
        EXPECT_EQ(got, (node_votes::votes{wanted, static_cast<std::uint64_t>(each.ranks - 1), ~std::uint64_t{0}}))
            << each.ranks << " ranks, width " << each.width;
      }
    });
  }
}

/// One rank takes part in one agreement less than the others. Each of these waits for it, directly or not.
TEST(node_votes, a_wait_is_for_the_rank_that_does_not_come) {
  if (world().rank() != 0) return;
  for (const shape& each : {shape{3, 32}, {3, 2}, {5, 2}, {8, 3}, {33, 8}}) {
    const int absent = each.ranks / 2;
    std::atomic<bool> shall_end = false;
    std::atomic<int> begun = 0, ended = 0;
    const auto await = [](const std::atomic<int>& count, int wanted) {
      while (count < wanted) std::this_thread::yield();
    };
    on_threads(each.ranks, each.width, [&](int rank, node_votes& mine) {
      observed_wait first(shall_end), second(shall_end);
      mine.highest({}, first);
      ++begun;
      await(begun, each.ranks);
      for (int other = 0; first.awaited && other < each.ranks; ++other) EXPECT_FALSE(first.awaited(other));
      if (rank == absent) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        shall_end = true;
        return;
      }
      EXPECT_THROW(mine.highest({}, second), std::runtime_error);
      ++ended;
      await(ended, each.ranks - 1);
      ASSERT_TRUE(second.awaited);
      EXPECT_TRUE(second.awaited(absent)) << each.ranks << " ranks, width " << each.width << ", rank " << rank;
      if (each.width >= each.ranks) {
        EXPECT_FALSE(second.awaited((absent + 1) % each.ranks)) << "it has shown its votes";
      }
    });
  }
}

/// A duplicate of the world whose agreements go by trees of this width; null if the world is on several nodes.
group tree_world(int width) {
  group made = comm::duplicate(*test::shared_world(), {});
  return made->collectives_on_node(width) != nullptr ? made : nullptr;
}

TEST(node_votes, trees_pass_errors_to_all_ranks) {
  for (const int width : {2, 3, 8}) {
    const group comm = tree_world(width);
    if (!comm) GTEST_SKIP() << "needs several ranks of one node";
    for (int odd = 0; odd < comm->size(); odd += std::max(1, comm->size() / 7)) {
      const bool is_odd = comm->rank() == odd;
      const auto failed = outcome_of([&] {
        comm::collective_call call(*comm, "test_operation");
        call.attempt([&] { base::require(!is_odd, SYNCYTE_ERR_INDEX, "index {} is too large", 12); });
        call.agree();
      });
      EXPECT_EQ(failed.message,
                fmt::format("test_operation failed on rank {} of {}: index 12 is too large", odd, comm->name()));
      const auto differing = outcome_of([&] {
        comm::collective_call call(*comm, "test_operation");
        call.fact("number", is_odd ? 8 : 7);
        call.agree();
      });
      expect_error(differing, SYNCYTE_ERR_MISMATCH, fmt::format("8 on rank {}", odd));
      EXPECT_EQ(outcome_of([&] { collectives::barrier(*comm); }).status, SYNCYTE_SUCCESS);
    }
  }
}

/// The last rank is marked as if it had come to finalize; rank 0 is late.
TEST(node_votes, trees_name_the_rank_that_has_departed) {
  const group comm = tree_world(2);
  if (!comm) GTEST_SKIP() << "needs several ranks of one node";
  const int last = comm->size() - 1;
  if (comm->rank() == last) {
    comm::mark_departed();
  } else {
    if (comm->rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    expect_error(outcome_of([&] { collectives::barrier(*comm); }), SYNCYTE_ERR_MISMATCH,
                 fmt::format("rank {} (rank {} of the world) has come to finalize", last, last));
  }
  collectives::barrier(world());
  if (comm->rank() == last) watchdog::published.load()->mine().departed_ns = 0;
  collectives::barrier(world());
}

}  // namespace
