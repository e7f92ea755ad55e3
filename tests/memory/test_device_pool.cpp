// SPDX-License-Identifier: BSD-3-Clause
// Recycled buffers of devices, on a device or on the stand-in driver, whose streams run as late as possible.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "memory/device.hpp"
#include "memory/driver/library.hpp"
#include "status.hpp"

namespace {

using namespace syncyte;
using memory::place;

constexpr std::size_t bytes = 4 << 20;

void* acquire(std::size_t count = bytes, int device = 0) { return memory::acquire(count, SYNCYTE_MEMORY_CUDA, device); }

place at(void* data) { return {data, SYNCYTE_MEMORY_CUDA, 0}; }

std::vector<char> contents(void* data) {
  std::vector<char> result(bytes);
  memory::copy_now({result.data(), SYNCYTE_MEMORY_HOST, 0}, at(data), bytes);
  return result;
}

memory::pool_statistics stats() { return memory::device_statistics(); }

/// A stream that a program has made, on which buffers are filled.
class program_stream {
 public:
  program_stream() : stream_(memory::cuda_backend().create_stream(0)) {
    EXPECT_EQ(cuda_.cuMemHostAlloc(&source_, bytes, 0), CUDA_SUCCESS);
  }
  ~program_stream() { EXPECT_EQ(cuda_.cuMemFreeHost(source_), CUDA_SUCCESS); }
  program_stream(const program_stream&) = delete;
  program_stream& operator=(const program_stream&) = delete;

  void fill(void* data, char value) {
    std::fill_n(static_cast<char*>(source_), bytes, value);
    memory::copy(at(data), {source_, SYNCYTE_MEMORY_HOST, 0}, bytes, stream_);
  }
  bool is_over() const { return cuda_.cuStreamQuery(static_cast<CUstream>(stream_)) == CUDA_SUCCESS; }

 private:
  const memory::driver::functions& cuda_ = memory::driver::started();
  void* stream_;
  void* source_ = nullptr;
};

class device_pool : public ::testing::Test {
 protected:
  device_pool() {
    if (memory::cuda_backend().count() == 0) return;
    CUdevice device = 0;
    CUcontext context = nullptr;
    EXPECT_EQ(cuda_.cuDeviceGet(&device, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuda_.cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    EXPECT_EQ(cuda_.cuCtxPushCurrent(context), CUDA_SUCCESS);
    memory::trim();
  }
  ~device_pool() override {
    memory::trim();
    cuda_.cuCtxPopCurrent(nullptr);
  }

  const memory::driver::functions& cuda_ = memory::driver::started();
};

TEST_F(device_pool, buffers_are_recycled_and_counted) {
  const memory::pool_statistics before = stats();
  void* const first = acquire();
  EXPECT_EQ(stats().in_use - before.in_use, memory::pool::class_bytes(bytes));
  memory::release(first);
  EXPECT_EQ(stats().cached - before.cached, memory::pool::class_bytes(bytes));
  EXPECT_EQ(acquire(bytes - 100), first) << "of the same size class";
  memory::release(first);
  EXPECT_EQ(stats().hits - before.hits, 1);
  EXPECT_EQ(stats().misses - before.misses, 1);
  memory::trim();
  EXPECT_EQ(stats().cached, 0u);
  EXPECT_EQ(test::outcome([&] { memory::release(first); }).first, SYNCYTE_ERR_ARGUMENT);
}

TEST_F(device_pool, what_is_enqueued_on_a_released_buffer_ends_first) {
  program_stream stream;
  void* const first = acquire();
  stream.fill(first, 1);
  memory::release(first);
  EXPECT_TRUE(stream.is_over());
  void* const second = acquire();
  ASSERT_EQ(second, first);
  const std::vector<char> twos(bytes, 2);
  memory::copy_now(at(second), {const_cast<char*>(twos.data()), SYNCYTE_MEMORY_HOST, 0}, bytes);
  EXPECT_EQ(contents(second), twos);
  memory::release(second);
}

TEST_F(device_pool, is_of_one_device) {
  if (memory::cuda_backend().count() < 2) GTEST_SKIP() << "one CUDA device";
  void* const first = acquire();
  memory::release(first);
  void* const other = acquire(bytes, 1);
  EXPECT_NE(other, first);
  int device = -1;
  EXPECT_EQ(
      cuda_.cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, reinterpret_cast<CUdeviceptr>(other)),
      CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  memory::release(other);
}

TEST_F(device_pool, keeps_no_more_than_its_limit) {
  const std::size_t limit = memory::pool_limit(memory::cuda_backend().total_bytes(0));
  std::vector<void*> all;
  while (all.size() * bytes < limit + 3 * bytes) all.push_back(acquire());
  for (void* const each : all) memory::release(each);
  EXPECT_LE(stats().cached, limit);
  EXPECT_GT(stats().cached, limit / 2);
}

TEST_F(device_pool, gives_back_what_it_keeps_if_the_device_is_short_of_memory) {
  if (std::getenv("STANDIN_BYTES") == nullptr) GTEST_SKIP() << "a device of unknown size";
  std::vector<void*> all(4);
  for (void*& each : all) each = acquire();
  for (void* const each : all) memory::release(each);
  EXPECT_GT(stats().cached, 0u);
  void* const most = acquire(60 << 20);  // of 64 MiB
  EXPECT_EQ(stats().cached, 0u);
  const auto [status, message] = test::outcome([] { acquire(60 << 20); });
  EXPECT_EQ(status, SYNCYTE_ERR_MEMORY);
  EXPECT_TRUE(test::contains(message, "cuMemAlloc")) << message;
  memory::release(most);
}

TEST_F(device_pool, a_forked_child_may_release_what_it_cannot_use) {
  void* const data = acquire();
  const pid_t child = ::fork();
  if (child == 0) {
    memory::release(data);
    const bool is_refused = test::outcome([] { acquire(); }).first == SYNCYTE_ERR_UNSUPPORTED;
    ::_exit(is_refused ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents(data).size(), bytes) << "the parent's is still there";
  memory::release(data);
}

}  // namespace
