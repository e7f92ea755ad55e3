// SPDX-License-Identifier: BSD-3-Clause
// Elements as counters and flags.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <thread>

#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

class tensor_counters : public testing::TestWithParam<syncyte_dtype_t> {};

INSTANTIATE_TEST_SUITE_P(of, tensor_counters, testing::Values(SYNCYTE_INT32, SYNCYTE_INT64));

TEST_P(tensor_counters, fetch_add_hands_out_every_number_once) {
  const auto tensor = make_tensor(GetParam(), {ranks(), 3});
  constexpr int each = 50;
  const std::int64_t element = 3 * (ranks() - 1) + 1;
  std::int64_t sum = 0, last = -1;
  for (int i = 0; i < each; ++i) {
    const std::int64_t mine = fetch_add(*tensor, element, 1);
    EXPECT_GT(mine, last);
    last = mine;
    sum += mine;
  }
  tensor->sync();
  EXPECT_EQ(tensor::load(*tensor, element), each * ranks());
  fetch_add(*tensor, 3 * rank(), sum);  // the values that ranks get are summed below
  tensor->sync();
  std::int64_t total = 0;
  for (int r = 0; r < ranks(); ++r) total += tensor::load(*tensor, 3 * r);
  const std::int64_t count = each * ranks();
  EXPECT_EQ(total, count * (count - 1) / 2);
  EXPECT_EQ(tensor::load(*tensor, element + 1), 0) << "a neighbour changed";
  tensor->sync();
}

TEST_P(tensor_counters, compare_swap_lets_one_in) {
  const auto tensor = make_tensor(GetParam(), {5});
  for (int round = 0; round < 20; ++round) {  // a lock made of one element, around an element that is not atomic
    while (compare_swap(*tensor, 4, 0, rank() + 1) != 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    tensor::store(*tensor, 0, tensor::load(*tensor, 0) + 1);
    EXPECT_EQ(compare_swap(*tensor, 4, rank() + 1, 0), rank() + 1);
  }
  tensor->sync();
  EXPECT_EQ(tensor::load(*tensor, 0), 20 * ranks());
  EXPECT_EQ(compare_swap(*tensor, 0, -1, 5), 20 * ranks()) << "not equal: unchanged";
  tensor->sync();
}

TEST_P(tensor_counters, negative_numbers) {
  const auto tensor = make_tensor(GetParam(), {ranks()});
  tensor::store(*tensor, rank(), -5);
  EXPECT_EQ(fetch_add(*tensor, rank(), -2), -5);
  EXPECT_EQ(tensor::load(*tensor, rank()), -7);
  EXPECT_EQ(compare_swap(*tensor, rank(), -7, 9), -7);
  EXPECT_EQ(tensor::load(*tensor, rank()), 9);
  tensor->sync();
}

TEST_P(tensor_counters, a_release_shows_what_was_written_before) {
  const auto data = make_tensor(SYNCYTE_FLOAT64, {ranks(), 100});
  const auto flags = make_tensor(GetParam(), {ranks()});
  const int next = (rank() + 1) % ranks(), previous = (rank() + ranks() - 1) % ranks();
  const std::vector<std::int64_t> to{next}, mine{rank()};
  const syncyte_buffer_t to_index = index_of(to), my_index = index_of(mine);
  for (int round = 1; round <= 20; ++round) {
    const std::vector<double> values(100, round + 0.5 * rank());
    const syncyte_buffer_t source = buffer_of(values, SYNCYTE_FLOAT64, {1, 100});
    run<tensor::scatter>(*data, &to_index, &source);
    data->flush();
    tensor::store(*flags, next, round);
    EXPECT_EQ(tensor::wait(*flags, rank(), SYNCYTE_COMPARE_GE, round, 10.0), round);
    std::vector<double> seen(100);
    const syncyte_buffer_t output = buffer_of(seen, SYNCYTE_FLOAT64, {1, 100});
    run<tensor::gather>(*data, &my_index, &output);
    EXPECT_EQ(seen, std::vector<double>(100, round + 0.5 * previous));
    flags->sync();  // no rank writes the next round before all have read
  }
}

TEST_P(tensor_counters, wait_knows_all_comparisons) {
  const auto tensor = make_tensor(GetParam(), {ranks()});
  tensor::store(*tensor, rank(), 7);
  EXPECT_EQ(tensor::wait(*tensor, rank(), SYNCYTE_COMPARE_EQ, 7, 0.0), 7);
  EXPECT_EQ(tensor::wait(*tensor, rank(), SYNCYTE_COMPARE_NE, 8, 0.0), 7);
  EXPECT_EQ(tensor::wait(*tensor, rank(), SYNCYTE_COMPARE_GE, 6, 0.0), 7);
  EXPECT_EQ(tensor::wait(*tensor, rank(), SYNCYTE_COMPARE_LE, 8, -1.0), 7);
  for (const auto& [compare, value] :
       {std::pair{SYNCYTE_COMPARE_EQ, 8}, {SYNCYTE_COMPARE_NE, 7}, {SYNCYTE_COMPARE_GE, 8}, {SYNCYTE_COMPARE_LE, 6}})
    expect_error(outcome_of([&] { tensor::wait(*tensor, rank(), compare, value, 0.0); }), SYNCYTE_ERR_TIMEOUT,
                 "was still 7 after 0 seconds");
  tensor->sync();
}

TEST_P(tensor_counters, wait_sleeps_until_the_limit) {
  const auto tensor = make_tensor(GetParam(), {ranks()});
  const auto begin = std::chrono::steady_clock::now();
  timespec cpu_begin{}, cpu_end{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu_begin);
  EXPECT_EQ(outcome_of([&] { tensor::wait(*tensor, rank(), SYNCYTE_COMPARE_EQ, 1, 0.2); }).status, SYNCYTE_ERR_TIMEOUT);
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu_end);
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(waited.count(), 0.2);
  const double cpu = static_cast<double>(cpu_end.tv_sec - cpu_begin.tv_sec) +
                     1e-9 * static_cast<double>(cpu_end.tv_nsec - cpu_begin.tv_nsec);
  EXPECT_LT(cpu, 0.1) << "asleep, not spinning";
  tensor->sync();
}

TEST(counter_errors, wrong_elements_and_numbers) {
  const auto floats = make_tensor(SYNCYTE_FLOAT32, {8});
  expect_error(outcome_of([&] { tensor::load(*floats, 0); }), SYNCYTE_ERR_TYPE, "int32 or int64");
  const auto tensor = make_tensor(SYNCYTE_INT32, {8, 2});
  expect_error(outcome_of([&] { tensor::load(*tensor, 16); }), SYNCYTE_ERR_INDEX, "element is 16; expected 0 to 15");
  expect_error(outcome_of([&] { tensor::store(*tensor, -1, 0); }), SYNCYTE_ERR_INDEX, "element is -1");
  const std::int64_t large = std::int64_t{1} << 31;
  expect_error(outcome_of([&] { tensor::store(*tensor, 0, large); }), SYNCYTE_ERR_ARGUMENT, "value is 2147483648");
  expect_error(outcome_of([&] { fetch_add(*tensor, 0, -large - 1); }), SYNCYTE_ERR_ARGUMENT, "operand");
  expect_error(outcome_of([&] { compare_swap(*tensor, 0, large, 0); }), SYNCYTE_ERR_ARGUMENT, "expected is");
  expect_error(outcome_of([&] { tensor::wait(*tensor, 0, SYNCYTE_COMPARE_GE, large, 0.0); }), SYNCYTE_ERR_ARGUMENT,
               "value is 2147483648");
  expect_error(outcome_of([&] { tensor::wait(*tensor, 0, 5, 0, 0.0); }), SYNCYTE_ERR_ARGUMENT, "compare is 5");
  expect_error(outcome_of([&] { tensor::wait(*tensor, 0, 1, 0, std::nan("")); }), SYNCYTE_ERR_ARGUMENT, "timeout");
  const auto empty = make_tensor(SYNCYTE_INT32, {0});
  expect_error(outcome_of([&] { tensor::load(*empty, 0); }), SYNCYTE_ERR_INDEX, "0 elements");
  barrier();
}

}  // namespace
