// SPDX-License-Identifier: BSD-3-Clause
// Reductions to one rank and scans, against loops over all ranks' values.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "core_world.hpp"
#include "mpi/large_counts.hpp"
#include "reference.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::outcome_of;
using test::world;

template <class T>
syncyte_buffer_t buffer_of(std::vector<T>& values, syncyte_dtype_t dtype) {
  const std::int64_t shape[] = {static_cast<std::int64_t>(values.size())};
  return base::make_buffer(values.data(), dtype, shape);
}

using values = std::vector<std::int32_t>;
constexpr std::int64_t count = 10;

values of_rank(int rank) { return reference::random_values<std::int32_t>(21, rank, count); }

struct operation {
  syncyte_op_t op;
  std::int32_t identity;
  std::int32_t (*combine)(std::int32_t, std::int32_t);
};

constexpr operation operations[] = {
    {SYNCYTE_OP_SUM, 0, [](std::int32_t a, std::int32_t b) { return a + b; }},
    {SYNCYTE_OP_PROD, 1, [](std::int32_t a, std::int32_t b) { return a * b; }},
    {SYNCYTE_OP_MIN, std::numeric_limits<std::int32_t>::max(),
     [](std::int32_t a, std::int32_t b) { return a < b ? a : b; }},
    {SYNCYTE_OP_MAX, std::numeric_limits<std::int32_t>::min(),
     [](std::int32_t a, std::int32_t b) { return a > b ? a : b; }},
    {SYNCYTE_OP_BAND, -1, [](std::int32_t a, std::int32_t b) { return a & b; }},
    {SYNCYTE_OP_BOR, 0, [](std::int32_t a, std::int32_t b) { return a | b; }},
    {SYNCYTE_OP_BXOR, 0, [](std::int32_t a, std::int32_t b) { return a ^ b; }},
    {SYNCYTE_OP_LXOR, 0, [](std::int32_t a, std::int32_t b) { return std::int32_t{(a != 0) != (b != 0)}; }},
    {SYNCYTE_OP_LAND, 1, [](std::int32_t a, std::int32_t b) { return std::int32_t{a != 0 && b != 0}; }},
    {SYNCYTE_OP_LOR, 0, [](std::int32_t a, std::int32_t b) { return std::int32_t{a != 0 || b != 0}; }}};

/// The reduction over the ranks from `first` to `last` - 1.
values reduced(const operation& how, int first, int last) {
  if (first >= last) return values(count, how.identity);
  values result = of_rank(first);
  for (int rank = first + 1; rank < last; ++rank)
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = how.combine(result[i], of_rank(rank)[i]);
  return result;
}

template <class Body>
void with_and_without_pieces(Body&& body) {
  body();
  const std::int64_t limit = mpi::piece_limit();
  mpi::piece_limit() = 3;
  body();
  mpi::piece_limit() = limit;
}

TEST(reductions, reduce_gives_every_root_the_result) {
  with_and_without_pieces([] {
    for (const operation& how : operations)
      for (int root = 0; root < world().size(); ++root) {
        values input = of_rank(world().rank());
        values output(count, -5);
        const auto from = buffer_of(input, SYNCYTE_INT32);
        const auto to = buffer_of(output, SYNCYTE_INT32);
        collectives::run<collectives::reduce>(world(), "comm_reduce", {}, &from, how.op, root, &to);
        const bool is_root = world().rank() == root;
        EXPECT_EQ(output, is_root ? reduced(how, 0, world().size()) : values(count, -5)) << "op " << how.op;
        collectives::run<collectives::reduce>(world(), "comm_reduce", {}, is_root ? nullptr : &from, how.op, root,
                                              is_root ? &from : nullptr);
        EXPECT_EQ(input, is_root ? reduced(how, 0, world().size()) : of_rank(world().rank())) << "in place";
      }
  });
}

/// MAX or MIN of the ranks' rows; checks that the bits of the result are the same on all ranks.
template <class T>
std::vector<T> ordered(syncyte_dtype_t dtype, syncyte_op_t op, std::vector<T> row) {
  const auto buffer = buffer_of(row, dtype);
  collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, nullptr, op, &buffer);
  std::vector<T> of_first = row;
  const auto first = buffer_of(of_first, dtype);
  collectives::run<collectives::bcast>(world(), "comm_bcast", {}, 0, &first);
  EXPECT_EQ(std::memcmp(row.data(), of_first.data(), row.size() * sizeof(T)), 0) << "bits differ between ranks";
  return row;
}

/// Elements of the row: NaN on one rank, on each rank in turn, then on all, with different bits; the rank's number; -0
/// on the last rank and +0 on the others; equal numbers.
template <class T>
void expect_order(syncyte_dtype_t dtype) {
  const int rank = world().rank(), size = world().size();
  for (const syncyte_op_t op : {SYNCYTE_OP_MAX, SYNCYTE_OP_MIN}) {
    std::vector<T> row(static_cast<std::size_t>(size) + 35, static_cast<T>(float(rank)));
    for (int i = 0; i <= size; ++i)
      if (i == rank || i == size)
        row[static_cast<std::size_t>(i)] = static_cast<T>(std::copysign(std::nanf(""), rank % 2 == 0 ? 1.0F : -1.0F));
    row[row.size() - 2] = static_cast<T>(rank == size - 1 ? -0.0F : 0.0F);
    row[row.size() - 1] = static_cast<T>(7.0F);
    const std::vector<T> result = ordered(dtype, op, row);
    for (int i = 0; i <= size; ++i) EXPECT_TRUE(std::isnan(static_cast<float>(result[static_cast<std::size_t>(i)])));
    EXPECT_EQ(static_cast<float>(result[static_cast<std::size_t>(size) + 1]), op == SYNCYTE_OP_MAX ? size - 1 : 0);
    const bool is_negative = op == SYNCYTE_OP_MIN || size == 1;
    EXPECT_EQ(std::signbit(static_cast<float>(result[row.size() - 2])), is_negative) << "zeros";
    EXPECT_EQ(static_cast<float>(result[row.size() - 1]), 7.0F);
  }
}

TEST(reductions, max_and_min_propagate_nan_and_order_zeros) {
  expect_order<float>(SYNCYTE_FLOAT32);
  expect_order<double>(SYNCYTE_FLOAT64);
  expect_order<base::float16>(SYNCYTE_FLOAT16);
  expect_order<base::bfloat16>(SYNCYTE_BFLOAT16);
}

using scan_function = std::function<void(const syncyte_buffer_t*, const syncyte_buffer_t*)>;

/// Checks a scan with separate memory and in place.
void expect_scan(const scan_function& scan, const values& expected) {
  values input = of_rank(world().rank());
  values output(count, -5);
  const auto from = buffer_of(input, SYNCYTE_INT32);
  const auto to = buffer_of(output, SYNCYTE_INT32);
  scan(&from, &to);
  EXPECT_EQ(output, expected);
  EXPECT_EQ(input, of_rank(world().rank()));
  scan(nullptr, &from);
  EXPECT_EQ(input, expected) << "in place";
}

TEST(reductions, scans_run_both_ways) {
  with_and_without_pieces([] {
    const int rank = world().rank();
    const int size = world().size();
    for (const operation& how : operations) {
      const auto scan = [&](std::int32_t start) -> scan_function {
        return [&how, start](auto from, auto to) {
          collectives::run<collectives::scan>(world(), "comm_scan", {}, from, how.op, start, to);
        };
      };
      const auto exscan = [&](std::int32_t start) -> scan_function {
        return [&how, start](auto from, auto to) {
          collectives::run<collectives::exscan>(world(), "comm_exscan", {}, from, how.op, start, to);
        };
      };
      expect_scan(exscan(0), reduced(how, 0, rank));
      expect_scan(exscan(1), reduced(how, rank + 1, size));
      expect_scan(scan(0), reduced(how, 0, rank + 1));
      expect_scan(scan(1), reduced(how, rank, size));
    }
  });
}

TEST(reductions, exscan_begins_with_what_changes_nothing_in_every_dtype) {
  const auto of_first = [](syncyte_dtype_t dtype, syncyte_op_t op, auto zero) {
    using type = decltype(zero);
    std::vector<type> input(1, type(1.0f));
    std::vector<type> output(1, type(3.0f));
    const auto from = buffer_of(input, dtype);
    const auto to = buffer_of(output, dtype);
    collectives::run<collectives::exscan>(world(), "comm_exscan", {}, &from, op, 0, &to);
    return static_cast<double>(static_cast<float>(output[0]));
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const double rank = world().rank();
  EXPECT_EQ(of_first(SYNCYTE_FLOAT16, SYNCYTE_OP_SUM, base::float16{}), rank);
  EXPECT_EQ(of_first(SYNCYTE_BFLOAT16, SYNCYTE_OP_MIN, base::bfloat16{}), rank == 0 ? infinity : 1.0);
  EXPECT_EQ(of_first(SYNCYTE_FLOAT32, SYNCYTE_OP_MAX, float{}), rank == 0 ? -infinity : 1.0);
  EXPECT_EQ(of_first(SYNCYTE_FLOAT64, SYNCYTE_OP_PROD, double{}), 1.0);
  EXPECT_EQ(of_first(SYNCYTE_UINT8, SYNCYTE_OP_MIN, std::uint8_t{}), rank == 0 ? 255.0 : 1.0);
  EXPECT_EQ(of_first(SYNCYTE_INT8, SYNCYTE_OP_MAX, std::int8_t{}), rank == 0 ? -128.0 : 1.0);
}

TEST(reductions, one_ranks_error_is_everybodys) {
  const bool is_odd = world().rank() == world().size() - 1;
  values input(4);
  values output(4);
  const auto from = buffer_of(input, SYNCYTE_INT32);
  const auto to = buffer_of(output, SYNCYTE_INT32);
  const int last = world().size() - 1;
  expect_error(outcome_of([&] {
                 collectives::run<collectives::reduce>(world(), "comm_reduce", {}, &from, SYNCYTE_OP_SUM,
                                                       is_odd ? -1 : 0, &to);
               }),
               SYNCYTE_ERR_ARGUMENT, "root is -1");
  expect_error(outcome_of([&] {
                 collectives::run<collectives::reduce>(world(), "comm_reduce", {}, &from, SYNCYTE_OP_SUM, last,
                                                       is_odd ? nullptr : &to);
               }),
               SYNCYTE_ERR_ARGUMENT, "output is null");
  if (world().size() > 1)
    expect_error(outcome_of([&] {
                   collectives::run<collectives::reduce>(world(), "comm_reduce", {}, is_odd ? nullptr : &from,
                                                         SYNCYTE_OP_SUM, 0, &to);
                 }),
                 SYNCYTE_ERR_ARGUMENT, "input is null");
  expect_error(
      outcome_of([&] { collectives::run<collectives::scan>(world(), "comm_scan", {}, &from, is_odd ? 0 : 1, 0, &to); }),
      SYNCYTE_ERR_ARGUMENT, "op is 0; expected");
}

TEST(reductions, misaligned_elements_are_refused) {
  const bool is_odd = world().rank() == world().size() - 1;
  alignas(8) std::byte memory[64]{};
  std::byte* const place = memory + (is_odd ? 1 : 0);
  const std::int64_t shape[] = {world().size()};
  const std::int64_t one[] = {1};
  const std::vector<std::int64_t> lengths(static_cast<std::size_t>(world().size()), 1);
  std::uint32_t part = 0;
  for (const syncyte_dtype_t dtype : {SYNCYTE_FLOAT16, SYNCYTE_BFLOAT16, SYNCYTE_INT32}) {
    const auto array = base::make_buffer(place, dtype, shape);
    const auto own = base::make_buffer(&part, dtype, one);
    const auto refused = [&](auto&& reduction) {
      const auto result = outcome_of([&] { reduction(); });
      expect_error(result, SYNCYTE_ERR_SHAPE, "expected a multiple of");
    };
    refused([&] {
      collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, nullptr, SYNCYTE_OP_SUM, &array);
    });
    refused(
        [&] { collectives::run<collectives::exscan>(world(), "comm_exscan", {}, nullptr, SYNCYTE_OP_SUM, 0, &array); });
    refused([&] {
      collectives::start<collectives::allreduce>(test::shared_world(), "comm_iallreduce", {}, nullptr, SYNCYTE_OP_SUM,
                                                 &array)
          ->wait();
    });
    refused([&] {
      collectives::run<collectives::reduce_scatter_along>(world(), "comm_reduce_scatter_along", {}, &array, 0,
                                                          SYNCYTE_OP_SUM, lengths, &own);
    });
    refused([&] {
      collectives::start<collectives::reduce_scatter_along>(test::shared_world(), "comm_ireduce_scatter_along", {},
                                                            &array, 0, SYNCYTE_OP_SUM, lengths, &own)
          ->wait();
    });
  }
  collectives::barrier(world());  // the others get this rank's errors only in a call of this rank
}

TEST(reductions, an_allreduce_agrees_on_its_own_facts_alone) {
  if (world().size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  values input(4);
  const auto in_place = buffer_of(input, SYNCYTE_INT32);
  const syncyte_fact_t fact{sizeof(fact), "another", 0};
  collectives::caller_facts caller;
  if (world().rank() == 0) caller.facts = {1, &fact, "facts"};
  // dtype, elements, op and options->fact
  expect_error(outcome_of([&] {
                 collectives::run<collectives::allreduce>(world(), "comm_allreduce", caller, nullptr, SYNCYTE_OP_SUM,
                                                          &in_place);
               }),
               SYNCYTE_ERR_MISMATCH, world().size() == 2 ? "but 4 on rank 1" : "number of facts is 4 on ranks 1");
}

TEST(reductions, different_directions_are_named) {
  if (world().size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  values input(4);
  const auto in_place = buffer_of(input, SYNCYTE_INT32);
  const auto start = world().rank() == 0 ? 1 : 0;
  expect_error(outcome_of([&] {
                 collectives::run<collectives::scan>(world(), "comm_scan", {}, nullptr, SYNCYTE_OP_SUM, start,
                                                     &in_place);
               }),
               SYNCYTE_ERR_MISMATCH, "reverse is");
}

}  // namespace
