// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "memory/device.hpp"
#include "memory/device_uses.hpp"
#include "processes.hpp"
#include "status.hpp"

namespace {

using namespace syncyte;
using memory::place;

place host(void* data) { return {data, SYNCYTE_MEMORY_HOST, 0}; }
place cuda(void* data) { return {data, SYNCYTE_MEMORY_CUDA, 0}; }

/// Requirements of every backend, checked on the host backend.
void check_round_trip(syncyte_memory_t kind) {
  memory::device_backend& backend = memory::backend_of(kind);
  std::vector<std::uint8_t> source(100000), back(source.size());
  std::iota(source.begin(), source.end(), std::uint8_t{0});
  void* first = backend.allocate(0, source.size());
  void* second = backend.allocate(0, source.size());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0u);
  memory::copy({first, kind, 0}, host(source.data()), source.size());
  memory::copy({second, kind, 0}, {first, kind, 0}, source.size());
  std::vector<std::uint8_t> sevens(source.size(), 7);
  memory::copy({first, kind, 0}, host(sevens.data()), source.size());
  memory::copy(host(back.data()), {second, kind, 0}, source.size());
  EXPECT_EQ(back, source);
  memory::copy(host(back.data()), {first, kind, 0}, source.size());
  EXPECT_EQ(back, sevens);
  void* stream = backend.create_stream(0);
  backend.copy({first, kind, 0}, {second, kind, 0}, source.size(), stream);
  backend.copy(host(back.data()), {first, kind, 0}, source.size(), stream);
  backend.synchronize(0, stream);
  EXPECT_EQ(back, source);
  backend.free(0, first);
  backend.free(0, second);
}

TEST(device, host_memory_round_trip) { check_round_trip(SYNCYTE_MEMORY_HOST); }

TEST(device, cuda_memory_round_trip) {
  if (memory::cuda_backend().count() == 0) GTEST_SKIP() << "no CUDA device";
  check_round_trip(SYNCYTE_MEMORY_CUDA);
  void* data = memory::acquire(100, SYNCYTE_MEMORY_CUDA, 0);
  memory::release(data);
  EXPECT_EQ(test::outcome([&] { memory::release(data); }).first, SYNCYTE_ERR_ARGUMENT);
}

TEST(device, without_cuda_every_use_says_so) {
  memory::device_backend& backend = memory::cuda_backend();
  if (backend.count() > 0) GTEST_SKIP() << "there is a CUDA device";
  char bytes[8];
  const auto is_refused = [](auto&& use) { return test::outcome(use).first == SYNCYTE_ERR_UNSUPPORTED; };
  EXPECT_TRUE(is_refused([&] { backend.allocate(0, 8); }));
  EXPECT_TRUE(is_refused([&] { backend.copy(cuda(bytes), host(bytes), 8, nullptr); }));
  EXPECT_TRUE(is_refused([&] { backend.create_stream(0); }));
  EXPECT_TRUE(is_refused([&] { backend.synchronize(0, nullptr); }));
  EXPECT_TRUE(is_refused([&] { memory::copy(host(bytes), cuda(bytes), 8); }));
  EXPECT_TRUE(is_refused([&] { memory::acquire(8, SYNCYTE_MEMORY_CUDA, 0); }));
  const std::string message = test::outcome([] { memory::require_device(SYNCYTE_MEMORY_CUDA, 0); }).second;
  const std::string use = test::outcome([&] { backend.create_stream(0); }).second;
  const std::string reason = backend.why_none();
  EXPECT_EQ(message, "there is no CUDA device: " + reason);
  EXPECT_TRUE(test::contains(use, reason)) << use << " does not give the reason " << reason;
  backend.free(0, nullptr);
}

TEST(device, unknown_kinds_and_devices_are_refused) {
  const auto [status, message] = test::outcome([] { memory::backend_of(5); });
  EXPECT_EQ(status, SYNCYTE_ERR_ARGUMENT);
  EXPECT_TRUE(test::contains(message, "memory is 5")) << message;
  EXPECT_EQ(test::outcome([] { memory::require_device(SYNCYTE_MEMORY_HOST, 1); }).first, SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(test::outcome([] { memory::require_device(SYNCYTE_MEMORY_HOST, -1); }).first, SYNCYTE_ERR_ARGUMENT);
}

TEST(device, copies_of_nothing_need_no_address) { memory::copy(host(nullptr), host(nullptr), 0); }

TEST(device, a_range_goes_after_the_work_of_all_devices_that_use_it) {
  memory::device_backend& backend = memory::cuda_backend();
  memory::device_system& system = memory::cuda_system();
  if (backend.count() < 2 || !system.is_peer(1, 0)) GTEST_SKIP() << "no two devices that access each other's memory";
  const std::size_t page = system.page_bytes(0);
  auto range = system.reserve(0, page);
  range->create(0, page);
  auto pinned = system.allocate_pinned(1, page);
  pinned[page - 1] = std::byte{'q'};
  backend.copy(cuda(range->data()), host(pinned.get()), page, nullptr);
  pinned[page - 1] = std::byte{0};
  range->allow(1);
  void* const stream = backend.create_stream(1);
  backend.copy(host(pinned.get()), {range->data(), SYNCYTE_MEMORY_CUDA, 1}, page, stream);
  range.reset();
  backend.synchronize(1, stream);
  EXPECT_EQ(pinned[page - 1], std::byte{'q'});
}

/// A child would wait for ever for a lock that another thread of its parent has held at the fork.
TEST(device, uses_are_listed_in_a_child_that_is_forked_meanwhile) {
  EXPECT_TRUE(memory::device_uses().empty());
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) const memory::listed_use use({{}, 1, "test"});
  });
  int code = 0;
  for (int round = 0; round < 100 && code == 0; ++round)
    code = test::run_process([] {
      alarm(5);
      return memory::device_uses().size() > 1 ? 1 : 0;
    });
  is_over = true;
  other.join();
  EXPECT_EQ(code, 0);
}

}  // namespace
