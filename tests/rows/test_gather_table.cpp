// SPDX-License-Identifier: BSD-3-Clause
// syncyte_rows_gather: any strides, every element type, wrong arguments.

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "memory/device.hpp"
#include "rows/gather_table.hpp"

namespace {

using namespace syncyte;
using shape_t = std::vector<std::int64_t>;

struct array {
  array(std::vector<std::int32_t>& numbers, std::int64_t first, const shape_t& shape, const shape_t& strides)
      : raw(base::make_buffer(numbers.data() + first, SYNCYTE_INT32, shape)) {
    for (std::size_t d = 0; d < strides.size(); ++d) raw.strides[d] = strides[d] * 4;
  }
  syncyte_buffer_t raw;
};

std::vector<std::int32_t> counting(std::size_t count) {
  std::vector<std::int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

template <class Index>
syncyte_buffer_t index_of(std::vector<Index>& rows, syncyte_dtype_t dtype) {
  return base::make_buffer(rows.data(), dtype, shape_t{static_cast<std::int64_t>(rows.size())});
}

TEST(gather_table, follows_any_strides) {
  auto numbers = counting(1000);
  std::vector<std::int64_t> rows{3, 0, 3, 1};
  const auto index = index_of(rows, SYNCYTE_INT64);
  const struct {
    std::int64_t first;
    shape_t shape, strides;
  } cases[] = {
      {0, {4, 6}, {6, 1}},        {7, {4, 5}, {9, 1}},         {500, {4, 5}, {-20, 1}},
      {0, {4, 5}, {1, 4}},        {9, {4, 5}, {50, -2}},       {3, {4}, {11}},
      {40, {4, 2, 3}, {7, 3, 1}}, {0, {4, 3, 2}, {100, 1, 3}}, {5, {4, 3}, {0, 1}},
  };
  for (const auto& given : cases) {
    const array table(numbers, given.first, given.shape, given.strides);
    const std::int64_t elements =
        std::accumulate(given.shape.begin() + 1, given.shape.end(), std::int64_t{1}, std::multiplies<>());
    std::vector<std::int32_t> output(rows.size() * static_cast<std::size_t>(elements));
    const auto target =
        base::make_buffer(output.data(), SYNCYTE_INT32, shape_t{static_cast<std::int64_t>(output.size())});
    rows::gather_table(&table.raw, &index, &target);
    std::size_t at = 0;
    for (const std::int64_t row : rows)
      for (std::int64_t i = 0; i < elements; ++i) {
        std::int64_t place = given.first + row * given.strides[0];
        std::int64_t rest = i;
        for (std::size_t d = given.shape.size() - 1; d > 0; --d) {
          place += rest % given.shape[d] * given.strides[d];
          rest /= given.shape[d];
        }
        ASSERT_EQ(output[at++], place) << base::shape_text(given.shape) << base::shape_text(given.strides);
      }
  }
}

TEST(gather_table, converts_rows_with_gaps) {
  std::vector<float> table(60);
  std::iota(table.begin(), table.end(), 0.5f);
  auto raw = base::make_buffer(table.data(), SYNCYTE_FLOAT32, shape_t{5, 4});
  raw.strides[0] = 48;
  raw.strides[1] = 12;  // every third
  std::vector<std::int32_t> rows{4, 0};
  const auto index = index_of(rows, SYNCYTE_INT32);
  double output[8];
  const auto target = base::make_buffer(output, SYNCYTE_FLOAT64, shape_t{2, 4});
  rows::gather_table(&raw, &index, &target);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(output[i], 48.5 + 3 * i);
    EXPECT_EQ(output[4 + i], 0.5 + 3 * i);
  }
}

TEST(gather_table, takes_tables_without_rows_and_without_memory) {
  for (const shape_t& shape : {shape_t{0}, shape_t{0, 3}}) {
    const auto table = base::make_buffer(nullptr, SYNCYTE_INT64, shape);
    const auto index = base::make_buffer(nullptr, SYNCYTE_INT64, shape_t{0});
    const auto output = base::make_buffer(nullptr, SYNCYTE_INT64, shape);
    rows::gather_table(&table, &index, &output);
  }
}

TEST(gather_table, refuses_what_cannot_be) {
  auto numbers = counting(24);
  std::vector<std::int64_t> rows{0, 3, 4, -1};
  float elsewhere[16] = {7};
  const auto expect = [&](syncyte_status_t status, const std::string& text, const syncyte_buffer_t& table,
                          const syncyte_buffer_t& index, const syncyte_buffer_t& output) {
    try {
      rows::gather_table(&table, &index, &output);
      ADD_FAILURE() << "nothing was thrown; expected " << text;
    } catch (const base::error& error) {
      EXPECT_EQ(error.status(), status) << error.what();
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  const auto table = base::make_buffer(numbers.data(), SYNCYTE_INT32, shape_t{4, 4});
  const auto index = index_of(rows, SYNCYTE_INT64);
  auto output = base::make_buffer(elsewhere, SYNCYTE_INT32, shape_t{4, 4});
  expect(SYNCYTE_ERR_INDEX, "index 4 at position 2 is out of range; expected 0 to 3", table, index, output);
  EXPECT_EQ(elsewhere[0], 7);
  std::vector<std::int64_t> own{0, 1};  // numbers of rows that the output would replace while they are read
  const auto wide = base::make_buffer(numbers.data(), SYNCYTE_INT64, shape_t{4});
  const auto own_index = index_of(own, SYNCYTE_INT64);
  expect(SYNCYTE_ERR_ARGUMENT, "index is in the memory of output", wide, own_index,
         base::make_buffer(own.data(), SYNCYTE_INT64, shape_t{2}));
  EXPECT_EQ(own[1], 1);
  expect(SYNCYTE_ERR_TYPE, "output is of float32; expected the table's int32", table, index,
         base::make_buffer(elsewhere, SYNCYTE_FLOAT32, shape_t{4, 4}));
  expect(SYNCYTE_ERR_SHAPE, "output", table, index, base::make_buffer(elsewhere, SYNCYTE_INT32, shape_t{3, 4}));
  expect(SYNCYTE_ERR_SHAPE, "table is of 0 dimensions", base::make_buffer(numbers.data(), SYNCYTE_INT32, {}), index,
         output);
  expect(SYNCYTE_ERR_TYPE, "index: dtype is float32", table, base::make_buffer(elsewhere, SYNCYTE_FLOAT32, shape_t{4}),
         output);
  auto on_device = table;
  on_device.memory = SYNCYTE_MEMORY_CUDA;
  if (memory::cuda_backend().count() == 0)
    expect(SYNCYTE_ERR_UNSUPPORTED, "there is no CUDA device", on_device, index, output);
  output.strides[1] = 8;
  expect(SYNCYTE_ERR_SHAPE, "output", table, index, output);
  const auto none = base::make_buffer(numbers.data(), SYNCYTE_INT32, shape_t{0, 4});
  output.strides[1] = 4;
  expect(SYNCYTE_ERR_INDEX, "0 rows", none, index, output);
}

}  // namespace
