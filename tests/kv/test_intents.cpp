// SPDX-License-Identifier: BSD-3-Clause
// Intents of workers: which keys they bring to a node, from when on and until when.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/buffer.hpp"
#include "store_user.hpp"

namespace {

using namespace syncyte;
using test::is_first;
using test::is_last;
using test::key_list;
using test::keys_from;
using test::make_store;
using test::user;
using test::world;

constexpr std::int64_t keys = 40;

bool has_nodes() { return world().node().count > 1; }

std::int64_t count_local(const kv::store& of, const key_list& list) {
  return std::ranges::count_if(list, [&](std::int64_t key) { return of.are_local({&key, 1}); });
}

class intents : public ::testing::Test {
 protected:
  std::shared_ptr<kv::store> store = make_store(keys, {2}, -1, 1, SYNCYTE_STORE_INTENTS_MOVE);
  const key_list wanted = keys_from(5, 20);

  bool are_here() const { return store->are_local(wanted); }
  void end_window(user& mine, std::int64_t end) {
    while (mine->clock() < end) mine->advance_clock();
    mine->flush();
  }
};

TEST_F(intents, bring_keys_before_their_clock_and_keep_them) {
  user mine(store);
  if (is_first()) {
    mine.intend(wanted, 1, 3);
    mine->flush();
    EXPECT_TRUE(are_here());
  }
  mine->barrier();
  if (is_last() && has_nodes()) {
    mine.intend(wanted, 0, 2);
    mine->flush();
    EXPECT_EQ(count_local(*store, wanted), 0);  // the first rank intends them
  }
  mine->barrier();
  if (is_first()) {
    end_window(mine, 2);
    EXPECT_TRUE(are_here());
  }
  mine->barrier();
  if (is_last() && has_nodes()) {
    mine.intend(wanted, 0, 2);
    mine->flush();
    EXPECT_EQ(count_local(*store, wanted), 0);  // the window has one clock left
  }
  mine->barrier();
  if (is_first()) {
    end_window(mine, 3);
    EXPECT_TRUE(are_here());  // nobody has asked for them since
  }
  mine->barrier();
  if (is_last()) {
    mine.intend(wanted, 0, 2);
    mine->flush();
    EXPECT_TRUE(are_here());
  }
  mine->barrier();
}

TEST_F(intents, make_requests_needless) {
  user mine(store);
  mine->barrier();
  if (is_last()) {
    const std::int64_t remote = std::ssize(wanted) - count_local(*store, wanted);
    mine.pull(wanted, 2 * wanted.size());
    EXPECT_EQ(mine->describe().remote_keys, remote);
    mine.intend(wanted, 0, 1);
    mine->flush();
    mine.push(wanted, test::value_list(2 * wanted.size(), 1.0f));
    mine.pull(wanted, 2 * wanted.size());
    mine.set(wanted, test::value_list(2 * wanted.size(), 1.0f));
    EXPECT_EQ(mine->describe().remote_keys, remote);
  }
  mine->barrier();
}

TEST_F(intents, move_nothing_long_before_their_clock_nor_after_it) {
  user mine(store);
  const std::int64_t before = count_local(*store, wanted);
  if (is_last()) {
    mine.intend(wanted, 1000, 1001);
    end_window(mine, 2);
    mine.intend(wanted, 0, 2);  // it is over
    mine->flush();
    EXPECT_EQ(count_local(*store, wanted), before);
  }
  mine->barrier();
}

TEST_F(intents, stay_open_through_windows_that_follow_each_other) {
  user mine(store);
  if (is_first()) {
    for (std::int64_t start = 0; start < 5; ++start) mine.intend(wanted, start, start + 1);
    end_window(mine, 4);
  }
  mine->barrier();
  if (is_last() && has_nodes()) {
    mine.intend(wanted, 0, 1);
    mine->flush();
    EXPECT_EQ(count_local(*store, wanted), 0);
  }
  mine->barrier();
}

TEST_F(intents, of_several_workers_are_counted) {
  store = make_store(keys, {2}, -1, 2, SYNCYTE_STORE_INTENTS_MOVE);
  user mine(store), other(store, 1);
  if (is_first()) {
    mine.intend(wanted, 0, 1);
    other.intend(wanted, 0, 3);
    end_window(mine, 1);
    other->flush();
  }
  store->sync();
  if (is_last() && has_nodes()) {
    mine.intend(wanted, 0, 2);
    mine->flush();
    EXPECT_EQ(count_local(*store, wanted), 0);
  }
  store->sync();
  if (is_first()) end_window(other, 3);
  store->sync();
  if (is_last()) {
    other.intend(wanted, 0, 2);
    other->flush();
    EXPECT_TRUE(are_here());
  }
  store->sync();
}

TEST_F(intents, do_not_keep_keys_from_a_localize) {
  user mine(store);
  if (is_first()) {
    mine.intend(wanted, 0, 1000);
    mine->flush();
  }
  mine->barrier();
  if (is_last()) {
    mine.localize(wanted);
    EXPECT_TRUE(are_here());
  }
  mine->barrier();
}

TEST_F(intents, end_with_their_worker) {
  if (is_first()) {
    user mine(store);
    mine.intend(wanted, 0, 1000);
    mine->flush();
    EXPECT_TRUE(are_here());
  }
  store->sync();
  if (is_last()) {
    user mine(store);
    const auto begin = std::chrono::steady_clock::now();
    do {  // the end of the worker is on its way
      mine.intend(wanted, mine->clock(), mine->clock() + 2);
      mine->flush();
      mine->advance_clock();
    } while (!are_here() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
    EXPECT_TRUE(are_here());
  }
  store->sync();
}

TEST_F(intents, of_samples_end_with_them) {
  syncyte_store_sampling_t sampling = SYNCYTE_STORE_SAMPLING_INIT;
  sampling.scheme = SYNCYTE_STORE_INTENDED;
  sampling.max_key = keys;
  store->set_sampling(sampling);
  user mine(store);
  constexpr std::size_t drawn = 30;
  key_list sample(drawn);
  std::vector<float> values(2 * drawn);
  const std::int64_t shape[] = {drawn}, value_shape[] = {2 * drawn};
  const auto room = base::make_buffer(sample.data(), SYNCYTE_INT64, shape);
  const auto values_room = base::make_buffer(values.data(), SYNCYTE_FLOAT32, value_shape);
  if (is_first()) {
    const std::int64_t id = mine->prepare_sample(drawn, 0, 1000);
    mine->flush();
    mine->pull_sample(id, &room, &values_room, kv::completion::on_return);
    EXPECT_TRUE(store->are_local(sample));
    mine->finish_sample(mine->prepare_sample(drawn, 0, 1000));
    mine->flush();
  }
  mine->barrier();
  if (is_last()) {
    mine.intend(keys_from(0, keys), 0, 1);
    mine->flush();
    EXPECT_TRUE(store->are_local(keys_from(0, keys)));
  }
  mine->barrier();
}

TEST_F(intents, of_a_million_keys_and_without_memory_for_them) {
  const auto small = make_store(keys, {2}, 0);
  user mine(small);
  mine.intend(wanted, 0, 1000);
  mine->flush();
  EXPECT_EQ(mine.pull(wanted, 40), std::vector<float>(40));
  mine->barrier();
  const auto large = make_store(1000000, {1}, 1 << 20);
  user other(large);
  const auto counted = [&] { return other->describe().active_intents; };
  if (is_last()) {
    other.intend(keys_from(0, 1000000), 0, 2);
    EXPECT_EQ(counted(), 1000000);
    other->flush();
    other->advance_clock();
    other->advance_clock();
    EXPECT_EQ(counted(), 0);
  }
  other->barrier();
}

TEST_F(intents, have_an_effect_that_is_equal_on_all_ranks) {
  const auto make = [](syncyte_store_intents_t effect) { make_store(3, {1}, -1, 1, effect); };
  test::expect_error(test::outcome_of([&] { make(4); }), SYNCYTE_ERR_ARGUMENT, "options->intents is 4");
  if (world().size() == 1) return;
  const auto mixed = is_first() ? SYNCYTE_STORE_INTENTS_MOVE : SYNCYTE_STORE_INTENTS_COPY;
  test::expect_error(test::outcome_of([&] { make(mixed); }), SYNCYTE_ERR_MISMATCH, "intents");
}

}  // namespace
