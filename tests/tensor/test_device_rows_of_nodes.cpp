// SPDX-License-Identifier: BSD-3-Clause
// Rows of tensors on devices, of this node and others: the same operations on a tensor in host memory are the
// reference.

#include <gtest/gtest.h>

#include "device_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

class device_rows : public device_tensor {
 protected:
  void SetUp() override {
    device_tensor::SetUp();
    if (!IsSkipped() && !can_add()) GTEST_SKIP() << "no rank sees all devices";
  }
};

/// Two tensors of equal values, in host memory and on devices.
template <class T>
struct pair_of_tensors {
  pair_of_tensors(syncyte_dtype_t dtype, const extents& shape, const reference::lengths& parts)
      : host(make_tensor(dtype, shape, parts)), device(make_device_tensor(dtype, shape, parts)) {
    std::vector<T> start;
    for (std::int64_t i = 0; i < host->local().shape[0] * row(); ++i)
      start.push_back(static_cast<T>(reference::random_integer(7, rank(), i, 0, 99)));
    std::ranges::copy(start, static_cast<T*>(host->local().data));
    write_local(*device, start);
    sync();
  }

  std::int64_t row() const { return host->layout().row_elements(); }
  void sync() {
    host->sync();
    device->sync();
  }

  template <class Operation>
  void run_both(const std::vector<std::int64_t>& rows, const std::vector<T>& values) {
    const syncyte_buffer_t index = index_of(rows);
    const syncyte_buffer_t packed = buffer_of(values, host->layout().dtype(), {std::ssize(values)});
    run<Operation>(*host, &index, &packed);
    run_rows<Operation>(*device, rows, values);
  }

  void expect_equal() {
    sync();
    const auto rows = all_rows(host->layout().rows());
    EXPECT_TRUE(same_bytes(read_all<T>(*host), gathered<T>(*device, rows))) << host->layout().text();
    sync();
  }

  tensor_pointer host, device;
};

template <class T>
std::vector<T> random_values(std::uint64_t seed, std::int64_t count) {
  std::vector<T> result;
  for (std::int64_t i = 0; i < count; ++i)
    result.push_back(static_cast<T>(reference::random_integer(seed, rank(), i, 0, 99)));
  return result;
}

/// Gathers with rows that repeat, writes each row by one rank, adds by all ranks at once. All sums are exact.
template <class T>
void check(syncyte_dtype_t dtype, const extents& shape, const reference::lengths& parts, std::int64_t count) {
  pair_of_tensors<T> of(dtype, shape, parts);
  const auto wanted = reference::random_rows<std::int64_t>(1, rank(), count, shape[0]);
  EXPECT_TRUE(same_bytes(gathered<T>(*of.device, wanted), [&] {
    std::vector<T> expected(static_cast<std::size_t>(count * of.row()));
    const syncyte_buffer_t index = index_of(wanted), output = buffer_of(expected, dtype, {std::ssize(expected)});
    run<tensor::gather>(*of.host, &index, &output);
    return expected;
  }()));
  of.sync();
  std::vector<std::int64_t> mine;
  for (std::int64_t row = (rank() + 1) % ranks(); row < shape[0]; row += ranks()) mine.push_back(row);
  of.template run_both<tensor::scatter>(mine, random_values<T>(2, std::ssize(mine) * of.row()));
  of.expect_equal();
  if (!rows::can_add_on_devices(dtype)) return;
  of.template run_both<tensor::scatter_add>(wanted, random_values<T>(3, count * of.row()));
  of.expect_equal();
}

TEST_F(device_rows, equal_those_of_the_host) {
  check<float>(SYNCYTE_FLOAT32, {37, 3}, {}, 200);
  check<double>(SYNCYTE_FLOAT64, {41}, reference::uneven_lengths(5, 41, ranks()), 100);
  check<std::int32_t>(SYNCYTE_INT32, {23, 2, 3}, reference::uneven_lengths(9, 23, ranks()), 50);
  check<std::uint8_t>(SYNCYTE_UINT8, {70001}, {}, 90000);  // items of one byte: the longest lists
  check<float>(SYNCYTE_FLOAT32, {5, 0}, {}, 3);
  check<float>(SYNCYTE_FLOAT32, {11, 7}, {}, 0);
}

TEST_F(device_rows, go_in_several_pieces) {
  check<std::int64_t>(SYNCYTE_INT64, {97, 12500}, {}, 100);  // 100 KB each: more than a pinned piece in sum
}

TEST_F(device_rows, of_rows_that_are_longer_than_a_message) {
  check<float>(SYNCYTE_FLOAT32, {7, 40003}, reference::uneven_lengths(2, 7, ranks()), 9);
}

TEST_F(device_rows, that_are_longer_than_a_piece) { check<std::int32_t>(SYNCYTE_INT32, {ranks() + 1, 1100001}, {}, 2); }

TEST_F(device_rows, with_an_index_of_int32) {
  pair_of_tensors<float> of(SYNCYTE_FLOAT32, {29, 2}, {});
  const auto rows = reference::random_rows<std::int64_t>(4, rank(), 33, 29);
  const device_array<std::int32_t> index({rows.begin(), rows.end()}, SYNCYTE_INT32, {33});
  const device_array<float> output(std::vector<float>(66), SYNCYTE_FLOAT32, {33, 2});
  const syncyte_buffer_t list = index.buffer(), packed = output.buffer();
  run<tensor::gather>(*of.device, &list, &packed);
  EXPECT_EQ(output.read(), gathered<float>(*of.device, rows));
  of.sync();
}

/// A row is updated in parts, which have the locks of their elements.
TEST_F(device_rows, updates_of_long_rows_have_the_hosts_bits) {
  for (const auto kind : {SYNCYTE_OPTIMIZER_ADAM, SYNCYTE_OPTIMIZER_ADAGRAD}) {
    pair_of_tensors<float> of(SYNCYTE_FLOAT32, {5, 70001}, {});
    for (const tensor_pointer& each : {of.host, of.device}) {
      tensor::set_optimizer(*each, {.optimizer = kind, .lr = 0.3, .eps = 1e-8});
      each->sync();
    }
    for (int turn = 0; turn < ranks(); ++turn) {
      const std::vector<std::int64_t> rows{4, 0, 4, 2};
      if (turn == rank()) of.run_both<tensor::apply_gradients>(rows, random_values<float>(6, 4 * of.row()));
      of.expect_equal();
    }
  }
}

/// Each rank reads rows of others while these add to them: whole numbers never get smaller.
TEST_F(device_rows, are_read_while_others_add) {
  const auto tensor = make_device_tensor(SYNCYTE_INT64, {3 * ranks(), 5});
  std::vector<std::int64_t> before(static_cast<std::size_t>(15 * ranks()));
  for (int round = 0; round < 10; ++round) {
    run_rows<tensor::scatter_add>(*tensor, all_rows(3 * ranks()),
                                  std::vector<std::int64_t>(static_cast<std::size_t>(15 * ranks()), 1));
    const auto now = gathered<std::int64_t>(*tensor, all_rows(3 * ranks()));
    for (std::size_t i = 0; i < now.size(); ++i) ASSERT_GE(now[i], before[i]);
    before = now;
  }
  tensor->sync();
  for (const std::int64_t each : gathered<std::int64_t>(*tensor, all_rows(3 * ranks()))) ASSERT_EQ(each, 10 * ranks());
  tensor->sync();
}

}  // namespace
