// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "memory/pool.hpp"
#include "status.hpp"

namespace {

using namespace syncyte;
using memory::pool;

constexpr std::size_t kilobyte = 1024;
constexpr std::size_t megabyte = 1024 * kilobyte;

TEST(pool, classes_waste_little_and_are_closed) {
  std::mt19937_64 random(1);
  std::size_t before = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::size_t bytes = round < 5000 ? static_cast<std::size_t>(round) + 1 : random() >> (random() % 40 + 20);
    if (bytes == 0) continue;
    const std::size_t rounded = pool::class_bytes(bytes);
    ASSERT_GE(rounded, bytes);
    ASSERT_LE(rounded, bytes + std::max<std::size_t>(bytes / 4, 64) + (bytes >= 2 * megabyte ? 4096 : 0));
    ASSERT_EQ(rounded % 64, 0u);
    ASSERT_EQ(pool::class_bytes(rounded), rounded);
    if (round < 5000) {
      ASSERT_GE(rounded, before);
      before = rounded;
    }
  }
}

TEST(pool, aligns) {
  pool buffers(megabyte);
  for (const std::size_t bytes : {1ul, 63ul, 65ul, 4097ul, megabyte + 1, 2 * megabyte, 5 * megabyte + 3}) {
    void* data = buffers.acquire(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0u) << bytes;
    std::memset(data, 1, pool::class_bytes(bytes));
    EXPECT_TRUE(buffers.release(data));
  }
}

// A large buffer must not begin at a page: loops that read two such buffers at the same time would be slow.
TEST(pool, large_buffers_do_not_begin_a_page) {
  pool buffers(0);
  for (const std::size_t bytes : {2 * megabyte, 5 * megabyte + 3, 32 * megabyte}) {
    void* data = buffers.acquire(bytes);
    const std::uintptr_t in_page = reinterpret_cast<std::uintptr_t>(data) % 4096;
    EXPECT_GE(in_page, 1024u) << bytes;
    EXPECT_LE(in_page, 3072u) << bytes;
    EXPECT_TRUE(buffers.release(data));
  }
}

TEST(pool, recycles_the_warmest_of_a_class) {
  pool buffers(1 << 30);
  void* first = buffers.acquire(1000);
  void* second = buffers.acquire(1000);
  EXPECT_NE(first, second);
  buffers.release(first);
  buffers.release(second);
  EXPECT_EQ(buffers.acquire(1001), second);
  EXPECT_EQ(buffers.acquire(999), first);
  const auto figures = buffers.statistics();
  EXPECT_EQ(figures.hits, 2);
  EXPECT_EQ(figures.misses, 2);
  EXPECT_EQ(figures.in_use, 2 * pool::class_bytes(1000));
  EXPECT_EQ(figures.cached, 0u);
  buffers.release(first);
  buffers.release(second);
}

TEST(pool, zero_bytes_are_null) {
  pool buffers(1 << 20);
  EXPECT_EQ(buffers.acquire(0), nullptr);
  EXPECT_TRUE(buffers.release(nullptr));
  EXPECT_EQ(buffers.statistics().misses, 0);
}

TEST(pool, detects_double_and_foreign_release) {
  pool buffers(1 << 20);
  auto* data = static_cast<std::byte*>(buffers.acquire(4096));
  EXPECT_FALSE(buffers.release(data + 64));
  int local = 0;
  EXPECT_FALSE(buffers.release(&local));
  EXPECT_TRUE(buffers.release(data));
  const auto [status, message] = test::outcome([&] { buffers.release(data); });
  EXPECT_EQ(status, SYNCYTE_ERR_ARGUMENT);
  EXPECT_TRUE(test::contains(message, "expected a buffer that was not released")) << message;
  EXPECT_EQ(buffers.statistics().cached, 4096u);
}

TEST(pool, keeps_no_more_than_its_limit_and_drops_the_oldest) {
  pool buffers(100 * kilobyte);
  std::vector<void*> taken;
  for (int place = 0; place < 8; ++place) taken.push_back(buffers.acquire(16 * kilobyte));
  for (void* data : taken) buffers.release(data);
  EXPECT_EQ(buffers.statistics().cached, 96 * kilobyte);
  void* const other = buffers.acquire(40 * kilobyte);
  buffers.release(other);  // makes room by dropping the oldest buffer
  EXPECT_LE(buffers.statistics().cached, 100 * kilobyte);
  EXPECT_EQ(buffers.acquire(40 * kilobyte), other);
  EXPECT_EQ(buffers.acquire(16 * kilobyte), taken.back());
}

TEST(pool, does_not_keep_what_passes_its_limit) {
  pool buffers(kilobyte);
  void* small = buffers.acquire(512);
  void* large = buffers.acquire(3 * megabyte);
  buffers.release(small);
  buffers.release(large);
  EXPECT_EQ(buffers.statistics().cached, 512u);
  EXPECT_EQ(buffers.statistics().in_use, 0u);
  EXPECT_FALSE(buffers.release(large));  // no longer known
}

TEST(pool, of_limit_zero_keeps_nothing) {
  pool buffers(0);
  buffers.release(buffers.acquire(100));
  EXPECT_EQ(buffers.statistics().cached, 0u);
}

TEST(pool, trims) {
  pool buffers(1 << 30);
  void* kept = buffers.acquire(100);
  buffers.release(buffers.acquire(megabyte));
  buffers.release(buffers.acquire(4 * megabyte));
  buffers.trim();
  EXPECT_EQ(buffers.statistics().cached, 0u);
  EXPECT_TRUE(buffers.release(kept));
}

TEST(pool, refuses_more_than_there_is) {
  pool buffers(1 << 20);
  for (const std::size_t bytes : {~std::size_t{0}, std::size_t{1} << 61, std::size_t{1} << 50})
    EXPECT_EQ(test::outcome([&] { buffers.acquire(bytes); }).first, SYNCYTE_ERR_MEMORY) << bytes;
  EXPECT_EQ(buffers.statistics().in_use, 0u);
}

/// Each thread fills its buffers with its own pattern; two threads with the same buffer would overwrite each other's.
void hammer(pool& buffers, unsigned seed, bool& is_intact) {
  std::mt19937 random(seed);
  std::vector<std::pair<unsigned char*, std::size_t>> mine;
  const auto mark = static_cast<unsigned char>(seed + 1);
  for (int round = 0; round < 20000; ++round) {
    if (mine.size() < 8 && random() % 2 == 0) {
      const std::size_t bytes = 1 + random() % 5000;
      auto* data = static_cast<unsigned char*>(buffers.acquire(bytes));
      std::memset(data, mark, bytes);
      mine.emplace_back(data, bytes);
    } else if (!mine.empty()) {
      std::swap(mine[random() % mine.size()], mine.back());
      const auto [data, bytes] = mine.back();
      is_intact = is_intact && std::all_of(data, data + bytes, [&](unsigned char c) { return c == mark; });
      buffers.release(data);
      mine.pop_back();
    }
  }
  for (const auto& [data, bytes] : mine) buffers.release(data);
}

TEST(pool, stands_threads) {
  pool buffers(100 * kilobyte);  // small, so that buffers are often dropped
  bool is_intact[4] = {true, true, true, true};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) threads.emplace_back([&, seed] { hammer(buffers, seed, is_intact[seed]); });
  for (auto& thread : threads) thread.join();
  for (const bool each : is_intact) EXPECT_TRUE(each);
  const auto figures = buffers.statistics();
  EXPECT_EQ(figures.in_use, 0u);
  EXPECT_LE(figures.cached, figures.limit);
  buffers.trim();
  EXPECT_EQ(buffers.statistics().cached, 0u);
}

TEST(pool, recycling_is_fast) {
  pool buffers(1 << 30);
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int turn = 0; turn < 20000; ++turn) buffers.release(buffers.acquire(8 * megabyte));
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / 20000);
  }
  RecordProperty("nanoseconds_of_acquire_and_release", static_cast<int>(best));
  EXPECT_LT(best, 1000) << "nanoseconds; 50 as a rule, but tests run on loaded machines and under sanitizers";
}

/// Memory whose released buffers something may still use, until a test says that it has ended.
class busy_memory final : public memory::pool_memory {
 public:
  void* allocate(std::size_t bytes) override {
    ++allocated;
    return ::operator new(bytes);
  }
  void free(void* data) noexcept override {
    ++freed;
    ::operator delete(data);
  }
  bool finish() noexcept override {
    ++waiting;
    while (is_busy) std::this_thread::yield();
    return !has_failed;
  }

  std::atomic<int> allocated = 0, freed = 0, waiting = 0;
  std::atomic<bool> is_busy = false, has_failed = false;
};

TEST(pool, recycles_other_memory_once_nothing_uses_it) {
  busy_memory of;
  pool buffers(megabyte, &of);
  void* const first = buffers.acquire(1000);
  of.is_busy = true;
  std::thread releasing([&] { EXPECT_TRUE(buffers.release(first)); });
  while (of.waiting == 0) std::this_thread::yield();
  void* const second = buffers.acquire(1000);  // other threads do not wait, nor get the buffer
  EXPECT_NE(second, first);
  EXPECT_EQ(test::outcome([&] { buffers.release(first); }).first, SYNCYTE_ERR_ARGUMENT) << "released already";
  of.is_busy = false;
  releasing.join();
  EXPECT_EQ(buffers.acquire(1000), first);
  EXPECT_TRUE(buffers.release(first));
  EXPECT_TRUE(buffers.release(second));
  EXPECT_EQ(of.allocated, 2);
  buffers.trim();
  EXPECT_EQ(of.freed, 2);
  EXPECT_EQ(buffers.statistics().cached, 0u);
}

TEST(pool, does_not_recycle_memory_of_which_it_cannot_know_what_uses_it) {
  busy_memory of;
  pool buffers(megabyte, &of);
  void* const data = buffers.acquire(1000);
  of.has_failed = true;
  EXPECT_TRUE(buffers.release(data));
  EXPECT_EQ(of.freed, 1);
  EXPECT_EQ(buffers.statistics().cached, 0u);
  EXPECT_EQ(buffers.statistics().in_use, 0u);
}

}  // namespace
