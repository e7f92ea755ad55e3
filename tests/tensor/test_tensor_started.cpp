// SPDX-License-Identifier: BSD-3-Clause
// Started accesses to rows and boxes: the same results as the blocking ones, several at once, in any order of their
// ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

constexpr std::int64_t rows = 101, columns = 33;

/// One started gather of random rows, with its memory.
struct gathering {
  gathering(tensor::whole_tensor& from, int seed)
      : index(reference::random_rows<std::int64_t>(seed, rank(), 300, rows)), output(300 * columns) {
    const syncyte_buffer_t wanted = index_of(index);
    const syncyte_buffer_t found = buffer_of(output, SYNCYTE_INT32, {300, columns});
    access = start<tensor::gather>(from, &wanted, &found);
  }
  std::int32_t expected(std::size_t i) const {
    return filled<std::int32_t>(index[i / columns] * columns + static_cast<std::int64_t>(i) % columns);
  }
  /// Another thread may still write the output.
  bool is_there() {
    for (std::size_t i = 0; i < output.size(); ++i)
      if (std::atomic_ref(output[i]).load() != expected(i)) return false;
    return true;
  }
  void check() const {
    for (std::size_t i = 0; i < output.size(); ++i) ASSERT_EQ(output[i], expected(i)) << i;
  }

  std::vector<std::int64_t> index;
  std::vector<std::int32_t> output;
  started_access access;
};

TEST(started_gather, several_at_once) {
  for (const auto& parts : partitions(rows)) {
    const auto tensor = make_tensor(SYNCYTE_INT32, {rows, columns}, parts);
    fill<std::int32_t>(*tensor);
    std::deque<gathering> all;
    for (int i = 0; i < 40; ++i) all.emplace_back(*tensor, i);
    for (auto each = all.rbegin(); each != all.rend(); ++each) each->access->wait();
    for (const auto& each : all) each.check();
    barrier();
  }
}

TEST(started_gather, ends_without_calls) {
  const auto tensor = make_tensor(SYNCYTE_INT32, {rows, columns});
  fill<std::int32_t>(*tensor);
  gathering started(*tensor, 5);
  const auto begin = std::chrono::steady_clock::now();
  while (!started.is_there() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  started.check();
  started.access->wait();
  barrier();
}

TEST(started_gather, keeps_the_tensor) {
  auto tensor = make_tensor(SYNCYTE_INT32, {rows, columns});
  fill<std::int32_t>(*tensor);
  gathering started(*tensor, 7);
  tensor.reset();
  started.access->wait();
  started.check();
  barrier();
}

TEST(started_gather, can_be_given_up) {
  const auto tensor = make_tensor(SYNCYTE_INT32, {rows, columns});
  fill<std::int32_t>(*tensor);
  for (int i = 0; i < 10; ++i) gathering given_up(*tensor, i);
  gathering started(*tensor, 11);
  started.access->wait();
  started.check();
  barrier();
}

TEST(started_scatter, writes_its_rows) {
  const auto tensor = make_tensor(SYNCYTE_INT32, {rows, columns});
  std::vector<std::int64_t> mine;  // each rank writes its share of all rows, wherever they are
  for (std::int64_t row = rank(); row < rows; row += ranks()) mine.push_back(row);
  std::vector<std::int32_t> source;
  for (const std::int64_t row : mine)
    for (std::int64_t j = 0; j < columns; ++j) source.push_back(filled<std::int32_t>(row * columns + j));
  const syncyte_buffer_t index = index_of(mine);
  const syncyte_buffer_t packed = buffer_of(source, SYNCYTE_INT32, {static_cast<std::int64_t>(mine.size()), columns});
  start<tensor::scatter>(tensor, &index, &packed)->wait();
  tensor->sync();
  EXPECT_EQ(read_all<std::int32_t>(*tensor), filled_table<std::int32_t>(rows * columns));
  barrier();
}

TEST(started_scatter_add, loses_no_add) {
  if (!on_one_node() && !has_fabric()) GTEST_SKIP() << "MPI RMA cannot add";
  const auto tensor = make_tensor(SYNCYTE_INT64, {rows, 4});
  std::vector<std::int64_t> all(rows);
  std::iota(all.begin(), all.end(), 0);
  const std::vector<std::int64_t> ones(rows * 4, 1);
  const syncyte_buffer_t index = index_of(all);
  const syncyte_buffer_t packed = buffer_of(ones, SYNCYTE_INT64, {rows, 4});
  std::deque<started_access> adds;
  for (int i = 0; i < 20; ++i) adds.push_back(start<tensor::scatter_add>(tensor, &index, &packed));
  for (auto& add : adds) add->wait();
  tensor->sync();
  EXPECT_EQ(read_all<std::int64_t>(*tensor), std::vector<std::int64_t>(rows * 4, 20 * ranks()));
  barrier();
}

/// Memory of a box whose elements are in column-major order.
struct transposed_box {
  transposed_box(std::int64_t height, std::int64_t width, std::int64_t value)
      : elements(static_cast<std::size_t>(height * width), value),
        buffer(buffer_of(elements, SYNCYTE_INT64, {height, width})) {
    buffer.strides[0] = sizeof(std::int64_t);
    buffer.strides[1] = height * static_cast<std::int64_t>(sizeof(std::int64_t));
  }

  std::vector<std::int64_t> elements;
  syncyte_buffer_t buffer;
};

TEST(started_box, gets_boxes_of_all_owners) {
  for (const auto& parts : partitions(rows)) {
    const auto tensor = make_tensor(SYNCYTE_INT64, {rows, columns}, parts);
    fill<std::int64_t>(*tensor);
    std::deque<transposed_box> boxes;
    std::deque<started_access> gets;
    for (std::int64_t i = 0; i < 12; ++i) {
      boxes.emplace_back(rows - i, 7, -1);
      gets.push_back(start<tensor::get_box>(tensor, extents{i, i}, &boxes.back().buffer));
    }
    while (!gets.back()->test()) std::this_thread::yield();
    EXPECT_TRUE(gets.back()->test());  // again after the end
    for (auto& get : gets) get->wait();
    for (std::int64_t i = 0; i < 12; ++i)
      for (std::int64_t row = i; row < rows; ++row)
        for (std::int64_t j = 0; j < 7; ++j) {
          const auto place = static_cast<std::size_t>((row - i) + j * (rows - i));
          ASSERT_EQ(boxes[static_cast<std::size_t>(i)].elements[place], filled<std::int64_t>(row * columns + i + j));
        }
    barrier();
  }
}

TEST(started_box, given_up_get_touches_nothing) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {rows, columns});
  fill<std::int64_t>(*tensor);
  for (int i = 0; i < 10; ++i) {
    transposed_box box(rows, 20, -1);
    start<tensor::get_box>(tensor, extents{0, 0}, &box.buffer);
  }
  barrier();
}

TEST(started_box, puts_with_memory_of_its_own) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {rows, columns});
  auto box = std::make_unique<transposed_box>(rows, 1, rank() + 1);
  const auto put = start<tensor::put_box>(tensor, extents{0, rank()}, &box->buffer);
  box->elements.assign(box->elements.size(), -1);
  box.reset();
  put->wait();
  tensor->sync();
  const auto all = read_all<std::int64_t>(*tensor);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t column = static_cast<std::int64_t>(i) % columns;
    ASSERT_EQ(all[i], column < ranks() ? column + 1 : 0) << i;
  }
  barrier();
}

TEST(started_box, loses_no_add) {
  if (!on_one_node() && !has_fabric()) GTEST_SKIP() << "MPI RMA cannot add";
  const auto tensor = make_tensor(SYNCYTE_INT64, {rows, columns});
  std::deque<started_access> adds;
  const std::int64_t alpha = 3;
  for (int i = 0; i < 20; ++i) {
    const transposed_box ones(rows - 1, columns - 1, 1);
    adds.push_back(start<tensor::accumulate_box>(tensor, extents{1, 1}, &ones.buffer, &alpha, SYNCYTE_OP_SUM));
  }
  for (auto& add : adds) add->wait();
  tensor->sync();
  const auto all = read_all<std::int64_t>(*tensor);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_inside = i >= columns && i % columns != 0;
    ASSERT_EQ(all[i], is_inside ? 60 * ranks() : 0) << i;
  }
  tensor->sync();
  const transposed_box seven(rows, columns, 7);
  start<tensor::accumulate_box>(tensor, extents{0, 0}, &seven.buffer, nullptr, SYNCYTE_OP_MIN)->wait();
  tensor->sync();
  EXPECT_EQ(read_all<std::int64_t>(*tensor)[columns + 1], 7);
  barrier();
}

/// A box of more than the bytes of one round of the blocking forms.
TEST(started_box, large_box_in_one_round) {
  constexpr std::int64_t width = 1 << 20;
  const auto tensor = make_tensor(SYNCYTE_INT8, {70, width});
  std::vector<std::int8_t> values(70 * width, 5);
  const syncyte_buffer_t box = buffer_of(values, SYNCYTE_INT8, {70, width});
  if (rank() == 0) start<tensor::put_box>(tensor, extents{0, 0}, &box)->wait();
  tensor->sync();
  values.assign(values.size(), 0);
  if (rank() == ranks() - 1) {
    start<tensor::get_box>(tensor, extents{0, 0}, &box)->wait();
    EXPECT_EQ(std::count(values.begin(), values.end(), 5), std::ssize(values));
  }
  barrier();
}

TEST(started_box, wrong_arguments_fail_at_once) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {rows, columns});
  transposed_box box(2, 2, 0);
  expect_error(outcome_of([&] { start<tensor::get_box>(tensor, extents{rows - 1, 0}, &box.buffer); }),
               SYNCYTE_ERR_INDEX, "lower");
  expect_error(outcome_of([&] {
                 start<tensor::accumulate_box>(tensor, extents{0, 0}, &box.buffer, nullptr, SYNCYTE_OP_REPLACE);
               }),
               SYNCYTE_ERR_ARGUMENT, "put_box");
  const transposed_box empty(0, 2, 0);
  EXPECT_TRUE(start<tensor::put_box>(tensor, extents{0, 0}, &empty.buffer)->test());
  barrier();
}

TEST(started_gather, wrong_arguments_fail_at_once) {
  const auto tensor = make_tensor(SYNCYTE_INT32, {rows, columns});
  const std::vector<std::int64_t> wrong{rows};
  std::vector<std::int32_t> output(columns);
  const syncyte_buffer_t index = index_of(wrong);
  const syncyte_buffer_t found = buffer_of(output, SYNCYTE_INT32, {1, columns});
  expect_error(outcome_of([&] { start<tensor::gather>(tensor, &index, &found); }), SYNCYTE_ERR_INDEX,
               "index 101 at position 0");
  barrier();
}

}  // namespace
