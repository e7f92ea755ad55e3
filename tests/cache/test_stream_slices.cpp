// SPDX-License-Identifier: BSD-3-Clause
// Slices of streams. The stand-in's streams run as late as possible: work that nothing has waited for is not done.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "../memory/status.hpp"
#include "cache/slices.hpp"
#include "cache/stream_slices.hpp"
#include "device_fixture.hpp"

namespace {

using namespace syncyte;
using cache::acquire_on_stream;
using cache::clear_stream;
using cache::device_stream;
using cache::has_slice;
using cache::insert_on_stream;
using cache::record_stream;
using cache::release_on_stream;
using test::contains;
using test::device_page;
using test::outcome;
using test::run_checks;

constexpr std::int64_t unit = 512;

/// A region of two pages, and two streams.
struct streams_of_region {
  std::shared_ptr<cache::region> region = cache::region::allocate({device_page, device_page}, SYNCYTE_MEMORY_CUDA, 0);
  device_stream first{0, memory::cuda_backend().create_stream(0)};
  device_stream second{0, memory::cuda_backend().create_stream(0)};

  void insert(const device_stream& of, std::int64_t offset, std::int64_t bytes, bool may_overlap = false) const {
    insert_on_stream(region, of.stream, offset, bytes, may_overlap);
  }
  std::ptrdiff_t offset_of(void* block) const { return static_cast<std::byte*>(block) - region->data(); }
  void expect_refused(const device_stream& of, std::int64_t offset, std::int64_t bytes, bool may_overlap,
                      syncyte_status_t status, const char* part) const {
    const auto [found, text] = outcome([&] { insert(of, offset, bytes, may_overlap); });
    EXPECT_EQ(found, status) << text;
    EXPECT_TRUE(contains(text, part)) << text;
  }
};

using cache_stream_slices = test::device_fixture;

TEST_F(cache_stream_slices, belong_to_a_stream_in_every_thread) {
  EXPECT_EQ(run_checks([] {
              const streams_of_region of;
              EXPECT_EQ(acquire_on_stream(of.first, 8), nullptr);
              EXPECT_FALSE(has_slice(of.first));
              of.insert(of.first, unit, 8 * unit);
              EXPECT_TRUE(has_slice(of.first));
              EXPECT_FALSE(has_slice(of.second));
              EXPECT_FALSE(has_slice({0, nullptr}));
              EXPECT_EQ(acquire_on_stream(of.second, 8), nullptr);
              void* block = nullptr;
              std::thread([&] { block = acquire_on_stream(of.first, 513); }).join();
              EXPECT_EQ(of.offset_of(block), unit);
              void* const next = acquire_on_stream(of.first, 0);
              EXPECT_EQ(of.offset_of(next), 3 * unit);
              EXPECT_TRUE(cache::is_in_stream_slice(next));
              EXPECT_FALSE(cache::is_in_stream_slice(of.region->data()));
              of.insert(of.first, 20 * unit, unit);  // serves from now on
              void* const later = acquire_on_stream(of.first, 1);
              EXPECT_EQ(of.offset_of(later), 20 * unit);
              for (void* const each : {next, block, later}) release_on_stream(of.first, each);
              release_on_stream(of.first, nullptr);
              clear_stream(of.first);
              clear_stream(of.first);
              EXPECT_FALSE(has_slice(of.first));
              of.insert({0, nullptr}, 0, unit);
              EXPECT_EQ(of.offset_of(acquire_on_stream({0, nullptr}, 1)), 0);
              EXPECT_EQ(acquire_on_stream({1, nullptr}, 1), nullptr) << "the default stream of another device";
            }),
            0);
}

TEST_F(cache_stream_slices, a_full_one_is_an_error) {
  EXPECT_EQ(run_checks([] {
              const streams_of_region of;
              of.insert(of.first, 0, 4 * unit);
              void* const block = acquire_on_stream(of.first, 3 * unit);
              const auto [status, text] = outcome([&] { acquire_on_stream(of.first, unit + 1); });
              EXPECT_EQ(status, SYNCYTE_ERR_MEMORY);
              EXPECT_TRUE(contains(text, "513 bytes do not fit the shared cache's slice [0, 2048)")) << text;
              EXPECT_EQ(outcome([&] { acquire_on_stream(of.first, UINT64_MAX); }).first, SYNCYTE_ERR_MEMORY);
              release_on_stream(of.first, block);
              EXPECT_EQ(acquire_on_stream(of.first, 4 * unit), block);
            }),
            0);
}

TEST_F(cache_stream_slices, overlap_only_if_all_of_them_may) {
  EXPECT_EQ(run_checks([] {
              const streams_of_region of;
              of.insert(of.first, 0, 8 * unit, true);
              of.expect_refused(of.first, 0, 8 * unit, true, SYNCYTE_ERR_BUSY, "overlaps [0, 4096)");
              of.expect_refused(of.second, 7 * unit, 8 * unit, false, SYNCYTE_ERR_BUSY, "clear that stream first");
              of.insert(of.second, 0, 8 * unit, true);
              void* const one = acquire_on_stream(of.first, 1);
              EXPECT_EQ(acquire_on_stream(of.second, 1), one) << "each stream has a heap of its own";
              release_on_stream(of.first, one);
              EXPECT_EQ(outcome([&] { release_on_stream(of.first, one); }).first, SYNCYTE_ERR_ARGUMENT);
              release_on_stream(of.second, one);
              clear_stream(of.first);
              clear_stream(of.second);
              of.insert(of.first, 0, 8 * unit);
              of.expect_refused(of.second, 0, unit, true, SYNCYTE_ERR_BUSY, "overlaps");
              of.expect_refused(of.second, 1, unit, false, SYNCYTE_ERR_ARGUMENT, "offset is 1");
              of.expect_refused(of.second, 0, INT64_MAX, false, SYNCYTE_ERR_ARGUMENT, "size is");
            }),
            0);
}

TEST_F(cache_stream_slices, clear_waits_for_the_stream_and_refuses_blocks) {
  EXPECT_EQ(run_checks([] {
              const streams_of_region of;
              of.insert(of.first, unit, 8 * unit);
              void* const block = acquire_on_stream(of.first, 1);
              const auto [status, text] = outcome([&] { clear_stream(of.first); });
              EXPECT_EQ(status, SYNCYTE_ERR_BUSY);
              EXPECT_TRUE(contains(text,
                                   "1 tensor is still in this stream's slices of the shared cache, at offset 512 "
                                   "(512 bytes)"))
                  << text;
              std::vector<char> value(1, 'q');
              auto pinned = memory::cuda_system().allocate_pinned(0, 1);
              pinned[0] = std::byte{'q'};
              memory::cuda_backend().copy({block, SYNCYTE_MEMORY_CUDA, 0}, {pinned.get(), SYNCYTE_MEMORY_HOST, 0}, 1,
                                          of.first.stream);
              release_on_stream(of.first, block);
              clear_stream(of.first);
              EXPECT_EQ(test::read(of.region->data() + unit, 0, 1), "q");
            }),
            0);
}

TEST_F(cache_stream_slices, a_block_that_another_stream_uses_comes_back_after_its_work) {
  EXPECT_EQ(run_checks([] {
              const streams_of_region of;
              of.insert(of.first, 0, 4 * unit);
              auto pinned = memory::cuda_system().allocate_pinned(0, 1);
              const auto queue_work = [&](void* block) {  // the stand-in does it when something waits
                memory::cuda_backend().copy({block, SYNCYTE_MEMORY_CUDA, 0}, {pinned.get(), SYNCYTE_MEMORY_HOST, 0}, 1,
                                            of.second.stream);
              };
              void* const block = acquire_on_stream(of.first, 1);
              record_stream(of.first, block, of.second.stream);
              record_stream(of.first, block, of.first.stream);  // its own stream needs no event
              for (int i = 0; i < 9; ++i) queue_work(block);
              release_on_stream(of.first, block);
              EXPECT_EQ(outcome([&] { release_on_stream(of.first, block); }).first, SYNCYTE_ERR_ARGUMENT);
              void* const other = acquire_on_stream(of.first, 1);
              EXPECT_NE(other, block);
              release_on_stream(of.first, other);
              const auto [status, text] = outcome([&] { clear_stream(of.first); });
              EXPECT_EQ(status, SYNCYTE_ERR_BUSY);
              EXPECT_TRUE(contains(text,
                                   "other streams still use freed memory of this stream's slices of the shared "
                                   "cache, at offset 0;"))
                  << text;
              memory::cuda_backend().synchronize(0, of.second.stream);
              EXPECT_EQ(acquire_on_stream(of.first, 1), block);
              record_stream(of.first, block, of.second.stream);
              queue_work(block);
              queue_work(block);
              release_on_stream(of.first, block);
              EXPECT_EQ(acquire_on_stream(of.first, 4 * unit), block) << "a full slice waits";
              release_on_stream(of.first, block);
              clear_stream(of.first);
            }),
            0);
}

TEST_F(cache_stream_slices, a_block_comes_back_although_its_event_cannot_be_made) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "not the stand-in";
  EXPECT_EQ(run_checks([] {
              const streams_of_region of;
              of.insert(of.first, 0, 4 * unit);
              void* const block = acquire_on_stream(of.first, 4 * unit);
              record_stream(of.first, block, of.second.stream);
              auto pinned = memory::cuda_system().allocate_pinned(0, 1);
              pinned[0] = std::byte{'q'};
              memory::cuda_backend().copy({block, SYNCYTE_MEMORY_CUDA, 0}, {pinned.get(), SYNCYTE_MEMORY_HOST, 0}, 1,
                                          of.second.stream);
              {
                const test::environment_scope failing("STANDIN_FAIL", "cuEventRecord:1");
                release_on_stream(of.first, block);
              }
              EXPECT_EQ(test::read(block, 0, 1), "q") << "after the other stream's work";
              EXPECT_EQ(acquire_on_stream(of.first, 4 * unit), block);
              release_on_stream(of.first, block);
              clear_stream(of.first);
            }),
            0);
}

TEST_F(cache_stream_slices, an_event_that_fails_frees_no_block_twice) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "not the stand-in";
  EXPECT_EQ(run_checks([] {
              const streams_of_region of;
              of.insert(of.first, 0, 4 * unit);
              void* const busy = memory::cuda_backend().create_stream(0);
              auto pinned = memory::cuda_system().allocate_pinned(0, 1);
              std::vector<void*> blocks;
              for (void* const user : {of.second.stream, busy, of.second.stream}) {
                blocks.push_back(acquire_on_stream(of.first, 1));
                record_stream(of.first, blocks.back(), user);
              }
              for (int i = 0; i < 9; ++i)  // the stand-in does it when something waits
                memory::cuda_backend().copy({blocks[1], SYNCYTE_MEMORY_CUDA, 0}, {pinned.get(), SYNCYTE_MEMORY_HOST, 0},
                                            1, busy);
              for (void* const each : blocks) release_on_stream(of.first, each);
              {
                // The first block is free, the second in use, and the third one's event fails.
                const test::environment_scope failing("STANDIN_FAIL", "cuEventQuery:3");
                EXPECT_EQ(outcome([&] { acquire_on_stream(of.first, unit); }).first, SYNCYTE_ERR_MEMORY);
              }
              EXPECT_EQ(acquire_on_stream(of.first, 4 * unit), blocks[0]) << "a full slice waits";
              release_on_stream(of.first, blocks[0]);
              clear_stream(of.first);
            }),
            0);
}

TEST_F(cache_stream_slices, wrong_pointers_and_wrong_places) {
  EXPECT_EQ(run_checks([] {
              const streams_of_region of;
              of.insert(of.first, 0, 8 * unit);
              void* const block = acquire_on_stream(of.first, 2 * unit);
              int number = 0;
              for (void* const wrong : {static_cast<void*>(&number), static_cast<void*>(of.region->data() + unit)}) {
                EXPECT_EQ(outcome([&] { release_on_stream(of.first, wrong); }).first, SYNCYTE_ERR_ARGUMENT);
                EXPECT_EQ(outcome([&] { record_stream(of.first, wrong, nullptr); }).first, SYNCYTE_ERR_ARGUMENT);
              }
              EXPECT_EQ(outcome([&] { release_on_stream(of.second, block); }).first, SYNCYTE_ERR_ARGUMENT);
              const auto on_thread = outcome([&] { cache::insert(of.region, 0, unit); });
              EXPECT_EQ(on_thread.first, SYNCYTE_ERR_UNSUPPORTED);
              EXPECT_TRUE(contains(on_thread.second, "on device 0, where slices belong to streams"))
                  << on_thread.second;
              const auto host = cache::region::allocate({4096, 4096});
              const auto on_host = outcome([&] { insert_on_stream(host, nullptr, 0, unit, false); });
              EXPECT_EQ(on_host.first, SYNCYTE_ERR_UNSUPPORTED);
              EXPECT_TRUE(contains(on_host.second, "in host memory, where slices belong to threads")) << on_host.second;
            }),
            0);
}

TEST_F(cache_stream_slices, keep_the_memory_and_give_it_back) {
  EXPECT_EQ(run_checks([] {
              streams_of_region of;
              of.insert(of.first, 0, 8 * unit);
              void* const block = acquire_on_stream(of.first, 1);
              of.region.reset();
              test::fill(block, 0, 1, 'z');
              EXPECT_EQ(test::read(block, 0, 1), "z");
              release_on_stream(of.first, block);
              clear_stream(of.first);
              EXPECT_EQ(test::held_by_driver(), 0u);
            }),
            0);
}

TEST_F(cache_stream_slices, a_forked_child_releases_blocks_and_inserts_nothing) {
  EXPECT_EQ(run_checks([] {
              const streams_of_region of;
              of.insert(of.first, 0, 8 * unit);
              void* const block = acquire_on_stream(of.first, 1);
              EXPECT_EQ(run_checks([&] {
                          release_on_stream(of.first, block);
                          of.expect_refused(of.second, 8 * unit, unit, false, SYNCYTE_ERR_UNSUPPORTED,
                                            "forked after its parent has used CUDA");
                        }),
                        0);
              release_on_stream(of.first, block);
              clear_stream(of.first);
            }),
            0);
}

TEST_F(cache_stream_slices, threads_share_streams) {
  EXPECT_EQ(run_checks([] {
              const streams_of_region of;
              of.insert(of.first, 0, device_page);
              of.insert(of.second, device_page, device_page);
              std::vector<std::thread> threads;
              for (int number = 0; number < 4; ++number)
                threads.emplace_back([&] {
                  for (int round = 0; round < 2000; ++round)
                    for (const device_stream& stream : {of.first, of.second}) {
                      void* const block = acquire_on_stream(stream, static_cast<std::uint64_t>(round % 7) * unit);
                      record_stream(stream, block, round % 5 == 0 ? of.second.stream : of.first.stream);
                      release_on_stream(stream, block);
                    }
                });
              for (std::thread& each : threads) each.join();
              clear_stream(of.first);
              clear_stream(of.second);
            }),
            0);
}

}  // namespace
