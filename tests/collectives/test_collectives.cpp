// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "comm/cart.hpp"
#include "comm/split.hpp"
#include "core_world.hpp"
#include "mpi/large_counts.hpp"
#include "reference.hpp"
#include "syncyte/messages.h"

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

template <class T>
double number(const T& value) {
  if constexpr (std::is_same_v<T, base::boolean>)
    return value.value;
  else if constexpr (requires { value.real(); })
    return value.real();
  else
    return static_cast<double>(static_cast<float>(value));
}

template <class T>
void expect_equal(const std::vector<T>& actual, const std::vector<T>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_EQ(number(actual[i]), number(expected[i])) << "element " << i;
}

/// Runs a test once with whole counts and once in pieces of a few elements, as for counts beyond 2^31.
template <class Body>
void with_and_without_pieces(Body&& body) {
  body();
  const std::int64_t limit = mpi::piece_limit();
  mpi::piece_limit() = 3;
  body();
  mpi::piece_limit() = limit;
}

template <class Body>
void for_numeric_dtypes(Body&& body) {
  for (syncyte_dtype_t dtype = SYNCYTE_FLOAT16; dtype <= base::known::dtype::last; ++dtype)
    base::visit_dtype(dtype, [&](auto tag) {
      using type = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<type, base::boolean>) body(dtype, type{});
    });
}

TEST(collectives, allreduce_sums_every_dtype) {
  with_and_without_pieces([] {
    for_numeric_dtypes([](syncyte_dtype_t dtype, auto zero) {
      using type = decltype(zero);
      for (const std::int64_t count : {0, 1, 7, 100}) {
        auto input = reference::random_values<type>(5, world().rank(), count);
        std::vector<type> output(input.size());
        const auto from = buffer_of(input, dtype);
        const auto to = buffer_of(output, dtype);
        collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, &from, SYNCYTE_OP_SUM, &to);
        expect_equal(output, reference::allreduce<type>(5, world().size(), count));
        collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, nullptr, SYNCYTE_OP_SUM, &from);
        expect_equal(input, output);
      }
    });
  });
}

TEST(collectives, allreduce_knows_all_ops_on_integers) {
  using operation = std::int32_t (*)(std::int32_t, std::int32_t);
  const std::pair<syncyte_op_t, operation> cases[] = {
      {SYNCYTE_OP_PROD, [](std::int32_t a, std::int32_t b) { return a * b; }},
      {SYNCYTE_OP_MIN, [](std::int32_t a, std::int32_t b) { return a < b ? a : b; }},
      {SYNCYTE_OP_MAX, [](std::int32_t a, std::int32_t b) { return a > b ? a : b; }},
      {SYNCYTE_OP_BAND, [](std::int32_t a, std::int32_t b) { return a & b; }},
      {SYNCYTE_OP_BOR, [](std::int32_t a, std::int32_t b) { return a | b; }},
      {SYNCYTE_OP_BXOR, [](std::int32_t a, std::int32_t b) { return a ^ b; }}};
  for (const auto& [op, combine] : cases) {
    auto input = reference::random_values<std::int32_t>(9, world().rank(), 50);
    std::vector<std::int32_t> output(50);
    const auto from = buffer_of(input, SYNCYTE_INT32);
    const auto to = buffer_of(output, SYNCYTE_INT32);
    collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, &from, op, &to);
    EXPECT_EQ(output, (reference::reduce<std::int32_t>(9, world().size(), 50, combine))) << "op " << op;
  }
}

TEST(collectives, arithmetic_on_bool_is_logic) {
  std::vector<base::boolean> values{{static_cast<std::uint8_t>(world().rank() == 0)}, {1}, {0}};
  const auto buffer = buffer_of(values, SYNCYTE_BOOL);
  collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, nullptr, SYNCYTE_OP_SUM, &buffer);
  EXPECT_EQ(values[0].value, 1);
  EXPECT_EQ(values[1].value, 1);
  EXPECT_EQ(values[2].value, 0);
}

TEST(collectives, half_precision_is_rounded_once) {
  // 2048 + 1 is a tie in float16 and would be lost at every step; summed in float32 all the ones count.
  std::vector<base::float16> values{base::float16(world().rank() == 0 ? 2048.0f : 1.0f)};
  const auto buffer = buffer_of(values, SYNCYTE_FLOAT16);
  collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, nullptr, SYNCYTE_OP_SUM, &buffer);
  EXPECT_EQ(values[0].bits, base::float16(2047.0f + static_cast<float>(world().size())).bits);
}

TEST(collectives, bcast_from_every_root) {
  with_and_without_pieces([] {
    for (int root = 0; root < world().size(); ++root) {
      auto values = reference::random_values<double>(3, world().rank(), 11);
      const auto buffer = buffer_of(values, SYNCYTE_FLOAT64);
      collectives::run<collectives::bcast>(world(), "comm_bcast", {}, root, &buffer);
      EXPECT_EQ(values, reference::random_values<double>(3, root, 11));
    }
  });
}

TEST(collectives, allgather_concatenates) {
  with_and_without_pieces([] {
    auto input = reference::random_values<std::int16_t>(4, world().rank(), 5);
    std::vector<std::int16_t> output(5 * static_cast<std::size_t>(world().size()));
    const auto from = buffer_of(input, SYNCYTE_INT16);
    const auto to = buffer_of(output, SYNCYTE_INT16);
    collectives::run<collectives::allgather>(world(), "comm_allgather", {}, &from, &to);
    EXPECT_EQ(output,
              reference::allgatherv<std::int16_t>(4, reference::lengths(static_cast<std::size_t>(world().size()), 5)));
  });
}

TEST(collectives, allgatherv_takes_uneven_and_empty_parts) {
  with_and_without_pieces([] {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto counts = reference::uneven_lengths(seed, 17, world().size());
      auto input =
          reference::random_values<float>(seed, world().rank(), counts[static_cast<std::size_t>(world().rank())]);
      std::vector<float> output(17);
      const auto from = buffer_of(input, SYNCYTE_FLOAT32);
      const auto to = buffer_of(output, SYNCYTE_FLOAT32);
      collectives::run<collectives::allgatherv>(world(), "comm_allgatherv", {}, &from, counts, &to);
      EXPECT_EQ(output, reference::allgatherv<float>(seed, counts));
    }
  });
}

void check_alltoallv(comm::communicator& group) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto sending = reference::alltoallv_send_counts(seed, group.rank(), group.size(), 9);
    const auto receiving = reference::alltoallv_receive_counts(seed, group.rank(), group.size(), 9);
    auto input = reference::random_values<std::int64_t>(
        seed, group.rank(), std::accumulate(sending.begin(), sending.end(), std::int64_t{0}));
    const auto expected = reference::alltoallv<std::int64_t>(seed, group.rank(), group.size(), 9);
    std::vector<std::int64_t> output(expected.size());
    const auto from = buffer_of(input, SYNCYTE_INT64);
    const auto to = buffer_of(output, SYNCYTE_INT64);
    collectives::run<collectives::alltoallv>(group, "comm_alltoallv", {}, &from, sending, receiving, &to);
    EXPECT_EQ(output, expected);
  }
}

TEST(collectives, alltoallv_exchanges_uneven_parts) {
  with_and_without_pieces([] { check_alltoallv(world()); });
}

/// Rank 0 expects `expected` elements of the last rank, which sends one element, as every rank does.
test::outcome alltoallv_with(std::int64_t expected) {
  const auto size = static_cast<std::size_t>(world().size());
  const bool is_first = world().rank() == 0;
  std::vector<std::int64_t> sending(size, 1);
  std::vector<std::int64_t> receiving(size, 1);
  if (is_first) receiving.back() = expected;
  std::vector<std::int32_t> input(size, 5);
  std::vector<std::int32_t> output(size + (is_first ? static_cast<std::size_t>(expected) - 1 : 0), -1);
  const auto from = buffer_of(input, SYNCYTE_INT32);
  const auto to = buffer_of(output, SYNCYTE_INT32);
  const auto result = outcome_of(
      [&] { collectives::run<collectives::alltoallv>(world(), "comm_alltoallv", {}, &from, sending, receiving, &to); });
  const std::int32_t every = result.status == SYNCYTE_SUCCESS ? 5 : -1;  // all is written, or nothing
  for (const auto value : output) EXPECT_EQ(value, every);
  return result;
}

TEST(collectives, alltoallv_refuses_counts_that_do_not_fit_on_all_ranks) {
  if (world().size() == 1) GTEST_SKIP() << "one rank is checked by itself";
  for (const std::int64_t expected : {0, 2, 1000}) {
    const auto result = alltoallv_with(expected);
    expect_error(result, SYNCYTE_ERR_MISMATCH, "comm_alltoallv failed on rank 0 of world");
    const int last = world().size() - 1;
    expect_error(result, SYNCYTE_ERR_MISMATCH,
                 fmt::format("recv_counts[{0}] is {1}; expected 1, which rank {0} sends", last, expected));
  }
  EXPECT_EQ(alltoallv_with(1).status, SYNCYTE_SUCCESS);
}

TEST(collectives, full_check_compares_the_count_matrix) {
  comm::communicator_options options;
  options.check = 2;
  const auto strict = comm::duplicate(world(), options);
  check_alltoallv(*strict);
  if (strict->size() == 1) return;
  const auto size = static_cast<std::size_t>(strict->size());
  std::vector<std::int64_t> sending(size, 1);
  std::vector<std::int64_t> receiving(size, 1);
  if (strict->rank() == 0) receiving[1] = 2;  // rank 1 sends one
  std::vector<std::int32_t> input(size);
  std::vector<std::int32_t> output(size + (strict->rank() == 0));
  const auto from = buffer_of(input, SYNCYTE_INT32);
  const auto to = buffer_of(output, SYNCYTE_INT32);
  expect_error(outcome_of([&] {
                 collectives::run<collectives::alltoallv>(*strict, "comm_alltoallv", {}, &from, sending, receiving,
                                                          &to);
               }),
               SYNCYTE_ERR_MISMATCH, "recv_counts[1] is 2; expected 1, which rank 1 sends");
}

TEST(collectives, wrong_arguments_on_one_rank_are_every_ranks_error) {
  const bool is_odd = world().rank() == world().size() - 1;
  std::vector<double> values(4);
  std::vector<double> result(4);
  auto from = buffer_of(values, SYNCYTE_FLOAT64);
  auto to = buffer_of(result, SYNCYTE_FLOAT64);
  const auto allreduce = [&](const syncyte_buffer_t* input, const syncyte_buffer_t* output, syncyte_op_t op) {
    return outcome_of(
        [&] { collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, input, op, output); });
  };
  expect_error(allreduce(is_odd ? &to : &from, &to, SYNCYTE_OP_SUM), SYNCYTE_ERR_ARGUMENT, "overlap");
  expect_error(allreduce(&from, is_odd ? nullptr : &to, SYNCYTE_OP_SUM), SYNCYTE_ERR_ARGUMENT, "output is null");
  expect_error(allreduce(&from, &to, is_odd ? 77 : SYNCYTE_OP_SUM), SYNCYTE_ERR_ARGUMENT, "op is 77; expected");
  expect_error(allreduce(&from, &to, is_odd ? SYNCYTE_OP_BAND : SYNCYTE_OP_SUM), SYNCYTE_ERR_UNSUPPORTED,
               "op is BAND; expected an operation that is defined for dtype float64");
  auto wrong = to;
  wrong.dtype = SYNCYTE_INT64;
  expect_error(allreduce(&from, is_odd ? &wrong : &to, SYNCYTE_OP_SUM), SYNCYTE_ERR_TYPE, "output: dtype is int64");
  wrong = from;
  wrong.strides[0] = 16;
  expect_error(allreduce(is_odd ? &wrong : &from, &to, SYNCYTE_OP_SUM), SYNCYTE_ERR_SHAPE, "is not contiguous");
  expect_error(
      outcome_of([&] { collectives::run<collectives::bcast>(world(), "comm_bcast", {}, is_odd ? -1 : 0, &to); }),
      SYNCYTE_ERR_ARGUMENT, "root is -1");
  std::vector<std::int64_t> counts(static_cast<std::size_t>(world().size()), is_odd ? -1 : 4);
  result.resize(4 * counts.size());
  to = buffer_of(result, SYNCYTE_FLOAT64);
  expect_error(outcome_of([&] {
                 collectives::run<collectives::allgatherv>(world(), "comm_allgatherv", {}, &from, counts, &to);
               }),
               SYNCYTE_ERR_ARGUMENT, "counts[0] is -1");
}

struct grid_case {
  std::vector<int> extents;  // 0: chosen
  std::vector<int> periods;
};

/// Element of the block that a rank sends to neighbour `block`.
std::int32_t sent(int rank, std::size_t block, std::int64_t element) {
  return rank * 1000 + static_cast<int>(block) * 10 + static_cast<int>(element);
}

void check_neighbors(comm::communicator& cart, std::int64_t count) {
  const std::size_t blocks = 2 * cart.grid()->dims.size();
  std::vector<std::int32_t> input, output(blocks * static_cast<std::size_t>(count), -7), expected = output;
  for (std::size_t block = 0; block < blocks; ++block) {
    const auto [below, above] = comm::shift_along(cart, static_cast<int>(block / 2), 1);
    const int neighbour = block % 2 == 0 ? below : above;
    for (std::int64_t i = 0; i < count; ++i) {
      input.push_back(sent(cart.rank(), block, i));
      // The neighbour below sent it upwards, and the other way round.
      if (neighbour != SYNCYTE_PROC_NULL)
        expected[block * static_cast<std::size_t>(count) + static_cast<std::size_t>(i)] = sent(neighbour, block ^ 1, i);
    }
  }
  const auto from = buffer_of(input, SYNCYTE_INT32);
  const auto to = buffer_of(output, SYNCYTE_INT32);
  collectives::run<collectives::neighbor_alltoall>(cart, "comm_neighbor_alltoall", {}, &from, &to);
  EXPECT_EQ(output, expected);
}

TEST(collectives, neighbors_get_each_others_blocks) {
  const int size = world().size();
  for (const grid_case& each :
       {grid_case{{0}, {1}}, {{0}, {0}}, {{0, 0}, {1, 0}}, {{1, 0}, {1, 1}}, {{0, 1, 1}, {0, 1, 1}}}) {
    comm::cartesian_grid asked{each.extents, each.periods};
    const auto cart = comm::make_cartesian(world(), asked, {});
    ASSERT_NE(cart, nullptr) << "of " << size << " ranks";
    with_and_without_pieces([&] {
      for (const std::int64_t count : {0, 1, 9}) check_neighbors(*cart, count);
    });
  }
}

TEST(collectives, neighbors_need_a_grid_and_whole_blocks) {
  std::vector<float> values(5), others(5);
  const auto from = buffer_of(values, SYNCYTE_FLOAT32);
  const auto to = buffer_of(others, SYNCYTE_FLOAT32);
  expect_error(outcome_of([&] {
                 collectives::run<collectives::neighbor_alltoall>(world(), "comm_neighbor_alltoall", {}, &from, &to);
               }),
               SYNCYTE_ERR_ARGUMENT, "not Cartesian");
  const auto cart = comm::make_cartesian(world(), {{world().size()}, {1}}, {});
  expect_error(outcome_of([&] {
                 collectives::run<collectives::neighbor_alltoall>(*cart, "comm_neighbor_alltoall", {}, &from, &to);
               }),
               SYNCYTE_ERR_SHAPE, "input is of 5 elements; expected a multiple of 2");
}

TEST(collectives, different_sizes_are_named) {
  if (world().size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  std::vector<double> values(world().rank() == 0 ? 3 : 4);
  const auto buffer = buffer_of(values, SYNCYTE_FLOAT64);
  expect_error(outcome_of([&] {
                 collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, nullptr, SYNCYTE_OP_SUM,
                                                          &buffer);
               }),
               SYNCYTE_ERR_MISMATCH, "elements of output is");
}

}  // namespace
