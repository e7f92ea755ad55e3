// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "base/dtype.hpp"
#include "collectives/collectives.hpp"
#include "slow_elements.hpp"
#include "window_world.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::make_window;
using test::outcome_of;
using test::rank;
using test::ranks;
using test::slow_element;

/// The ops that are defined for a dtype, or those that are not.
std::vector<syncyte_op_t> ops_of(syncyte_dtype_t dtype, bool are_defined) {
  std::vector<syncyte_op_t> result;
  for (syncyte_op_t op = SYNCYTE_OP_SUM; op <= SYNCYTE_OP_LXOR; ++op)
    if (test::slow_has(dtype, op) == are_defined) result.push_back(op);
  return result;
}

const char* dtype_of(const testing::TestParamInfo<syncyte_dtype_t>& instance) {
  return base::dtype_name(instance.param);
}

class window_ops : public testing::TestWithParam<syncyte_dtype_t> {
 protected:
  /// Contribution of rank `who` to element `place`; small, so that every dtype represents the results exactly.
  static slow_element contribution(int who, std::size_t place) {
    return {static_cast<double>((static_cast<std::size_t>(who) * 7 + place * 3) % 3), place % 2 == 0 ? 0.0 : 1.0};
  }
  /// An element after the contributions of the first ranks.
  slow_element expected(syncyte_op_t op, int first_ranks, std::size_t place) const {
    slow_element result{};
    for (int who = 0; who < first_ranks; ++who)
      result = test::slow_combine(dtype_, op, result, contribution(who, place));
    return result;
  }
  void accumulate_in_turns(window::window& memory, syncyte_op_t op) const;
  void fetch_in_turns(window::window& memory, syncyte_op_t op) const;

  const syncyte_dtype_t dtype_ = GetParam();
  const std::size_t bytes_ = base::dtype_size(dtype_);
  static constexpr std::size_t count = 9;
  static constexpr std::size_t skipped = 3;
};

/// One rank after the other, because the result of some ops depends on the order.
void window_ops::accumulate_in_turns(window::window& memory, syncyte_op_t op) const {
  std::vector<std::byte> mine(count * bytes_);
  for (std::size_t i = 0; i < count; ++i) test::slow_store(dtype_, contribution(rank(), i), &mine[i * bytes_]);
  for (int turn = 0; turn < ranks(); ++turn) {
    for (int to = 0; to < ranks() && turn == rank(); ++to)
      test::accumulate(memory, to, skipped * bytes_, dtype_, mine.data(), count, op);
    memory.fence();
  }
}

void window_ops::fetch_in_turns(window::window& memory, syncyte_op_t op) const {
  std::vector<std::byte> operand(bytes_), previous(bytes_);
  for (int turn = 0; turn < ranks(); ++turn) {
    for (std::size_t i = 0; i < count && turn == rank(); ++i) {
      test::slow_store(dtype_, contribution(rank(), i), operand.data());
      access::run<window::fetch_op>(memory, ranks() - 1, i * bytes_, dtype_, operand.data(), op, previous.data());
      EXPECT_EQ(test::slow_load(dtype_, previous.data()), expected(op, turn, i)) << "element " << i << ", op " << op;
    }
    memory.fence();
  }
}

TEST_P(window_ops, accumulate_as_the_slow_reference_does) {
  for (const syncyte_op_t op : ops_of(dtype_, true)) {
    const auto memory = make_window(2 * count * bytes_);
    accumulate_in_turns(*memory, op);
    for (std::size_t i = 0; i < 2 * count; ++i) {
      const bool is_touched = i >= skipped && i < skipped + count;
      const slow_element found = test::slow_load(dtype_, memory->pointer(rank()) + i * bytes_);
      EXPECT_EQ(found, is_touched ? expected(op, ranks(), i - skipped) : slow_element{}) << i << ", op " << op;
    }
    memory->fence();
  }
}

TEST_P(window_ops, fetch_what_was_there) {
  for (const syncyte_op_t op : ops_of(dtype_, true)) {
    const auto memory = make_window(count * bytes_);
    fetch_in_turns(*memory, op);
  }
}

TEST_P(window_ops, that_a_dtype_does_not_have_are_refused) {
  const auto memory = make_window(64);
  alignas(16) std::byte one[16] = {};
  for (const syncyte_op_t op : ops_of(dtype_, false)) {
    expect_error(outcome_of([&] { test::accumulate(*memory, 0, 0, dtype_, one, 1, op); }), SYNCYTE_ERR_UNSUPPORTED,
                 base::dtype_name(dtype_));
    expect_error(outcome_of([&] { access::run<window::fetch_op>(*memory, 0, 0, dtype_, one, op, one); }),
                 SYNCYTE_ERR_UNSUPPORTED, "op is");
  }
}

INSTANTIATE_TEST_SUITE_P(dtypes, window_ops, testing::Range(SYNCYTE_FLOAT16 + 0, base::known::dtype::last + 1),
                         dtype_of);

/// All ranks change the same elements concurrently: no change may be lost.
class window_contention : public testing::TestWithParam<syncyte_dtype_t> {
 protected:
  /// Number of ones that each rank adds, chosen so that the sum is exact in the dtype (8-bit integers wrap, bool
  /// saturates).
  int turns() const {
    switch (dtype_) {
      case SYNCYTE_BFLOAT16:
        return (test::goes_through_mpi() ? 100 : 256) / ranks();
      case SYNCYTE_FLOAT16:
        return (test::goes_through_mpi() ? 200 : 500) / ranks();
      default:
        return test::goes_through_mpi() ? 60 : 1000;
    }
  }
  slow_element expected_sum() const {
    const double sum = static_cast<double>(turns()) * ranks();
    if (dtype_ == SYNCYTE_BOOL) return {1, 0};
    if (dtype_ == SYNCYTE_INT8) return {static_cast<double>(static_cast<std::int8_t>(static_cast<int>(sum))), 0};
    if (dtype_ == SYNCYTE_UINT8) return {static_cast<double>(static_cast<std::uint8_t>(static_cast<int>(sum))), 0};
    return {sum, base::is_complex(dtype_) ? 2 * sum : 0};
  }
  slow_element one() const { return {1, base::is_complex(dtype_) ? 2.0 : 0.0}; }

  const syncyte_dtype_t dtype_ = GetParam();
  const std::size_t bytes_ = base::dtype_size(dtype_);
};

TEST_P(window_contention, loses_no_add) {
  const auto memory = make_window(rank() == 0 ? 4 * bytes_ : 0);
  std::vector<std::byte> ones(3 * bytes_), previous(bytes_);
  for (std::size_t i = 0; i < 3; ++i) test::slow_store(dtype_, one(), &ones[i * bytes_]);
  for (int turn = 0; turn < turns(); ++turn) {
    if (turn % 2 == 0) {  // accumulates and fetch-ops are atomic with each other
      test::accumulate(*memory, 0, bytes_, dtype_, ones.data(), 3, SYNCYTE_OP_SUM);
    } else {
      for (std::size_t i = 1; i < 4; ++i)
        access::run<window::fetch_op>(*memory, 0, i * bytes_, dtype_, ones.data(), SYNCYTE_OP_SUM, previous.data());
    }
  }
  memory->fence();
  if (rank() == 0) {
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_EQ(test::slow_load(dtype_, memory->pointer(0) + i * bytes_), i == 0 ? slow_element{} : expected_sum());
  }
  memory->fence();
}

INSTANTIATE_TEST_SUITE_P(dtypes, window_contention, testing::Range(SYNCYTE_FLOAT16 + 0, base::known::dtype::last + 1),
                         dtype_of);

TEST(window_atomics, hand_out_every_ticket_once) {
  const int turns = test::goes_through_mpi() ? 60 : 300;
  const auto memory = make_window(rank() == 0 ? 8 : 0);
  std::vector<std::int64_t> mine;
  const std::int64_t one = 1;
  for (int turn = 0; turn < turns; ++turn) {
    std::int64_t ticket = -1;
    access::run<window::fetch_op>(*memory, 0, 0, SYNCYTE_INT64, &one, SYNCYTE_OP_SUM, &ticket);
    mine.push_back(ticket);
  }
  EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
  std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(ranks()));
  MPI_Allgather(mine.data(), turns, MPI_INT64_T, all.data(), turns, MPI_INT64_T, MPI_COMM_WORLD);
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<std::int64_t>(i));
}

template <class T>
void add_by_swapping(window::window& memory, std::size_t offset, syncyte_dtype_t dtype) {
  T expected = 0;
  for (;;) {
    const T desired = static_cast<T>(expected + 1);
    T previous = 0;
    access::run<window::compare_swap>(memory, 0, offset, dtype, &expected, &desired, &previous);
    if (previous == expected) return;
    expected = previous;
  }
}

TEST(window_atomics, compare_swaps_and_adds_are_atomic_with_each_other) {
  const int turns = test::goes_through_mpi() ? 30 : 200;
  const auto memory = make_window(rank() == 0 ? 64 : 0);
  const std::int64_t one = 1;
  const std::int32_t narrow = 1;
  for (int turn = 0; turn < turns; ++turn) {
    add_by_swapping<std::int64_t>(*memory, 0, SYNCYTE_INT64);
    add_by_swapping<std::int32_t>(*memory, 8, SYNCYTE_INT32);
    add_by_swapping<std::int16_t>(*memory, 16, SYNCYTE_INT16);
    test::accumulate(*memory, 0, 0, SYNCYTE_INT64, &one, 1, SYNCYTE_OP_SUM);
    test::accumulate(*memory, 0, 8, SYNCYTE_INT32, &narrow, 1, SYNCYTE_OP_SUM);
    std::int64_t previous = 0;
    access::run<window::fetch_op>(*memory, 0, 0, SYNCYTE_INT64, &one, SYNCYTE_OP_SUM, &previous);
  }
  memory->fence();
  EXPECT_EQ(test::get<std::int64_t>(*memory, 0, 0), std::int64_t{3} * turns * ranks());
  EXPECT_EQ(test::get<std::int32_t>(*memory, 0, 2), 2 * turns * ranks());
  EXPECT_EQ(test::get<std::int16_t>(*memory, 0, 8), turns * ranks());
  memory->fence();
}

TEST(window_atomics, compare_swap_writes_only_what_was_expected) {
  for (const syncyte_dtype_t dtype : {SYNCYTE_INT8, SYNCYTE_INT16, SYNCYTE_INT32, SYNCYTE_INT64, SYNCYTE_UINT8,
                                      SYNCYTE_BOOL, SYNCYTE_UINT16, SYNCYTE_UINT32, SYNCYTE_UINT64}) {
    const std::size_t bytes = base::dtype_size(dtype);
    const auto memory = make_window(4 * bytes);
    const int to = (rank() + 1) % ranks();
    const std::int64_t zero = 0, one = 1;  // little-endian: the first bytes are the same number in every integer type
    std::int64_t previous = 0;
    access::run<window::compare_swap>(*memory, to, bytes, dtype, &one, &zero, &previous);
    EXPECT_EQ(previous, 0) << base::dtype_name(dtype);
    access::run<window::compare_swap>(*memory, to, bytes, dtype, &zero, &one, &previous);
    EXPECT_EQ(previous, 0);
    access::run<window::compare_swap>(*memory, to, bytes, dtype, &zero, &one, &previous);
    EXPECT_EQ(previous, 1);
    memory->fence();
    for (std::size_t i = 0; i < 4 * bytes; ++i)
      EXPECT_EQ(memory->pointer(rank())[i], i == bytes ? std::byte{1} : std::byte{0}) << i;
    memory->fence();
  }
}

TEST(window_atomics, any_nonzero_bool_is_true) {
  const auto memory = make_window(8);
  const std::uint8_t seven = 7;
  const int to = (rank() + 1) % ranks();
  test::accumulate(*memory, to, 0, SYNCYTE_BOOL, &seven, 1, SYNCYTE_OP_REPLACE);
  std::uint8_t previous = 99;
  access::run<window::fetch_op>(*memory, to, 1, SYNCYTE_BOOL, &seven, SYNCYTE_OP_LOR, &previous);
  EXPECT_EQ(previous, 0);
  memory->fence();
  EXPECT_EQ(memory->pointer(rank())[0], std::byte{1});
  EXPECT_EQ(memory->pointer(rank())[1], std::byte{1});
}

TEST(window_atomics, refuse_wrong_arguments) {
  const auto memory = make_window(24);
  alignas(16) std::byte one[16] = {};
  const auto refused = [&](std::size_t offset, syncyte_dtype_t dtype, syncyte_op_t op, syncyte_status_t status,
                           const char* text) {
    expect_error(outcome_of([&] { test::accumulate(*memory, 0, offset, dtype, one, 1, op); }), status, text);
    expect_error(outcome_of([&] { access::run<window::fetch_op>(*memory, 0, offset, dtype, one, op, one); }), status,
                 text);
  };
  refused(3, SYNCYTE_INT32, SYNCYTE_OP_SUM, SYNCYTE_ERR_ARGUMENT, "multiple");
  refused(24, SYNCYTE_INT32, SYNCYTE_OP_SUM, SYNCYTE_ERR_INDEX, "room for 4 bytes");
  refused(16, SYNCYTE_COMPLEX128, SYNCYTE_OP_SUM, SYNCYTE_ERR_INDEX, "room for 16 bytes");
  refused(0, 77, SYNCYTE_OP_SUM, SYNCYTE_ERR_TYPE, "is 77; expected one of SYNCYTE_FLOAT16");
  refused(0, SYNCYTE_INT32, 12, SYNCYTE_ERR_ARGUMENT, "op is 12");
  refused(0, SYNCYTE_INT32, 0, SYNCYTE_ERR_ARGUMENT, "op is 0");
  expect_error(outcome_of([&] { access::run<window::compare_swap>(*memory, 0, 0, SYNCYTE_FLOAT32, one, one, one); }),
               SYNCYTE_ERR_UNSUPPORTED, "float32");
  expect_error(outcome_of([&] { access::run<window::compare_swap>(*memory, 0, 0, 0, one, one, one); }),
               SYNCYTE_ERR_TYPE, "dtype is 0");
  expect_error(outcome_of([&] { access::run<window::compare_swap>(*memory, 0, 4, SYNCYTE_INT64, one, one, one); }),
               SYNCYTE_ERR_ARGUMENT, "multiple");
}

/// The target's element after `op` with `value`.
template <class T>
T accumulated(window::window& memory, syncyte_dtype_t dtype, syncyte_op_t op, T there, T value) {
  test::put_bytes(memory, rank(), 0, &there, sizeof there);
  memory.flush(rank());
  test::accumulate(memory, rank(), 0, dtype, &value, 1, op);
  memory.flush(rank());
  T result;
  test::get_bytes(memory, rank(), 0, &result, sizeof result);
  return result;
}

template <class T>
void expect_ordered_zeros(syncyte_dtype_t dtype) {
  const auto memory = make_window(sizeof(T));
  for (const auto& [there, value] : {std::pair{T(0.0F), T(-0.0F)}, std::pair{T(-0.0F), T(0.0F)}}) {
    EXPECT_TRUE(std::signbit(static_cast<float>(accumulated(*memory, dtype, SYNCYTE_OP_MIN, there, value))));
    EXPECT_FALSE(std::signbit(static_cast<float>(accumulated(*memory, dtype, SYNCYTE_OP_MAX, there, value))));
  }
  memory->fence();
}

TEST(window_atomics, minus_zero_is_less_than_plus_zero) {
  expect_ordered_zeros<float>(SYNCYTE_FLOAT32);
  expect_ordered_zeros<double>(SYNCYTE_FLOAT64);
  expect_ordered_zeros<base::float16>(SYNCYTE_FLOAT16);
  expect_ordered_zeros<base::bfloat16>(SYNCYTE_BFLOAT16);
}

}  // namespace
