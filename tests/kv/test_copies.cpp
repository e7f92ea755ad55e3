// SPDX-License-Identifier: BSD-3-Clause
// Copies of keys that workers of several nodes intend to use.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "mpi/small_collectives.hpp"
#include "store_user.hpp"

namespace {

using namespace syncyte;
using test::completion;
using test::counting_user;
using test::is_first;
using test::is_last;
using test::key_list;
using test::keys_from;
using test::make_store;
using test::mixed_lengths;
using test::user;
using test::value_list;
using test::world;

float ranks() { return static_cast<float>(world().size()); }

constexpr std::int64_t keys = 40;
const key_list all = keys_from(0, keys);

/// Every rank intends to use all keys for long.
class copies : public ::testing::Test {
 protected:
  explicit copies(syncyte_store_intents_t intents = SYNCYTE_STORE_INTENTS_MOVE_OR_COPY)
      : store(make_store(keys, {2}, 1 << 20, 1, intents)), mine(store) {}

  /// When all nodes have their keys, some have shared a main copy, and their copies of these keys come with the second
  /// flush.
  void intend_all() {
    mine.intend(all, mine->clock(), mine->clock() + 1000);
    for (int i = 0; i < 2; ++i) {
      mine->flush();
      mine->barrier();
    }
  }
  bool are_here() const { return store->are_local(all); }
  value_list pull() { return mine.pull(all, 2 * keys); }
  void push(float value) { mine.push(all, value_list(2 * keys, value)); }

  std::shared_ptr<kv::store> store;
  user mine;
};

/// Only intents of several nodes at the same time; the first one has the main copies before.
TEST_F(copies, come_to_each_node_that_intends_a_key) {
  intend_all();
  EXPECT_TRUE(are_here());
  EXPECT_EQ(pull(), value_list(2 * keys, 0));
  mine->barrier();
}

TEST_F(copies, show_all_pushes_after_a_barrier) {
  intend_all();
  for (int round = 1; round <= 30; ++round) {
    push(1);
    const value_list own = pull();
    for (const float value : own) ASSERT_GE(value, static_cast<float>(round - 1) * ranks() + 1) << "its own push";
    mine->barrier();
    ASSERT_EQ(pull(), value_list(2 * keys, static_cast<float>(round) * ranks())) << "round " << round;
    mine->barrier();
  }
  EXPECT_TRUE(are_here());
  mine->barrier();
}

TEST_F(copies, show_all_pushes_after_sync) {
  intend_all();
  for (int round = 1; round <= 10; ++round) {
    push(1);
    store->sync();
    ASSERT_EQ(pull(), value_list(2 * keys, static_cast<float>(round) * ranks()));
    store->sync();
  }
}

/// Nobody sends anything else, and no worker calls anything.
TEST_F(copies, show_a_push_of_another_node_soon) {
  intend_all();
  if (is_last()) push(1);
  const auto begin = std::chrono::steady_clock::now();
  value_list found = pull();
  while (std::ranges::count(found, 1.0f) < 2 * keys &&
         std::chrono::steady_clock::now() - begin < std::chrono::seconds(5)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    found = pull();
  }
  EXPECT_EQ(found, value_list(2 * keys, 1));
  mine->barrier();
}

TEST_F(copies, end_before_a_set_and_come_again) {
  intend_all();
  for (int round = 0; round < 20; ++round) {
    push(1);
    mine->barrier();
    if (round % world().size() == world().rank()) {
      mine.set(all, value_list(2 * keys, 100.0f));
      for (const float value : pull()) ASSERT_EQ(value, 100.0f);
      push(1);
    }
    mine->barrier();
    ASSERT_EQ(pull(), value_list(2 * keys, 101.0f)) << "round " << round;
    mine->barrier();
  }
  mine->flush();
  mine->barrier();
  mine->flush();
  EXPECT_TRUE(are_here());
  mine->barrier();
}

/// More sets than a home takes at once wait for the end of copies at nodes whose own sets wait likewise: at the next
/// rank, and at last at the first one again.
TEST_F(copies, end_while_sets_wait_in_a_circle) {
  intend_all();
  const int next = (world().rank() + 1) % world().size(), last = world().size() - 1;
  std::vector<std::int32_t> homes(all.size());
  store->owner({all.data(), keys}, homes.data());
  for (int round = 0; round < 10; ++round) {
    value_list tags(2, static_cast<float>(100 * round + world().rank()));
    std::vector<kv::worker::started> sets;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (homes[i] == next) sets.push_back(mine.start(kv::set, {all[i]}, tags, completion::by_request));
    for (const auto& each : sets)
      if (each) each->wait();
    mine->barrier();
    const value_list found = pull();
    for (std::size_t i = 0; i < all.size(); ++i)
      ASSERT_EQ(found[2 * i], static_cast<float>(100 * round + (homes[i] + last) % world().size()));
    mine->flush();  // the copies come again
    mine->barrier();
  }
}

TEST_F(copies, end_with_their_window) {
  intend_all();
  push(1);
  while (mine->clock() < 1001) mine->advance_clock();
  mine->flush();
  mine->barrier();
  EXPECT_EQ(pull(), value_list(2 * keys, ranks()));
  std::int64_t here = 0;
  for (int attempt = 0; attempt < 2000; ++attempt) {  // the last copies are on their way home
    here = std::ranges::count_if(all, [&](std::int64_t key) { return store->are_local({&key, 1}); });
    const auto counted = static_cast<std::uint64_t>(world().node().rank == 0 ? here : 0);
    if (mpi::allreduce(counted, MPI_SUM, world().data()) == static_cast<std::uint64_t>(keys)) break;
  }
  const auto counted = static_cast<std::uint64_t>(world().node().rank == 0 ? here : 0);
  EXPECT_EQ(mpi::allreduce(counted, MPI_SUM, world().data()), static_cast<std::uint64_t>(keys));
  mine->barrier();
}

TEST_F(copies, of_a_localized_key_end) {
  intend_all();
  push(1);
  mine->barrier();
  if (is_first()) {
    mine.localize(all);
    mine.push(all, value_list(2 * keys, 1.0f));
  }
  mine->barrier();
  EXPECT_EQ(pull(), value_list(2 * keys, ranks() + 1));
  mine->barrier();
}

/// All ranks push integers to random keys and pull them, while windows open and close.
void storm(const key_list& lengths, std::int64_t foreign_bytes, syncyte_store_intents_t intents, int rounds) {
  const auto store = make_store(keys, lengths, foreign_bytes, 1, intents);
  counting_user mine(store, lengths, keys, 3);
  for (int round = 1; round <= rounds; ++round) {
    const key_list wanted = mine.random_keys();
    if (mine.random() % 2 == 0) mine.intend(wanted, mine->clock(), mine->clock() + 1 + mine.random() % 4);
    if (mine.random() % 20 == 0) mine.localize(wanted);
    if (mine.random() % 3 == 0) mine->advance_clock();
    mine.push_or_pull(wanted);
    if (round % 100 == 0) mine.check_sums();
  }
}

TEST(copying_keys, lose_and_double_nothing_in_a_storm) {
  storm({4}, -1, SYNCYTE_STORE_INTENTS_MOVE_OR_COPY, 600);
  storm({4}, -1, SYNCYTE_STORE_INTENTS_COPY, 600);
}
TEST(copying_keys, of_different_lengths_lose_nothing) {
  storm(mixed_lengths(keys), -1, SYNCYTE_STORE_INTENTS_MOVE_OR_COPY, 500);
}
TEST(copying_keys, lose_nothing_in_little_memory) {
  storm({4}, 512, SYNCYTE_STORE_INTENTS_MOVE_OR_COPY, 400);
  storm({4}, 0, SYNCYTE_STORE_INTENTS_COPY, 200);
}

}  // namespace
