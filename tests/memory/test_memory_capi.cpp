// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "syncyte/memory.h"

namespace {

syncyte_memory_stats_t stats() {
  syncyte_memory_stats_t result{};
  result.struct_size = sizeof(result);
  EXPECT_EQ(syncyte_memory_stats(&result), SYNCYTE_SUCCESS);
  return result;
}

syncyte_buffer_t buffer_of(void* data, syncyte_dtype_t dtype, std::vector<int64_t> shape) {
  syncyte_buffer_t result;
  EXPECT_EQ(syncyte_buffer_init(data, dtype, static_cast<int32_t>(shape.size()), shape.data(), &result),
            SYNCYTE_SUCCESS);
  return result;
}

bool last_error_has(const char* part) { return std::strstr(syncyte_last_error(), part) != nullptr; }

TEST(memory_capi, buffers_are_recycled_before_init) {
  const auto before = stats();
  void* data = nullptr;
  ASSERT_EQ(syncyte_memory_allocate(1000, SYNCYTE_MEMORY_HOST, 0, &data), SYNCYTE_SUCCESS);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
  EXPECT_EQ(stats().in_use, before.in_use + 1024);
  EXPECT_EQ(syncyte_memory_free(data), SYNCYTE_SUCCESS);
  void* again = nullptr;
  ASSERT_EQ(syncyte_memory_allocate(900, SYNCYTE_MEMORY_HOST, 0, &again), SYNCYTE_SUCCESS);
  EXPECT_EQ(syncyte_memory_free(again), SYNCYTE_SUCCESS);
  EXPECT_EQ(stats().misses, before.misses + 1);
  EXPECT_EQ(stats().hits, before.hits + 1);
  EXPECT_EQ(syncyte_memory_trim(), SYNCYTE_SUCCESS);
  EXPECT_EQ(stats().cached, 0u);
  EXPECT_GT(stats().limit, 0u);
}

TEST(memory_capi, zero_bytes_and_null) {
  void* data = &data;
  ASSERT_EQ(syncyte_memory_allocate(0, SYNCYTE_MEMORY_HOST, 0, &data), SYNCYTE_SUCCESS);
  EXPECT_EQ(data, nullptr);
  EXPECT_EQ(syncyte_memory_free(nullptr), SYNCYTE_SUCCESS);
}

TEST(memory_capi, wrong_arguments) {
  void* data = &data;
  EXPECT_EQ(syncyte_memory_allocate(8, SYNCYTE_MEMORY_HOST, 0, nullptr), SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(syncyte_memory_allocate(8, SYNCYTE_MEMORY_HOST, 3, &data), SYNCYTE_ERR_ARGUMENT);
  EXPECT_TRUE(last_error_has("device is 3")) << syncyte_last_error();
  EXPECT_EQ(syncyte_memory_allocate(8, 9, 0, &data), SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(syncyte_memory_allocate(-1, SYNCYTE_MEMORY_HOST, 0, &data), SYNCYTE_ERR_ARGUMENT);
  EXPECT_NE(std::string(syncyte_last_error()).find("size is -1; expected 0 or more"), std::string::npos);
  EXPECT_EQ(syncyte_memory_allocate(INT64_MAX, SYNCYTE_MEMORY_HOST, 0, &data), SYNCYTE_ERR_MEMORY);
  EXPECT_EQ(data, &data) << "written in spite of an error";
  EXPECT_EQ(syncyte_memory_free(&data), SYNCYTE_ERR_ARGUMENT);
  ASSERT_EQ(syncyte_memory_allocate(8, SYNCYTE_MEMORY_HOST, 0, &data), SYNCYTE_SUCCESS);
  EXPECT_EQ(syncyte_memory_free(data), SYNCYTE_SUCCESS);
  EXPECT_EQ(syncyte_memory_free(data), SYNCYTE_ERR_ARGUMENT);
  syncyte_memory_stats_t small{};
  small.struct_size = 3;
  EXPECT_EQ(syncyte_memory_stats(&small), SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(syncyte_memory_stats(nullptr), SYNCYTE_ERR_ARGUMENT);
}

TEST(memory_capi, uses_of_devices_are_listed_up_to_the_last) {
  syncyte_device_use_t use{};
  use.struct_size = sizeof use;
  EXPECT_EQ(syncyte_memory_describe(0, &use), SYNCYTE_ERR_INDEX);
  EXPECT_EQ(syncyte_memory_describe(-1, &use), SYNCYTE_ERR_INDEX);
  EXPECT_TRUE(last_error_has("number is -1")) << syncyte_last_error();
  EXPECT_EQ(syncyte_memory_describe(0, nullptr), SYNCYTE_ERR_ARGUMENT);
}

TEST(memory_capi, buffers_of_devices_are_recycled_and_counted_apart) {
  int32_t count = 0;
  ASSERT_EQ(syncyte_memory_device_count(SYNCYTE_MEMORY_CUDA, &count), SYNCYTE_SUCCESS);
  if (count == 0) GTEST_SKIP() << "no CUDA device";
  const auto before = stats();
  void *data = nullptr, *again = nullptr;
  ASSERT_EQ(syncyte_memory_allocate(1000, SYNCYTE_MEMORY_CUDA, 0, &data), SYNCYTE_SUCCESS);
  EXPECT_EQ(stats().device_in_use - before.device_in_use, 1024);
  EXPECT_EQ(syncyte_memory_free(data), SYNCYTE_SUCCESS);
  EXPECT_EQ(stats().device_cached - before.device_cached, 1024);
  ASSERT_EQ(syncyte_memory_allocate(900, SYNCYTE_MEMORY_CUDA, 0, &again), SYNCYTE_SUCCESS);
  EXPECT_EQ(again, data);
  EXPECT_EQ(syncyte_memory_free(again), SYNCYTE_SUCCESS);
  EXPECT_EQ(stats().device_misses - before.device_misses, 1);
  EXPECT_EQ(stats().device_hits - before.device_hits, 1);
  EXPECT_GT(stats().device_limit, 0);
  EXPECT_EQ(stats().misses, before.misses);
  EXPECT_EQ(syncyte_memory_trim(), SYNCYTE_SUCCESS);
  EXPECT_EQ(stats().device_cached, 0);
}

TEST(memory_capi, devices) {
  int32_t count = -1;
  ASSERT_EQ(syncyte_memory_device_count(SYNCYTE_MEMORY_HOST, &count), SYNCYTE_SUCCESS);
  EXPECT_EQ(count, 1);
  ASSERT_EQ(syncyte_memory_device_count(SYNCYTE_MEMORY_CUDA, &count), SYNCYTE_SUCCESS);
  EXPECT_GE(count, 0);
  EXPECT_EQ(syncyte_memory_device_count(2, &count), SYNCYTE_ERR_ARGUMENT);
  void* data = nullptr;
  if (count == 0) {
    EXPECT_EQ(syncyte_memory_allocate(8, SYNCYTE_MEMORY_CUDA, 0, &data), SYNCYTE_ERR_UNSUPPORTED);
  }
}

TEST(memory_capi, copies_between_buffers_of_equal_size) {
  std::vector<double> source{1, 2, 3, 4};
  std::vector<float> target(8);
  const auto from = buffer_of(source.data(), SYNCYTE_FLOAT64, {4});
  auto to = buffer_of(target.data(), SYNCYTE_FLOAT32, {2, 4});
  ASSERT_EQ(syncyte_memory_copy(&to, &from, nullptr), SYNCYTE_SUCCESS);
  EXPECT_EQ(std::memcmp(source.data(), target.data(), 32), 0);
  to.shape[1] = 3;
  to.strides[0] = 12;
  EXPECT_EQ(syncyte_memory_copy(&to, &from, nullptr), SYNCYTE_ERR_SHAPE);
  to = buffer_of(target.data(), SYNCYTE_FLOAT32, {2, 4});
  to.strides[0] = 32;
  EXPECT_EQ(syncyte_memory_copy(&to, &from, nullptr), SYNCYTE_ERR_SHAPE);
  EXPECT_EQ(syncyte_memory_copy(nullptr, &from, nullptr), SYNCYTE_ERR_ARGUMENT);
}

}  // namespace
