// SPDX-License-Identifier: BSD-3-Clause
// More than 2^31 elements, and more than 2^31 bytes a rank: nothing is counted in 32 bits.

#include <gtest/gtest.h>

#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

constexpr std::int64_t limit = std::int64_t{1} << 31;

TEST(large_tensor, rows_beyond31_bits) {
  const auto tensor = make_tensor(SYNCYTE_INT8, {limit + 1000}, reference::lengths_on_one(limit + 1000, ranks(), 0));
  const std::vector<std::int64_t> rows{limit + 999, 5, limit, limit - 1, limit + 1};
  const std::vector<std::int8_t> source{1, 2, 3, 4, 5};
  const syncyte_buffer_t index = index_of(rows);
  const syncyte_buffer_t packed = buffer_of(source, SYNCYTE_INT8, {5});
  if (rank() == ranks() - 1) run<tensor::scatter>(*tensor, &index, &packed);
  tensor->sync();
  std::vector<std::int8_t> seen(5);
  const syncyte_buffer_t output = buffer_of(seen, SYNCYTE_INT8, {5});
  run<tensor::gather>(*tensor, &index, &output);
  EXPECT_EQ(seen, source);
  tensor->sync();
  run<tensor::scatter_add>(*tensor, &index, &packed);
  tensor->sync();
  std::vector<std::int8_t> box(1002);
  const syncyte_buffer_t end = buffer_of(box, SYNCYTE_INT8, {1002});
  const std::int64_t lower[] = {limit - 2};
  run<tensor::get_box>(*tensor, lower, &end);
  EXPECT_EQ(box[1], 4 * (ranks() + 1));
  EXPECT_EQ(box[2], 3 * (ranks() + 1));
  EXPECT_EQ(box[1001], ranks() + 1);
  const std::vector<std::int64_t> outside{limit + 1000};
  const syncyte_buffer_t bad = index_of(outside);
  const syncyte_buffer_t one = buffer_of(seen, SYNCYTE_INT8, {1});
  expect_error(outcome_of([&] { run<tensor::gather>(*tensor, &bad, &one); }), SYNCYTE_ERR_INDEX, "2147484648");
  barrier();
}

TEST(large_tensor, rows_of_half_a_gibibyte) {
  const std::int64_t row = std::int64_t{1} << 29;
  const auto tensor = make_tensor(SYNCYTE_UINT8, {5, row});
  const std::int64_t lower[] = {4, row - 3};
  std::vector<std::uint8_t> values{1, 2, 3};
  const syncyte_buffer_t tail = buffer_of(values, SYNCYTE_UINT8, {1, 3});
  if (rank() == 0) run<tensor::put_box>(*tensor, lower, &tail);
  tensor->sync();
  std::vector<std::uint8_t> whole(static_cast<std::size_t>(row));
  const std::vector<std::int32_t> rows{4};
  const syncyte_buffer_t index = index_of(rows);
  const syncyte_buffer_t output = buffer_of(whole, SYNCYTE_UINT8, {row});
  run<tensor::gather>(*tensor, &index, &output);
  EXPECT_EQ(whole.front(), 0);
  EXPECT_EQ(std::vector<std::uint8_t>(whole.end() - 3, whole.end()), values);
  barrier();
}

}  // namespace
