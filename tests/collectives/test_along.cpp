// SPDX-License-Identifier: BSD-3-Clause
// Collectives on arrays that are cut along an axis, against the definition by the elements of the whole array.

#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "core_world.hpp"
#include "mpi/large_counts.hpp"
#include "reference.hpp"
#include "strided_array.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::extents;
using test::outcome_of;
using test::strided_array;
using test::strides;
using test::world;

constexpr strides all_strides[] = {strides::dense, strides::gaps, strides::transposed};

/// Value of the whole array's element at some indices.
std::int32_t element(const extents& at) {
  std::int64_t result = 1;
  for (const auto index : at) result = 11 * result + index;
  return static_cast<std::int32_t>(result % 100003);
}

extents with_extent(extents shape, int axis, std::int64_t extent) {
  shape[static_cast<std::size_t>(axis)] = extent;
  return shape;
}

/// A rank's part of the whole along an axis.
struct part {
  int axis;
  std::int64_t first;
  std::int64_t length;

  part(int along, const reference::lengths& parts, int rank)
      : axis(along), first(reference::first_row(parts, rank)), length(parts[static_cast<std::size_t>(rank)]) {}

  auto values() const {
    return [*this](extents at) {
      at[static_cast<std::size_t>(axis)] += first;
      return element(at);
    };
  }
  strided_array array(const extents& whole, strides how) const { return {with_extent(whole, axis, length), how}; }
};

struct scenario {
  extents whole;
  int axis;
  reference::lengths lengths;
  strides from;
  strides to;

  part mine() const { return {axis, lengths, world().rank()}; }
};

/// Runs a test for every axis of some shapes, for uneven, empty and lone parts, and for all kinds of strides; also in
/// pieces, as for counts beyond 2^31.
template <class Body>
void for_scenarios(Body&& body) {
  std::uint64_t seed = 0;
  for (const extents& shape : {extents{7}, extents{4, 5}, extents{3, 4, 2}, extents{2, 0, 3}})
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      for (const strides from : all_strides)
        for (const strides to : all_strides) {
          const std::int64_t extent = shape[static_cast<std::size_t>(axis)];
          const auto lengths = ++seed % 3 == 0 ? reference::lengths_on_one(extent, world().size(), world().size() - 1)
                                               : reference::uneven_lengths(seed, extent, world().size());
          body(scenario{shape, axis, lengths, from, to});
          const std::int64_t limit = mpi::piece_limit();
          mpi::piece_limit() = 3;
          body(scenario{shape, axis, lengths, from, to});
          mpi::piece_limit() = limit;
        }
}

TEST(along, gather_joins_on_every_root) {
  for_scenarios([](const scenario& s) {
    for (int root = 0; root < world().size(); ++root) {
      strided_array input = s.mine().array(s.whole, s.from).fill(s.mine().values());
      strided_array output(s.whole, s.to);
      const auto from = input.buffer();
      const auto to = output.buffer();
      const bool is_root = world().rank() == root;
      collectives::run<collectives::gather_along>(world(), "comm_gather_along", {}, &from, s.axis, root, s.lengths,
                                                  is_root ? &to : nullptr);
      if (is_root) output.expect(element);
      input.expect(s.mine().values());
    }
  });
}

TEST(along, allgather_joins_everywhere) {
  for_scenarios([](const scenario& s) {
    strided_array input = s.mine().array(s.whole, s.from).fill(s.mine().values());
    strided_array output(s.whole, s.to);
    const auto from = input.buffer();
    const auto to = output.buffer();
    const int negative = s.axis - static_cast<int>(s.whole.size());
    collectives::run<collectives::allgather_along>(world(), "comm_allgather_along", {}, &from, negative, s.lengths,
                                                   &to);
    output.expect(element);
  });
}

TEST(along, scatter_cuts_on_every_root) {
  for_scenarios([](const scenario& s) {
    for (int root = 0; root < world().size(); ++root) {
      strided_array input = strided_array(s.whole, s.from).fill(element);
      strided_array output = s.mine().array(s.whole, s.to);
      const auto from = input.buffer();
      const auto to = output.buffer();
      collectives::run<collectives::scatter_along>(
          world(), "comm_scatter_along", {}, world().rank() == root ? &from : nullptr, s.axis, root, s.lengths, &to);
      output.expect(s.mine().values());
    }
  });
}

TEST(along, reduce_scatter_sums_and_cuts) {
  for_scenarios([](const scenario& s) {
    const int rank = world().rank();
    strided_array input =
        strided_array(s.whole, s.from).fill([&](const extents& at) { return (rank + 1) * element(at); });
    strided_array output = s.mine().array(s.whole, s.to);
    const auto from = input.buffer();
    const auto to = output.buffer();
    collectives::run<collectives::reduce_scatter_along>(world(), "comm_reduce_scatter_along", {}, &from, s.axis,
                                                        SYNCYTE_OP_SUM, s.lengths, &to);
    const int sum = world().size() * (world().size() + 1) / 2;
    output.expect([&](const extents& at) { return sum * s.mine().values()(at); });
  });
}

TEST(along, alltoall_changes_the_axis) {
  for_scenarios([](const scenario& s) {
    for (int target = 0; target < static_cast<int>(s.whole.size()); ++target) {
      const auto scattered = reference::uneven_lengths(99, s.whole[static_cast<std::size_t>(target)], world().size());
      const part after(target, scattered, world().rank());
      strided_array input = s.mine().array(s.whole, s.from).fill(s.mine().values());
      strided_array output = after.array(s.whole, s.to);
      const auto from = input.buffer();
      const auto to = output.buffer();
      collectives::run<collectives::alltoall_along>(world(), "comm_alltoall_along", {}, &from, s.axis, target,
                                                    s.lengths, scattered, &to);
      output.expect(after.values());
    }
  });
}

TEST(along, lengths_are_collected) {
  std::vector<std::int64_t> collected(static_cast<std::size_t>(world().size()));
  collectives::run<collectives::counts>(world(), "comm_counts", {}, 10 * world().rank(), std::ssize(collected),
                                        collected.data());
  for (int rank = 0; rank < world().size(); ++rank) EXPECT_EQ(collected[static_cast<std::size_t>(rank)], 10 * rank);
  expect_error(outcome_of([&] {
                 collectives::run<collectives::counts>(world(), "comm_counts", {}, world().rank() == 0 ? -4 : 1,
                                                       std::ssize(collected), collected.data());
               }),
               SYNCYTE_ERR_ARGUMENT, "count is -4");
}

TEST(along, half_precision_is_rounded_once) {
  const auto size = static_cast<std::size_t>(world().size());
  std::vector<base::float16> values(size, base::float16(world().rank() == 0 ? 2048.0f : 1.0f));
  base::float16 result{};
  const std::int64_t shape[] = {static_cast<std::int64_t>(size)};
  const std::int64_t one[] = {1};
  const std::vector<std::int64_t> lengths(size, 1);
  const auto from = base::make_buffer(values.data(), SYNCYTE_FLOAT16, shape);
  const auto to = base::make_buffer(&result, SYNCYTE_FLOAT16, one);
  collectives::run<collectives::reduce_scatter_along>(world(), "comm_reduce_scatter_along", {}, &from, 0,
                                                      SYNCYTE_OP_SUM, lengths, &to);
  EXPECT_EQ(result.bits, base::float16(2047.0f + static_cast<float>(world().size())).bits);
}

/// A gather to which the last rank gives other arguments.
struct attempt {
  extents shape{2, 3};
  int axis = 0;
  std::int64_t length = 2;  // the last rank's entry in lengths
  int root = 0;
  syncyte_dtype_t dtype = SYNCYTE_INT32;

  test::outcome run() const {
    const bool is_odd = world().rank() == world().size() - 1;
    const attempt usual;
    const attempt& mine = is_odd ? *this : usual;
    strided_array input(mine.shape, strides::dense);
    strided_array output({2 * world().size(), 3}, strides::dense);
    auto from = input.buffer();
    from.dtype = mine.dtype;
    const auto to = output.buffer();
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(world().size()), 2);
    if (is_odd) lengths.back() = length;
    return outcome_of([&] {
      collectives::run<collectives::gather_along>(world(), "comm_gather_along", {}, &from, mine.axis, mine.root,
                                                  lengths, &to);
    });
  }
};

TEST(along, one_ranks_error_is_everybodys) {
  expect_error(attempt{.axis = 2}.run(), SYNCYTE_ERR_ARGUMENT, "axis is 2; expected -2 to 1 for input of shape [2, 3]");
  expect_error(attempt{.axis = -3}.run(), SYNCYTE_ERR_ARGUMENT, "axis is -3");
  expect_error(attempt{.shape = {}}.run(), SYNCYTE_ERR_SHAPE, "input is of no dimension");
  expect_error(attempt{.shape = {1, 3}}.run(), SYNCYTE_ERR_SHAPE, "expected extent 2 along axis 0");
  expect_error(attempt{.length = -1}.run(), SYNCYTE_ERR_ARGUMENT, "is -1; expected 0 or more");
  expect_error(attempt{.root = 9}.run(), SYNCYTE_ERR_ARGUMENT, "root is 9");
  expect_error(attempt{.dtype = 99}.run(), SYNCYTE_ERR_TYPE, "99");
  EXPECT_EQ(attempt{}.run().status, SYNCYTE_SUCCESS);
}

TEST(along, strides_that_leave_64_bits_on_one_rank_are_everybodys_error) {
  strided_array input({2, 3}, strides::dense);
  strided_array output({2 * world().size(), 3}, strides::dense);
  auto from = input.buffer();
  if (world().rank() == world().size() - 1) from.strides[0] = std::int64_t{1} << 62;
  const auto to = output.buffer();
  const std::vector<std::int64_t> lengths(static_cast<std::size_t>(world().size()), 2);
  expect_error(outcome_of([&] {
                 collectives::run<collectives::allgather_along>(world(), "comm_allgather_along", {}, &from, 0, lengths,
                                                                &to);
               }),
               SYNCYTE_ERR_SHAPE, "expected a span of at most 2^63 - 1 bytes");
}

TEST(along, what_differs_between_ranks_is_named) {
  if (world().size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  expect_error(attempt{.shape = {2, 4}}.run(), SYNCYTE_ERR_MISMATCH, "extent 1 is");
  expect_error(attempt{.root = world().size() - 1}.run(), SYNCYTE_ERR_MISMATCH, "root is");
  expect_error(attempt{.dtype = SYNCYTE_FLOAT32}.run(), SYNCYTE_ERR_MISMATCH, "dtype is");
  expect_error(attempt{.shape = {2, 3, 1}}.run(), SYNCYTE_ERR_MISMATCH, "number of dimensions is");
  EXPECT_EQ(attempt{}.run().status, SYNCYTE_SUCCESS);
}

TEST(along, output_must_be_the_whole) {
  strided_array input({2, 3}, strides::dense);
  strided_array output({2 * world().size() + (world().rank() == 0), 3}, strides::dense);
  const auto from = input.buffer();
  const auto to = output.buffer();
  const std::vector<std::int64_t> lengths(static_cast<std::size_t>(world().size()), 2);
  expect_error(outcome_of([&] {
                 collectives::run<collectives::allgather_along>(world(), "comm_allgather_along", {}, &from, 0, lengths,
                                                                &to);
               }),
               SYNCYTE_ERR_SHAPE, "the sum of counts");
  expect_error(outcome_of([&] {
                 collectives::run<collectives::allgather_along>(world(), "comm_allgather_along", {}, &from, 0, lengths,
                                                                world().rank() == 0 ? nullptr : &to);
               }),
               SYNCYTE_ERR_ARGUMENT, "output is null");
  expect_error(outcome_of([&] {
                 collectives::run<collectives::scatter_along>(world(), "comm_scatter_along", {}, nullptr, 0, 0, lengths,
                                                              &from);
               }),
               SYNCYTE_ERR_ARGUMENT, "input is null on root");
}

TEST(along, repartition_keeps_the_total) {
  strided_array input({2}, strides::dense);
  strided_array output({3}, strides::dense);
  const auto from = input.buffer();
  const auto to = output.buffer();
  const std::vector<std::int64_t> two(static_cast<std::size_t>(world().size()), 2);
  const std::vector<std::int64_t> three(static_cast<std::size_t>(world().size()), 3);
  expect_error(outcome_of([&] {
                 collectives::run<collectives::alltoall_along>(world(), "comm_alltoall_along", {}, &from, 0, 0, two,
                                                               three, &to);
               }),
               SYNCYTE_ERR_SHAPE, ", the sum of gather_counts");
}

}  // namespace
