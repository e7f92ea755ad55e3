// SPDX-License-Identifier: BSD-3-Clause
// Locks of rows, and rows that are written with a signal.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "long_waits.hpp"
#include "tensor/row_locks.hpp"
#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

tensor_pointer make_lockable(const extents& shape, bool is_wrapped = false) {
  static std::vector<std::int64_t> own;
  tensor::tensor_options options;
  options.name = "lockable";
  options.row_locks = true;
  if (!is_wrapped)
    return tensor::whole_tensor::create(shared_world(), SYNCYTE_INT64, static_cast<std::int32_t>(shape.size()),
                                        shape.data(), options);
  own.assign(static_cast<std::size_t>(product(shape)), 0);
  const syncyte_buffer_t mine = buffer_of(own, SYNCYTE_INT64, shape);
  return tensor::whole_tensor::wrap(shared_world(), &mine, options);
}

/// Reads a row, and writes it with 1 added to each element: no addition is lost while the row is locked.
void add_by_reading(tensor::whole_tensor& tensor, std::int64_t row, std::int64_t elements) {
  const std::vector<std::int64_t> rows{row};
  std::vector<std::int64_t> values(static_cast<std::size_t>(elements));
  const syncyte_buffer_t index = index_of(rows);
  const syncyte_buffer_t packed = buffer_of(values, SYNCYTE_INT64, {1, elements});
  run<tensor::gather>(tensor, &index, &packed);
  for (auto& value : values) ++value;
  run<tensor::scatter>(tensor, &index, &packed);
}

void check_exclusion(tensor::whole_tensor& tensor, std::int64_t elements) {
  const int rounds = on_one_node() || has_fabric() ? 40 : 3;  // MPI RMA over TCP is slow under contention
  const std::int64_t rows = tensor.layout().rows();
  barrier();
  for (int round = 0; round < rounds; ++round)
    for (const std::int64_t row : {std::int64_t{0}, rows - 1}) {
      tensor::lock(tensor, row);
      add_by_reading(tensor, row, elements);
      tensor::unlock(tensor, row);
    }
  tensor.sync();
  const auto all = read_all<std::int64_t>(tensor);
  for (const std::int64_t row : {std::int64_t{0}, rows - 1})
    for (std::int64_t e = 0; e < elements; ++e)
      EXPECT_EQ(all[static_cast<std::size_t>(row * elements + e)], (rows == 1 ? 2 : 1) * rounds * ranks()) << row;
  barrier();
}

TEST(tensor_locks, exclude_other_ranks) {
  for (const std::int64_t elements : {1, 5}) {
    check_exclusion(*make_lockable({3 * ranks(), elements}), elements);
    check_exclusion(*make_lockable({1, elements}), elements);
    check_exclusion(*make_lockable({2, elements}, true), elements);  // each rank wraps two rows
  }
}

TEST(tensor_locks, the_holder_uses_all_operations) {
  const auto tensor = make_lockable({2 * ranks(), 4});
  std::int64_t first = 0, count = 0;
  tensor->rows(rank(), first, count);
  const std::vector<std::int64_t> ones(4, 1), rows{first};
  const syncyte_buffer_t index = index_of(rows);
  const syncyte_buffer_t packed = buffer_of(ones, SYNCYTE_INT64, {1, 4});
  tensor::lock(*tensor, first);
  tensor::lock(*tensor, first + 1);  // another row's lock
  run<tensor::scatter_add>(*tensor, &index, &packed);
  run<tensor::accumulate_box>(*tensor, extents{first, 0}, &packed, nullptr, SYNCYTE_OP_SUM);
  tensor::unlock(*tensor, first + 1);
  tensor::unlock(*tensor, first);
  EXPECT_EQ(static_cast<const std::int64_t*>(tensor->local().data)[3], 2);
  tensor->sync();
}

TEST(tensor_locks, a_second_lock_of_the_rank_waits) {
  const auto tensor = make_lockable({ranks()});
  std::atomic<int> stage{0};
  tensor::lock(*tensor, rank());
  std::thread other([&] {
    stage = 1;
    tensor::lock(*tensor, rank());
    stage = 2;
    tensor::unlock(*tensor, rank());
  });
  while (stage == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(stage, 1);
  tensor::unlock(*tensor, rank());
  other.join();
  EXPECT_EQ(stage, 2);
  tensor->sync();
}

TEST(tensor_locks, wrong_use) {
  const auto tensor = make_lockable({2 * ranks()});
  const auto without = make_tensor(SYNCYTE_INT64, {2});
  expect_error(outcome_of([&] { tensor::lock(*without, 0); }), SYNCYTE_ERR_UNSUPPORTED, "without options->row_locks");
  expect_error(outcome_of([&] { tensor::unlock(*without, 0); }), SYNCYTE_ERR_UNSUPPORTED, "without options->row_locks");
  expect_error(outcome_of([&] { tensor::lock(*tensor, 2 * ranks()); }), SYNCYTE_ERR_INDEX, "row is");
  expect_error(outcome_of([&] { tensor::unlock(*tensor, -1); }), SYNCYTE_ERR_INDEX, "row is -1; expected 0 to");
  barrier();
  if (rank() == 0) tensor::lock(*tensor, 1);
  barrier();
  if (rank() > 0)
    expect_error(outcome_of([&] { tensor::unlock(*tensor, 1); }), SYNCYTE_ERR_ARGUMENT, "rank 0 holds it");
  expect_error(outcome_of([&] { tensor::unlock(*tensor, 0); }), SYNCYTE_ERR_ARGUMENT, "it is free");
  barrier();
  if (rank() == 0) tensor::unlock(*tensor, 1);
  tensor->sync();
}

TEST(tensor_locks, waits_for_other_nodes_send_few_messages) {
  if (ranks() == 1) GTEST_SKIP();
  const auto tensor = make_lockable({ranks()});
  if (rank() == 0) tensor::lock(*tensor, 0);
  barrier();
  if (rank() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    tensor::unlock(*tensor, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    tensor::store(*tensor, 0, 1);
  } else {
    expect_few_messages([&] { tensor::lock(*tensor, 0); });
    tensor::unlock(*tensor, 0);
    expect_few_messages([&] { tensor::wait(*tensor, 0, SYNCYTE_COMPARE_EQ, 1, -1); });
  }
  barrier();
}

TEST(tensor_locks, a_wait_can_be_interrupted) {
  if (ranks() == 1) GTEST_SKIP();
  const auto tensor = make_lockable({ranks()});
  if (rank() == 0) tensor::lock(*tensor, 0);
  barrier();
  if (rank() > 0) expect_interruptible([&] { tensor::lock(*tensor, 0); });
  barrier();
  if (rank() == 0) tensor::unlock(*tensor, 0);
  tensor::lock(*tensor, 0);  // the interrupted ones do not hold it
  tensor::unlock(*tensor, 0);
  barrier();
}

TEST(tensor_locks, those_of_a_slow_owner_are_taken_and_given_back_in_spite_of_an_interrupt) {
  if (on_one_node()) GTEST_SKIP() << "the owner of mapped rows need not answer";
  const auto tensor = make_lockable({ranks()});
  const int row = ranks() - 1;  // and its owner
  expect_uninterruptible(row, [&] { tensor::lock(*tensor, row); });
  expect_uninterruptible(row, [&] { tensor::unlock(*tensor, row); });
  tensor::lock(*tensor, row);  // nobody holds it
  tensor::unlock(*tensor, row);
  barrier();
}

TEST(tensor_locks, all_ranks_must_agree_on_them) {
  if (ranks() == 1) GTEST_SKIP();
  tensor::tensor_options options;
  options.row_locks = rank() == 0;
  const std::int64_t rows = 4;
  expect_error(outcome_of([&] { tensor::whole_tensor::create(shared_world(), SYNCYTE_INT8, 1, &rows, options); }),
               SYNCYTE_ERR_MISMATCH, "row_locks");
}

// ---- rows with a signal

/// The last rank writes rows of all ranks and signals at each rank in turn; that rank sees the rows of the round.
TEST(tensor_signals, who_sees_the_signal_sees_the_rows) {
  // MPI RMA over TCP needs the targets, which poll their counters through it: a round takes up to a second.
  const std::int64_t rounds = on_one_node() || has_fabric() ? 30 : ranks();
  const std::int64_t rows = 3 * ranks();
  const auto tensor = make_tensor(SYNCYTE_INT64, {rows, 40});
  const auto signals = make_tensor(SYNCYTE_INT32, {ranks()});
  const auto taken = make_tensor(SYNCYTE_INT32, {1});
  std::vector<std::int64_t> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), 0);
  const syncyte_buffer_t index = index_of(all);
  for (std::int64_t round = 1; round <= rounds; ++round) {
    const std::int64_t reader = round % ranks();
    if (rank() == ranks() - 1) {
      const std::vector<std::int64_t> values(static_cast<std::size_t>(rows * 40), round);
      const syncyte_buffer_t source = buffer_of(values, SYNCYTE_INT64, {rows, 40});
      const bool adds = round % 2 == 0;
      const std::int64_t before = adds ? tensor::load(*signals, reader) : 0;
      run<tensor::put_signal>(*tensor, &index, &source, signals, reader, round - before,
                              adds ? SYNCYTE_OP_SUM : SYNCYTE_OP_REPLACE);
    }
    if (rank() == reader) {
      tensor::wait(*signals, reader, SYNCYTE_COMPARE_EQ, round, -1);
      EXPECT_EQ(read_all<std::int64_t>(*tensor), std::vector<std::int64_t>(static_cast<std::size_t>(rows * 40), round));
      tensor::store(*taken, 0, round);
    }
    if (rank() == ranks() - 1) tensor::wait(*taken, 0, SYNCYTE_COMPARE_EQ, round, -1);
  }
  tensor->sync();
}

TEST(tensor_signals, no_rows_signal_too) {
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {4, 2});
  const auto signals = make_tensor(SYNCYTE_INT64, {1});
  const std::vector<std::int64_t> none;
  const std::vector<float> nothing;
  const syncyte_buffer_t index = index_of(none);
  const syncyte_buffer_t source = buffer_of(nothing, SYNCYTE_FLOAT32, {0, 2});
  run<tensor::put_signal>(*tensor, &index, &source, signals, 0, 3, SYNCYTE_OP_SUM);
  EXPECT_EQ(tensor::wait(*signals, 0, SYNCYTE_COMPARE_EQ, 3 * ranks(), -1), 3 * ranks());
  signals->sync();
}

TEST(tensor_signals, wrong_arguments_change_nothing) {
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {4, 2});
  const auto signals = make_tensor(SYNCYTE_INT32, {2});
  const std::vector<std::int64_t> rows{1}, far{4};
  const std::vector<float> ones(2, 1.0f);
  const syncyte_buffer_t index = index_of(rows), outside = index_of(far);
  const syncyte_buffer_t source = buffer_of(ones, SYNCYTE_FLOAT32, {1, 2});
  const auto attempt = [&](const syncyte_buffer_t& where, const tensor_pointer& counters, std::int64_t element,
                           syncyte_op_t op, std::int64_t value) {
    return outcome_of([&] { run<tensor::put_signal>(*tensor, &where, &source, counters, element, value, op); });
  };
  expect_error(attempt(outside, signals, 0, SYNCYTE_OP_SUM, 1), SYNCYTE_ERR_INDEX, "index 4 at position 0");
  expect_error(attempt(index, signals, 2, SYNCYTE_OP_SUM, 1), SYNCYTE_ERR_INDEX, "element is 2");
  expect_error(attempt(index, tensor, 0, SYNCYTE_OP_SUM, 1), SYNCYTE_ERR_TYPE, "int32 or int64");
  expect_error(attempt(index, signals, 0, SYNCYTE_OP_MAX, 1), SYNCYTE_ERR_ARGUMENT, "op is");
  expect_error(attempt(index, signals, 0, SYNCYTE_OP_SUM, std::int64_t{1} << 40), SYNCYTE_ERR_ARGUMENT, "value is");
  EXPECT_EQ(read_all<float>(*tensor), std::vector<float>(8, 0.0f));
  EXPECT_EQ(tensor::load(*signals, 0), 0);
  barrier();
}

}  // namespace
