// SPDX-License-Identifier: BSD-3-Clause
// Keys that move between nodes: where they are, that no write is lost or doubled, and that operations of one worker
// stay in order, while ranks take keys from each other.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "mpi/small_collectives.hpp"
#include "store_user.hpp"

namespace {

using namespace syncyte;
using kv::completion;
using test::counting_user;
using test::key_list;
using test::keys_from;
using test::make_store;
using test::mixed_lengths;
using test::user;
using test::value_list;
using test::world;

TEST(moving_keys, localize_brings_keys_here_with_their_values) {
  const auto store = make_store(60, {3});
  user mine(store);
  if (world().rank() == 0) {
    value_list values(180);
    std::iota(values.begin(), values.end(), 0.0f);
    mine.set(keys_from(0, 60), values);
  }
  (*mine).barrier();
  for (int taker = 0; taker < world().size(); ++taker) {
    const key_list wanted = keys_from(5, 10);
    value_list found(30, -1);
    if (taker == world().rank()) {
      mine.localize(wanted);
      EXPECT_TRUE(store->are_local(wanted));
      ASSERT_TRUE(mine.pull_if_local(wanted, found));
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], static_cast<float>(15 + i) + taker);
      mine.push(wanted, value_list(30, 1.0f));
    }
    (*mine).barrier();
    EXPECT_EQ(mine.pull(wanted, 30)[7], 22.0f + static_cast<float>(taker) + 1);
    (*mine).barrier();
  }
}

TEST(moving_keys, a_key_is_at_one_node) {
  const auto store = make_store(10, {1});
  user mine(store);
  mine.localize(keys_from(0, 10));
  (*mine).barrier();
  for (std::int64_t key = 0; key < 10; ++key) {
    const bool is_here = store->are_local(key_list{key});
    const bool counts = is_here && world().node().rank == 0;
    EXPECT_EQ(mpi::allreduce(std::uint64_t{counts}, MPI_SUM, world().data()), 1u) << "key " << key;
  }
  mine.push(keys_from(0, 10), value_list(10, 1.0f));
  (*mine).barrier();
  EXPECT_EQ(mine.pull(keys_from(0, 10), 10), value_list(10, static_cast<float>(world().size())));
}

TEST(moving_keys, repeat_in_a_list) {
  const auto store = make_store(8, {2});
  user mine(store);
  const key_list keys{3, 3, 5, 3};
  if (world().rank() == 0) {
    mine.localize(keys);
    mine.push(keys, value_list(8, 1.0f));
  }
  (*mine).barrier();
  EXPECT_EQ(mine.pull({3, 5}, 4), (value_list{3, 3, 1, 1}));
  (*mine).barrier();
  if (world().rank() == world().size() - 1) mine.set(keys, {1, 1, 2, 2, 3, 3, 4, 4});
  (*mine).barrier();
  EXPECT_EQ(mine.pull({3, 5}, 4), (value_list{4, 4, 3, 3}));
}

/// All ranks push integers to random keys, pull them, and take them from each other.
void storm(const key_list& lengths, std::int64_t keys, std::int64_t foreign_bytes, int rounds) {
  const auto store = make_store(keys, lengths, foreign_bytes);
  counting_user mine(store, lengths, keys, 17);
  for (int round = 0; round < rounds; ++round) {
    const key_list wanted = mine.random_keys();
    if (mine.random() % 3 == 0) mine.localize(wanted);
    if (mine.random() % 3 == 0) mine.intend(wanted, mine->clock(), mine->clock() + 1 + mine.random() % 3);
    if (mine.random() % 4 == 0) mine->advance_clock();
    mine.push_or_pull(wanted);
  }
  mine.check_sums();
}

TEST(moving_keys, lose_and_double_nothing_in_a_storm) { storm({4}, 40, -1, 1500); }
TEST(moving_keys, of_different_lengths_lose_nothing) { storm(mixed_lengths(50), 50, -1, 800); }
TEST(moving_keys, have_the_memory_that_the_lowest_rank_of_a_node_gives) {
  storm({4}, 40, 1024 * (1 + world().rank() % 3), 500);
}
TEST(moving_keys, beyond_the_budget_stay_at_home) {
  storm({4}, 40, 0, 300);
  storm({4}, 40, 256, 800);
}

/// Each rank has keys of its own for writing, which all others take away all the time. A push in flight comes before a
/// later pull, started or not, wherever the key is meanwhile.
TEST(moving_keys, keep_the_order_of_started_operations) {
  constexpr std::int64_t keys = 40;
  constexpr int rounds = 600;
  const auto store = make_store(keys, {2});
  user mine(store);
  std::mt19937 random(static_cast<unsigned>(world().rank()) + 5);
  std::vector<float> expected(keys);
  key_list own;  // of any home
  for (std::int64_t key = 0; key < keys; ++key)
    if (key / world().size() % world().size() == world().rank()) own.push_back(key);
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t key = own[random() % own.size()];
    const auto at = static_cast<std::size_t>(key);
    value_list ones(2, 1.0f), sets(2, static_cast<float>(round)), found(2, -1), between(2, -1);
    const bool replaces = random() % 3 == 0;
    std::vector<kv::worker::started> started;
    const float before = expected[at];
    started.push_back(mine.start(kv::pull, {key}, between));
    started.push_back(replaces ? mine.start(kv::set, {key}, sets) : mine.start(kv::push, {key}, ones));
    expected[at] = replaces ? static_cast<float>(round) : expected[at] + 1;
    if (random() % 2 == 0) started.push_back(mine.ilocalize({key}));
    if (random() % 2 == 0) started.push_back(mine.ilocalize({static_cast<std::int64_t>(random() % keys)}));
    if (random() % 3 == 0) mine.intend({static_cast<std::int64_t>(random() % keys), key}, round, round + 2);
    mine->advance_clock();
    if (random() % 2 == 0) {
      ASSERT_EQ(mine.pull({key}, 2), value_list(2, expected[at])) << "round " << round;
    } else {
      started.push_back(mine.start(kv::pull, {key}, found));
    }
    if (random() % 3 == 0) {
      value_list more(2, 1.0f);
      mine.start(kv::push, {key}, more, completion::on_return);
      expected[at] += 1;
    }
    const float after = expected[at];
    for (const auto& each : started)
      if (each) each->wait();
    ASSERT_EQ(between, value_list(2, before)) << "round " << round;
    ASSERT_LE(found[0], after);
  }
  (*mine).barrier();
  for (const std::int64_t key : own)
    EXPECT_EQ(mine.pull({key}, 2), value_list(2, expected[static_cast<std::size_t>(key)]));
  (*mine).barrier();
}

/// A push waits behind many others on its way to the home, and the key arrives here before it gets there.
TEST(moving_keys, come_after_operations_on_their_way_to_the_home) {
  constexpr std::int64_t keys = 2400, length = 1000;
  const auto store = make_store(keys, {length}, 4 << 20);
  user mine(store);
  key_list last, others;
  for (std::int64_t key = 0; key < keys; ++key) {
    const bool is_elsewhere = !store->are_local(key_list{key});
    if (is_elsewhere && std::ssize(last) < 3)
      last.push_back(key);
    else if (is_elsewhere)
      others.push_back(key);
  }
  (*mine).barrier();
  const auto of = [](const key_list& list) { return list.size() * length; };
  for (int turn = 0; turn < world().size(); ++turn) {
    if (turn == world().rank()) {
      const value_list before = mine.pull(last, of(last));
      value_list many(of(others), 1.0f), ones(of(last), 1.0f);
      const auto first = mine.start(kv::push, others, many), second = mine.start(kv::push, last, ones);
      mine.localize(last);
      ones.assign(ones.size(), 1.0f);
      mine.push(last, ones);  // follows the second
      const value_list found = mine.pull(last, of(last));
      for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], before[i] + 2);
      if (first) first->wait();
      if (second) second->wait();
      EXPECT_TRUE(last.empty() || store->are_local(last));
    }
    (*mine).barrier();
  }
}

TEST(moving_keys, serve_several_threads) {
  constexpr int threads = 3;
  constexpr std::int64_t keys = 12;
  const auto store = make_store(keys, {1}, -1, threads);
  std::vector<std::thread> running;
  for (int number = 0; number < threads; ++number)
    running.emplace_back([&, number] {
      user mine(store, number);
      for (int round = 0; round < 150; ++round) {
        const std::int64_t key = (round * (number + 1) + world().rank()) % keys;
        if (round % 5 == number) mine.localize({key});
        mine.push({key}, {1.0f});
      }
      (*mine).flush();
    });
  for (std::thread& each : running) each.join();
  store->sync();
  value_list found(keys);
  store->run(kv::pull, keys_from(0, keys), found.data());
  EXPECT_EQ(std::accumulate(found.begin(), found.end(), 0.0f), 150.0f * threads * world().size());
  store->sync();
}

}  // namespace
