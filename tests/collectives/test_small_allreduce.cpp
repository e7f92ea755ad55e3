// SPDX-License-Identifier: BSD-3-Clause
// Reductions of few elements, which travel with the votes between nodes (SYNCYTE_SHM=none makes every rank a node).

#include <cstring>
#include <vector>

#include "reference.hpp"
#include "trials.hpp"

namespace {

using namespace syncyte;
using test::buffer_of;
using test::expect_error;
using test::outcome_of;
using test::world;

template <class T>
void allreduce(std::vector<T>* input, syncyte_op_t op, std::vector<T>& output, syncyte_dtype_t dtype) {
  const auto to = buffer_of(output, dtype);
  const auto from = input != nullptr ? buffer_of(*input, dtype) : syncyte_buffer_t{};
  collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, input != nullptr ? &from : nullptr, op, &to);
}

template <class T>
std::vector<T> sums(std::int64_t count) {
  std::vector<T> result(static_cast<std::size_t>(count));
  for (int rank = 0; rank < world().size(); ++rank)
    for (std::int64_t i = 0; i < count; ++i)
      result[static_cast<std::size_t>(i)] += reference::random_value<T>(5, rank, i);
  return result;
}

/// Elements of 0 to 80 bytes: those of 64 are the most that votes carry.
template <class T>
void expect_sums(syncyte_dtype_t dtype) {
  for (std::int64_t count = 0; count * static_cast<std::int64_t>(sizeof(T)) <= 80; ++count) {
    auto mine = reference::random_values<T>(5, world().rank(), count);
    const auto given = mine;
    std::vector<T> output(static_cast<std::size_t>(count));
    allreduce(&mine, SYNCYTE_OP_SUM, output, dtype);
    EXPECT_EQ(output, sums<T>(count)) << count << " elements";
    EXPECT_EQ(mine, given);
    allreduce<T>(nullptr, SYNCYTE_OP_SUM, mine, dtype);
    EXPECT_EQ(mine, sums<T>(count)) << count << " elements in place";
  }
}

TEST(small_allreduce, sums_of_every_length) {
  expect_sums<std::int8_t>(SYNCYTE_INT8);
  expect_sums<std::int32_t>(SYNCYTE_INT32);
  expect_sums<float>(SYNCYTE_FLOAT32);
  expect_sums<double>(SYNCYTE_FLOAT64);
}

TEST(small_allreduce, bits_are_the_same_on_all_ranks) {
  for (int repetition = 0; repetition < 50; ++repetition) {
    std::vector<float> row;
    for (std::int64_t i = 0; i < 16; ++i)
      row.push_back(1.0F / static_cast<float>(reference::random_integer(static_cast<std::uint64_t>(repetition),
                                                                        world().rank(), i, 1, 1 << 20)));
    allreduce<float>(nullptr, SYNCYTE_OP_SUM, row, SYNCYTE_FLOAT32);
    std::vector<float> of_first = row;
    const auto first = buffer_of(of_first, SYNCYTE_FLOAT32);
    collectives::run<collectives::bcast>(world(), "comm_bcast", {}, 0, &first);
    EXPECT_EQ(std::memcmp(row.data(), of_first.data(), sizeof(float) * row.size()), 0);
  }
}

/// One rank gives another number of elements, or nothing at all; no rank's memory changes.
TEST(small_allreduce, disagreement_leaves_memory_as_it_was) {
  if (world().size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  if (world().check() == comm::check_level::off) GTEST_SKIP() << "not every disagreement is found without checks";
  const bool is_odd = world().rank() == world().size() - 1;
  for (const std::size_t others : {std::size_t{3}, std::size_t{1000}}) {
    std::vector<double> row(is_odd ? others : 2, 1.5);
    const auto given = row;
    expect_error(outcome_of([&] { allreduce<double>(nullptr, SYNCYTE_OP_SUM, row, SYNCYTE_FLOAT64); }),
                 SYNCYTE_ERR_MISMATCH, "elements of output");
    EXPECT_EQ(row, given);
  }
  std::vector<double> row(2, 1.5);
  const auto given = row;
  expect_error(
      outcome_of([&] { allreduce<double>(nullptr, is_odd ? syncyte_op_t{-1} : SYNCYTE_OP_SUM, row, SYNCYTE_FLOAT64); }),
      SYNCYTE_ERR_ARGUMENT, "op is -1");
  EXPECT_EQ(row, given);
  allreduce<double>(nullptr, SYNCYTE_OP_MAX, row, SYNCYTE_FLOAT64);
  EXPECT_EQ(row, given);
}

/// Votes that carry elements are free, and so compared.
TEST(small_allreduce, without_checks_ops_are_compared_between_nodes) {
  if (world().check() != comm::check_level::off || world().node().count == 1)
    GTEST_SKIP() << "for several nodes and SYNCYTE_CHECK=off";
  std::vector<double> row(2, 1.5);
  const auto op = world().rank() == 0 ? SYNCYTE_OP_MIN : SYNCYTE_OP_SUM;
  expect_error(outcome_of([&] { allreduce<double>(nullptr, op, row, SYNCYTE_FLOAT64); }), SYNCYTE_ERR_MISMATCH,
               "op is");
}

}  // namespace
