// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "../memory/processes.hpp"
#include "../memory/status.hpp"
#include "cache/heap.hpp"
#include "cache/slices.hpp"
#include "region_files.hpp"

namespace {

using namespace syncyte;
using cache::acquire;
using cache::clear;
using cache::insert;
using cache::region;
using cache::release;
using test::contains;
using test::outcome;

constexpr std::int64_t unit = cache::heap::unit;
constexpr std::int64_t part = 64 * unit;

class cache_slices : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(outcome(clear).first, SYNCYTE_SUCCESS); }

  std::int64_t offset_of(const void* data) const { return static_cast<const std::byte*>(data) - region_->data(); }
  void expect_refused(std::int64_t offset, std::int64_t bytes, syncyte_status_t status,
                      const char* part_of_text) const {
    const auto [found, text] = outcome([&] { insert(region_, offset, bytes); });
    EXPECT_EQ(found, status) << text;
    EXPECT_TRUE(contains(text, part_of_text)) << text;
  }

  std::shared_ptr<region> region_ = region::allocate({part, part});
};

TEST_F(cache_slices, the_last_one_inserted_serves) {
  EXPECT_EQ(acquire(8), nullptr);
  insert(region_, 0, part);
  void* const first = acquire(8);
  insert(region_, part, part);
  void* const second = acquire(8);
  EXPECT_EQ(offset_of(first), 0);
  EXPECT_EQ(offset_of(second), part);
  release(first);
  EXPECT_EQ(offset_of(acquire(8)), part + unit);
  release(region_->data() + part + unit);
  release(second);
  clear();
  EXPECT_EQ(acquire(8), nullptr);
}

TEST_F(cache_slices, a_full_one_is_an_error) {
  insert(region_, 0, part);
  void* const all = acquire(part);
  const auto [status, text] = outcome([] { acquire(1); });
  EXPECT_EQ(status, SYNCYTE_ERR_MEMORY);
  EXPECT_TRUE(contains(text, "1 bytes do not fit")) << text;
  EXPECT_TRUE(contains(text, "0 of its 32768 bytes are free")) << text;
  release(all);
  EXPECT_EQ(acquire(part), all);
  release(all);
}

TEST_F(cache_slices, wrong_ranges_are_refused) {
  expect_refused(-unit, unit, SYNCYTE_ERR_ARGUMENT, "offset is -512");
  expect_refused(7, unit, SYNCYTE_ERR_ARGUMENT, "offset is 7; expected a multiple of 512");
  expect_refused(3 * part, unit, SYNCYTE_ERR_ARGUMENT, "offset is");
  expect_refused(0, 0, SYNCYTE_ERR_ARGUMENT, "size is 0");
  expect_refused(0, 100, SYNCYTE_ERR_ARGUMENT, "size is 100");
  expect_refused(unit, 2 * part, SYNCYTE_ERR_ARGUMENT, "size is");
  expect_refused(unit, INT64_MAX, SYNCYTE_ERR_ARGUMENT, "size is 9223372036854775807");
  expect_refused(INT64_MAX, unit, SYNCYTE_ERR_ARGUMENT, "offset is 9223372036854775807");
  EXPECT_EQ(acquire(8), nullptr);
}

TEST_F(cache_slices, overlaps_are_refused_in_every_thread_and_mapping) {
  insert(region_, 4 * unit, 8 * unit);
  expect_refused(4 * unit, 8 * unit, SYNCYTE_ERR_BUSY, "overlaps [2048, 6144)");
  expect_refused(0, 5 * unit, SYNCYTE_ERR_BUSY, "overlaps");
  expect_refused(11 * unit, unit, SYNCYTE_ERR_BUSY, "overlaps");
  std::thread([&] { expect_refused(0, part, SYNCYTE_ERR_BUSY, "another thread of this process"); }).join();
  const auto again = region::attach(test::files_of(*region_));
  EXPECT_EQ(outcome([&] { insert(again, 0, part); }).first, SYNCYTE_ERR_BUSY);
  insert(region_, 0, 4 * unit);
  insert(region_, 12 * unit, unit);
  insert(region::allocate({part, part}), 0, part);
}

TEST_F(cache_slices, clear_with_blocks_is_refused_and_names_them) {
  insert(region_, 0, part);
  std::vector<void*> blocks;
  for (int each = 0; each < 7; ++each) blocks.push_back(acquire(unit + 1));
  insert(region_, part, part);
  const auto [status, text] = outcome(clear);
  EXPECT_EQ(status, SYNCYTE_ERR_BUSY);
  EXPECT_TRUE(contains(text, "7 tensors are still")) << text;
  EXPECT_TRUE(contains(text, "offset 0 (1024 bytes), 1024 (1024 bytes)")) << text;
  EXPECT_TRUE(contains(text, "4096 (1024 bytes), ...")) << text;
  EXPECT_EQ(offset_of(acquire(1)), part);  // still inserted
  release(region_->data() + part);
  for (void* const each : blocks) release(each);
}

TEST_F(cache_slices, pointers_that_are_no_blocks_are_refused) {
  release(nullptr);
  int local = 0;
  EXPECT_EQ(outcome([&] { release(&local); }).first, SYNCYTE_ERR_ARGUMENT);
  insert(region_, 0, part);
  void* const block = acquire(2 * unit);
  EXPECT_EQ(outcome([&] { release(static_cast<std::byte*>(block) + unit); }).first, SYNCYTE_ERR_ARGUMENT);
  release(block);
  const auto [status, text] = outcome([&] { release(block); });
  EXPECT_EQ(status, SYNCYTE_ERR_ARGUMENT);
  EXPECT_TRUE(contains(text, "offset 0")) << text;
}

TEST_F(cache_slices, any_thread_gives_back) {
  insert(region_, 0, part);
  void* const block = acquire(8);
  std::thread([&] {
    EXPECT_EQ(acquire(8), nullptr);
    release(block);
    EXPECT_EQ(outcome([&] { release(block); }).first, SYNCYTE_ERR_ARGUMENT);
  }).join();
}

TEST_F(cache_slices, a_slice_of_an_ended_thread_goes_with_its_last_block) {
  std::vector<void*> blocks;
  std::thread([&] {
    insert(region_, 0, part);
    for (int each = 0; each < 2; ++each) blocks.push_back(acquire(8));
    insert(region_, part, part);  // without blocks: removed at once
  }).join();
  insert(region_, part, part);
  clear();
  release(blocks[0]);
  expect_refused(0, part, SYNCYTE_ERR_BUSY, "tensors of a thread that has ended live, at offset 512 (512 bytes): drop");
  release(blocks[1]);
  insert(region_, 0, part);
}

TEST_F(cache_slices, blocks_keep_the_memory) {
  insert(region_, 0, part);
  auto* const block = static_cast<char*>(acquire(8));
  region_.reset();
  std::strcpy(block, "here");
  EXPECT_STREQ(block, "here");
  release(block);
  clear();
}

TEST_F(cache_slices, threads_take_and_give_back_each_others_blocks) {
  constexpr int rounds = 3000;
  const auto large = region::allocate({4096 * unit, unit});
  std::mutex mutex;
  std::vector<std::pair<unsigned char*, unsigned char>> shared;
  std::atomic<int> wrong = 0;
  const auto work = [&](int number) {
    insert(large, number * 1024 * unit, 1024 * unit);
    std::mt19937 random(static_cast<unsigned>(number));
    for (int round = 0; round < rounds; ++round) {
      const auto bytes = 1 + random() % (4 * unit);
      auto* const block = static_cast<unsigned char*>(acquire(bytes));
      const auto value = static_cast<unsigned char>(random());
      std::memset(block, value, unit);
      std::pair<unsigned char*, unsigned char> other{};
      {
        const std::lock_guard lock(mutex);
        shared.emplace_back(block, value);
        if (shared.size() > 100) {
          std::swap(shared[random() % shared.size()], shared.back());
          other = shared.back();
          shared.pop_back();
        }
      }
      if (other.first == nullptr) continue;
      for (int each = 0; each < unit; ++each) wrong += other.first[each] != other.second;
      release(other.first);
    }
  };
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) threads.emplace_back(work, number);
  for (auto& each : threads) each.join();
  EXPECT_EQ(wrong, 0);
  for (const auto& [block, value] : shared) release(block);
  insert(large, 0, 4096 * unit);  // possible only if no block is left
}

TEST_F(cache_slices, a_forked_child_has_none) {
  insert(region_, 0, part);
  void* const block = acquire(8);
  const int code = test::run_process([&] {
    if (acquire(8) != nullptr) return 1;
    // Refused, because the child's blocks would overlap the inherited block.
    const auto [status, text] = outcome([&] { insert(region_, 0, part); });
    if (status != SYNCYTE_ERR_BUSY || !contains(text, "tensors of the parent process live, at offset 0 (512 bytes)"))
      return 2;
    insert(region_, part, part);
    void* const own = acquire(8);
    if (offset_of(own) != part || acquire(part - unit) == nullptr) return 3;
    release(block);
    if (outcome([&] { release(block); }).first != SYNCYTE_ERR_ARGUMENT) return 4;
    insert(region_, 0, part);
    if (offset_of(acquire(8)) != 0) return 5;
    return outcome(clear).first == SYNCYTE_ERR_BUSY ? 0 : 6;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(offset_of(acquire(8)), unit);
  release(region_->data() + unit);
  release(block);
}

TEST_F(cache_slices, a_forked_child_may_receive_the_region_anew) {
  insert(region_, 0, part);
  void* const block = acquire(8);
  const int code = test::run_process([&] {
    const auto again = region::attach(test::files_of(*region_));
    insert(again, 0, part);
    void* const own = acquire(8);
    if (own != again->data()) return 1;
    release(block);
    release(own);
    clear();
    return 0;
  });
  EXPECT_EQ(code, 0);
  release(block);
}

TEST_F(cache_slices, a_thread_that_is_ending_is_waited_for) {
  std::atomic<bool> is_inserted = false;
  std::thread ending([&] {
    insert(region_, 0, part);
    is_inserted = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  });
  while (!is_inserted) std::this_thread::yield();
  insert(region_, 0, part);
  ending.join();
}

TEST_F(cache_slices, a_child_forked_while_threads_work_can_go_on) {
  std::atomic<bool> stop = false;
  std::thread worker([&] {
    insert(region_, 0, part);
    while (!stop) release(acquire(8));
    clear();
  });
  for (int round = 0; round < 30; ++round) {
    const int code = test::run_process([&] {
      alarm(20);
      insert(region_, part, part);
      release(acquire(8));
      clear();
      return 0;
    });
    EXPECT_EQ(code, 0);
  }
  stop = true;
  worker.join();
}

}  // namespace
