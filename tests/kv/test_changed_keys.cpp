// SPDX-License-Identifier: BSD-3-Clause
// Keys that workers have changed, until their home takes them (kv/changed_keys.hpp).

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "kv/changed_keys.hpp"
#include "simulated_store.hpp"

namespace {

using namespace syncyte;
using slots = std::vector<std::int64_t>;

/// Keys of a rank, the first one with slot 1000.
class changes {
 public:
  explicit changes(std::int64_t keys)
      : memory_(kv::changed_keys::memory_bytes(keys) / sizeof(std::uint64_t)), keys_(memory_.data(), {1000, keys}) {}

  bool add(const slots& which, std::uint64_t barriers = 0) const { return keys_.add(which, barriers); }
  bool is_empty() const { return keys_.is_empty(); }
  std::uint64_t barriers() const { return keys_.barriers(); }
  slots take() const {
    slots result;
    keys_.take([&](std::int64_t slot) { result.push_back(slot); });
    return result;
  }

 private:
  std::vector<std::uint64_t> memory_;
  kv::changed_keys keys_;
};

TEST(changed_keys, are_taken_once_and_in_order) {
  const changes at(10000);
  EXPECT_TRUE(at.is_empty());
  EXPECT_EQ(at.take(), slots{});
  EXPECT_TRUE(at.add({10999, 1000, 1063, 1064}, 5));
  EXPECT_FALSE(at.is_empty());
  EXPECT_FALSE(at.add({5096, 1063}, 6));  // the home has been told
  EXPECT_EQ(at.barriers(), 5u);
  EXPECT_EQ(at.take(), (slots{1000, 1063, 1064, 5096, 10999}));
  EXPECT_TRUE(at.is_empty());
  EXPECT_EQ(at.take(), slots{});
  EXPECT_TRUE(at.add({1063}));
  EXPECT_EQ(at.take(), slots{1063});
}

TEST(changed_keys, fit_ranks_with_few_keys_or_none) {
  for (const std::int64_t keys : {1, 63, 64, 65, 4096, 4097}) {
    const changes at(keys);
    EXPECT_TRUE(at.add({1000, 999 + keys})) << keys;
    EXPECT_EQ(at.take(), keys == 1 ? slots{1000} : (slots{1000, 999 + keys})) << keys;
  }
  EXPECT_EQ(changes(0).take(), slots{});
}

/// The home knows the last value of each key once it has taken what it was told of.
TEST(changed_keys, are_not_lost_while_the_home_takes_them) {
  constexpr std::int64_t keys = 300;
  constexpr int writers = 3, rounds = 100000;
  const changes at(keys);
  std::vector<std::atomic<int>> values(keys * writers);  // each writer has its own
  std::vector<int> known(keys * writers);
  std::atomic<int> told = 0, left = writers;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer)
    threads.emplace_back([&, writer] {
      std::minstd_rand random(static_cast<unsigned>(writer + 1));
      for (int i = 0; i < rounds; ++i) {
        const std::size_t key = random() % keys;
        std::atomic<int>& mine = values[key * writers + static_cast<std::size_t>(writer)];
        mine.store(mine.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        if (at.add({1000 + static_cast<std::int64_t>(key)})) ++told;
      }
      --left;
    });
  const auto learn = [&] {
    for (const std::int64_t slot : at.take()) {
      const auto first = static_cast<std::size_t>(slot - 1000) * writers;
      for (std::size_t i = first; i < first + writers; ++i) known[i] = values[i].load(std::memory_order_relaxed);
    }
  };
  int seen = 0;
  while (left > 0)
    if (seen != told) {
      seen = told;
      learn();
    }
  for (auto& each : threads) each.join();
  if (seen != told) learn();
  for (std::size_t i = 0; i < known.size(); ++i) EXPECT_EQ(known[i], values[i]) << i;
}

/// The list ends with a key that is damaged, because a rank died while it wrote it.
TEST(changed_keys, reach_copies_though_a_later_key_of_the_list_is_damaged) {
  using until = test::simulated_worker::until;
  test::simulated_store store({.nodes = 2, .ranks_per_node = 2, .keys = 8, .length = 1, .foreign_bytes = 4096}, 1,
                              {.resend = std::chrono::milliseconds(5), .deadline = std::chrono::seconds(60)});
  test::simulated_worker home(store.at(0)), other(store.at(2));
  const slots copied{0}, both{0, 4};  // homes: rank 0
  const std::vector<float> ones{1, 1};
  home.open_window(copied);
  home.flush();
  other.open_window(copied);
  other.flush();
  ASSERT_TRUE(store.at(2).are_here(copied));
  ASSERT_TRUE(store.die_writing(1, 4));
  std::vector<float> values = ones;
  EXPECT_THROW(home.run(kv::push, both, values.data(), until::done), base::error);
  float found = 0;
  for (int i = 0; i < 10000 && found != 1; ++i) {
    other.run(kv::pull, copied, &found, until::done);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
