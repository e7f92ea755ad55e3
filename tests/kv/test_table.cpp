// SPDX-License-Identifier: BSD-3-Clause
// The store's values in the memory of one node: against a simple loop, by several threads at once, and after the death
// of a process.

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "kv/table.hpp"
#include "reference.hpp"
#include "watchdog/interrupts.hpp"

namespace {

using namespace syncyte;
using key_list = std::vector<std::int64_t>;

/// A table's memory, and tables on it as the processes of a node have them.
class memory {
 public:
  explicit memory(kv::key_layout layout)
      : words_(static_cast<std::size_t>(layout.keys())), values_(layout.first(layout.keys())), layout_(layout) {}

  kv::table seen_by(int process, std::function<bool(int)> is_alive = [](int) { return true; }) {
    return {layout_, words_.data(), values_.data(), {process, std::move(is_alive)}};
  }
  std::uint64_t& word(std::int64_t key) { return words_[static_cast<std::size_t>(key)]; }

 private:
  std::vector<std::uint64_t> words_, values_;
  kv::key_layout layout_;
};

std::vector<float> pulled(const kv::table& table, const key_list& keys) {
  table.require_inside(keys);
  std::vector<float> values(static_cast<std::size_t>(table.count_values(keys)), -1);
  table.pull(keys, values.data());
  return values;
}

using result = std::pair<syncyte_status_t, std::string>;

/// The error that `work` throws.
template <class Work>
result outcome(Work&& work) {
  try {
    work();
    return {SYNCYTE_SUCCESS, ""};
  } catch (const base::error& error) {
    return {error.status(), error.what()};
  }
}

TEST(key_layout, places_vectors_of_any_lengths) {
  const key_list lengths{1, 2, 7, 16, 3};
  const auto places = kv::key_layout::places(lengths);
  const kv::key_layout layout{std::span<const std::int64_t>(places)};
  ASSERT_EQ(layout.keys(), 5);
  std::size_t first = 0;
  for (std::int64_t key = 0; key < 5; ++key) {
    const std::int64_t length = lengths[static_cast<std::size_t>(key)];
    EXPECT_EQ(layout.length(key), length);
    EXPECT_EQ(layout.first(key), first);
    first += static_cast<std::size_t>((length + 1) / 2);
  }
  EXPECT_EQ(layout.first(5), first);
  const kv::key_layout equal(5, 7);
  EXPECT_EQ(equal.first(3), 12u);
}

void check_against_loop(const kv::key_layout& layout) {
  memory shared(layout);
  kv::table table = shared.seen_by(0);
  std::vector<std::vector<float>> expected;
  for (std::int64_t key = 0; key < layout.keys(); ++key)
    expected.emplace_back(static_cast<std::size_t>(layout.length(key)), 0.0f);
  for (int round = 0; round < 30; ++round) {
    const key_list keys = reference::random_rows<std::int64_t>(3, round, 50, layout.keys());  // some repeat
    std::vector<float> values;
    for (const std::int64_t key : keys)
      for (std::int64_t i = 0; i < layout.length(key); ++i)
        values.push_back(
            static_cast<float>(reference::random_integer(4, round, static_cast<std::int64_t>(values.size()), -9, 9)));
    const bool sets = round % 3 == 0;
    table.require_inside(keys);
    EXPECT_EQ(table.count_values(keys), static_cast<std::int64_t>(values.size()));
    sets ? table.set(keys, values.data()) : table.push(keys, values.data());
    const float* given = values.data();
    for (const std::int64_t key : keys)
      for (float& element : expected[static_cast<std::size_t>(key)]) {
        element = sets ? *given : element + *given;
        ++given;
      }
  }
  for (std::int64_t key = 0; key < layout.keys(); ++key)
    EXPECT_EQ(pulled(table, {key}), expected[static_cast<std::size_t>(key)]) << key;
}

TEST(table, equals_the_loop_for_vectors_of_one_length) {
  for (const std::int64_t length : {1, 2, 3, 16, 17, 1000}) check_against_loop(kv::key_layout(31, length));
}

TEST(table, equals_the_loop_for_vectors_of_any_length) {
  const auto places = kv::key_layout::places(key_list{3, 1, 16, 2, 5, 5, 1, 300});
  check_against_loop(kv::key_layout{std::span<const std::int64_t>(places)});
}

TEST(table, refuses_keys_that_are_not_there) {
  memory shared(kv::key_layout(10, 2));
  const kv::table table = shared.seen_by(0);
  const auto refused = [&](const key_list& keys, const char* text) {
    EXPECT_EQ(outcome([&] { table.require_inside(keys); }), result(SYNCYTE_ERR_INDEX, text));
  };
  refused({1, 10, -1}, "keys[1] is 10; expected 0 to 9");
  refused({-1}, "keys[0] is -1; expected 0 to 9");
  EXPECT_EQ(outcome([&] { table.require_inside({}); }), outcome([] {}));
  EXPECT_EQ(table.count_values({}), 0);
}

TEST(table, pushes_of_several_threads_are_all_there) {
  constexpr std::int64_t keys = 5, length = 6;
  constexpr int threads = 3, rounds = 20000;
  memory shared(kv::key_layout(keys, length));
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&shared, thread] {
      kv::table mine = shared.seen_by(thread);
      const std::vector<float> ones(2 * length, 1.0f);
      for (int round = 0; round < rounds; ++round)
        mine.push(key_list{round % keys, (round + thread) % keys}, ones.data());
    });
  running.clear();  // joins
  key_list all(keys);
  std::iota(all.begin(), all.end(), 0);
  const auto values = pulled(shared.seen_by(0), all);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0.0), 2.0 * length * threads * rounds);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], values[i / length * length]);
}

TEST(table, a_pull_sees_a_whole_write_or_nothing_of_it) {
  constexpr std::int64_t length = 33;
  memory shared(kv::key_layout(1, length));
  std::atomic<bool> is_over = false;
  std::jthread writer([&] {
    kv::table mine = shared.seen_by(1);
    std::vector<float> values(length);
    for (int round = 0; !is_over; ++round) {
      std::fill(values.begin(), values.end(), static_cast<float>(round % 2 == 0 ? round : 1));
      round % 2 == 0 ? mine.set(key_list{0}, values.data()) : mine.push(key_list{0}, values.data());
      if (round % 100 == 0) std::this_thread::yield();
    }
  });
  const kv::table mine = shared.seen_by(0);
  float last = 0;
  for (int changes = 0; changes < 200;) {
    const auto values = pulled(mine, {0});
    for (const float element : values) EXPECT_EQ(element, values[0]);
    EXPECT_GE(values[0], last);
    changes += values[0] != last;
    last = values[0];
  }
  is_over = true;
}

TEST(table, a_key_whose_writer_has_died_is_damaged_until_it_is_set) {
  memory shared(kv::key_layout(4, 2));
  kv::table mine = shared.seen_by(0, [](int process) { return process != 7; });
  const std::vector<float> ones(6, 1.0f);
  mine.push(key_list{0, 1, 2}, ones.data());
  kv::key_locks theirs(&shared.word(0), {7, [](int) { return true; }});
  theirs.begin_write(1, kv::key_locks::damage::is_refused);  // and then the process died
  const std::string text = "key 1 is damaged: rank 7 of the world died while it wrote its values; set() repairs it";
  EXPECT_EQ(outcome([&] { pulled(mine, {1}); }), result(SYNCYTE_ERR_PEER_DIED, text));
  EXPECT_EQ(outcome([&] { mine.push(key_list{0, 1, 2}, ones.data()); }), result(SYNCYTE_ERR_PEER_DIED, text));
  EXPECT_EQ(pulled(mine, {0, 2}), (std::vector<float>{2, 2, 1, 1}));  // the push has done the keys before key 1
  mine.set(key_list{1}, ones.data());
  EXPECT_EQ(pulled(mine, {1}), (std::vector<float>{1, 1}));
}

TEST(table, a_waiter_waits_for_a_living_writer) {
  memory shared(kv::key_layout(2, 2));
  kv::key_locks theirs(&shared.word(0), {1, [](int) { return true; }});
  theirs.begin_write(0, kv::key_locks::damage::is_refused);
  std::jthread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    theirs.end_write(0);
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(pulled(shared.seen_by(0), {0}), (std::vector<float>{0, 0}));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(15));
}

/// A process that is stopped, as by a debugger, holds its lock.
TEST(table, a_wait_for_a_writer_can_be_interrupted) {
  memory shared(kv::key_layout(2, 2));
  kv::key_locks theirs(&shared.word(0), {1, [](int) { return true; }});
  theirs.begin_write(0, kv::key_locks::damage::is_refused);
  kv::table mine = shared.seen_by(0);
  const std::vector<float> ones{1, 1, 1, 1};
  watchdog::set_interrupt_function([](void*) { return std::int32_t{1}; }, nullptr);
  EXPECT_THROW(pulled(mine, {0}), watchdog::interrupted);
  EXPECT_THROW(mine.push(key_list{1, 0}, ones.data()), watchdog::interrupted);
  EXPECT_THROW(mine.set(key_list{0}, ones.data()), watchdog::interrupted);
  watchdog::set_interrupt_function(nullptr, nullptr);
  theirs.end_write(0);
  EXPECT_EQ(pulled(mine, {0, 1}), (std::vector<float>{0, 0, 1, 1}));
}

TEST(table, tells_which_keys_are_elsewhere) {
  memory shared(kv::key_layout(4, 2));
  kv::table mine = shared.seen_by(0);
  kv::key_locks locks(&shared.word(0), {1, [](int) { return true; }});
  const std::vector<kv::listed_key> list{{0, 0}, {1, 2}, {2, 4}, {3, 6}};
  std::vector<float> values(8, 1.0f), found(8, -1.0f);
  ASSERT_EQ(locks.try_begin_write(1, kv::key_locks::damage::is_refused), kv::key_locks::attempt::locked);
  locks.leave(1);
  kv::absent_keys absent;
  key_list shared_slots;
  mine.push(list, values.data(), absent, shared_slots);
  EXPECT_EQ(absent, kv::absent_keys{1});
  EXPECT_EQ(shared_slots, key_list{});
  absent.clear();
  mine.pull(list, found.data(), absent);
  EXPECT_EQ(absent, kv::absent_keys{1});
  EXPECT_EQ(found, (std::vector<float>{1, 1, -1, -1, 1, 1, 1, 1}));
  absent.clear();
  mine.set(list, values.data(), absent);
  EXPECT_EQ(absent, (kv::absent_keys{1, 2, 3}));  // a key may repeat, and come back meanwhile
  absent.clear();
  EXPECT_EQ(mine.try_set(key_list{0, 1, 2}, reinterpret_cast<const std::byte*>(values.data()), absent), 3u);
  EXPECT_EQ(absent, kv::absent_keys{1});
  EXPECT_FALSE(mine.locks().begin_write(1, kv::key_locks::damage::is_mended));
  locks.come_back(1);
  EXPECT_EQ(pulled(mine, {1}), (std::vector<float>{0, 0}));
}

/// Workers of the node read shared keys and add to them; the serving thread looks first at who has copies.
TEST(table, tells_which_keys_are_shared) {
  memory shared(kv::key_layout(3, 2));
  kv::table mine = shared.seen_by(0);
  kv::key_locks locks(&shared.word(0), {1, [](int) { return true; }});
  const std::vector<kv::listed_key> list{{0, 0}, {1, 2}, {2, 4}};
  std::vector<float> values(6, 1.0f), found(6, -1.0f);
  const auto given = reinterpret_cast<const std::byte*>(values.data());
  ASSERT_TRUE(locks.begin_write(1, kv::key_locks::damage::is_refused));
  EXPECT_FALSE(mine.locks().end_sharing(1));  // it is being written
  locks.share(1);
  kv::absent_keys absent;
  key_list shared_slots;
  mine.push(list, values.data(), absent, shared_slots);
  mine.pull(list, found.data(), absent);
  EXPECT_EQ(absent, kv::absent_keys{});
  EXPECT_EQ(shared_slots, key_list{1});
  EXPECT_EQ(found, values);
  mine.set(list, values.data(), absent);
  EXPECT_EQ(absent, (kv::absent_keys{1, 2}));
  const auto serve = [&](auto&& attempt) {
    absent.clear();
    EXPECT_EQ(attempt(), 3u);
    EXPECT_EQ(absent, kv::absent_keys{1});
  };
  serve([&] { return mine.try_pull(key_list{0, 1, 2}, reinterpret_cast<std::byte*>(found.data()), absent); });
  serve([&] { return mine.try_push(key_list{0, 1, 2}, given, absent); });
  serve([&] { return mine.try_set(key_list{0, 1, 2}, given, absent); });
  EXPECT_EQ(mine.try_push_shared(1, given), kv::access_result::done_shared);
  EXPECT_EQ(mine.try_pull_shared(1, reinterpret_cast<std::byte*>(found.data())), kv::access_result::done);
  EXPECT_EQ(found[0], 2.0f);
  EXPECT_TRUE(mine.locks().end_sharing(1));
  absent.clear();
  mine.set(list, values.data(), absent);
  EXPECT_EQ(absent, kv::absent_keys{});
}

}  // namespace
