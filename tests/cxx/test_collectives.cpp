// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <numeric>
#include <syncyte/syncyte.hpp>
#include <vector>

#include "expect.hpp"
#include "reference.hpp"

namespace {

namespace reference = syncyte::reference;
using reference::lengths;
using syncyte::buffer;
using syncyte::communicator;
using syncyte::const_buffer;
using syncyte::extents;
using syncyte::op;
using syncyte::test::expect_error;

class cxx_collectives : public testing::Test {
 protected:
  bool is_odd_one() const { return rank_ == size_ - 1; }

  communicator world_ = communicator::world();
  int rank_ = world_.rank();
  int size_ = world_.size();
};

std::int64_t mine(const lengths& parts, int rank) { return parts[static_cast<std::size_t>(rank)]; }

/// Lengths of the ranks' parts: uneven, with empty parts in between, and all on the last rank.
std::array<lengths, 3> partitions(std::int64_t extent, int size) {
  return {reference::uneven_lengths(21, extent, size), reference::lengths_with_gaps(extent, size),
          reference::lengths_on_one(extent, size, size - 1)};
}

/// A 6 x 10 table whose element (i, j) is 100 i + j, or a block of it.
struct block {
  static constexpr std::int64_t all_rows = 6, all_columns = 10;
  std::int64_t first_row = 0, rows = all_rows, first_column = 0, columns = all_columns;

  static block of_rows(const lengths& parts, int rank) {
    return {.first_row = reference::first_row(parts, rank), .rows = mine(parts, rank)};
  }
  static block of_columns(const lengths& parts, int rank) {
    return {.first_column = reference::first_row(parts, rank), .columns = mine(parts, rank)};
  }

  extents shape() const { return {rows, columns}; }
  std::vector<double> values() const {
    std::vector<double> result;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        result.push_back(static_cast<double>(100 * (first_row + i) + first_column + j));
    return result;
  }
};

/// A matrix in column-major order with a gap after each column, as in a slice of a larger array.
class column_major {
 public:
  explicit column_major(const block& shape)
      : shape_(shape.shape()), memory_(static_cast<std::size_t>((shape.rows + 1) * shape.columns), -1) {}

  buffer all() { return {memory_.data(), shape_, strides()}; }
  double at(std::int64_t i, std::int64_t j) const { return memory_[static_cast<std::size_t>(j * (shape_[0] + 1) + i)]; }

  void fill(const std::vector<double>& row_major) {
    for (std::int64_t i = 0; i < shape_[0]; ++i)
      for (std::int64_t j = 0; j < shape_[1]; ++j)
        memory_[static_cast<std::size_t>(j * (shape_[0] + 1) + i)] =
            row_major[static_cast<std::size_t>(i * shape_[1] + j)];
  }

  void expect(const std::vector<double>& row_major) const {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape_[0]; ++i)
      for (std::int64_t j = 0; j < shape_[1]; ++j) values.push_back(at(i, j));
    EXPECT_EQ(values, row_major);
    for (std::int64_t j = 0; j < shape_[1]; ++j) EXPECT_EQ(at(shape_[0], j), -1) << "written beside the array";
  }

 private:
  extents strides() const { return {8, 8 * (shape_[0] + 1)}; }

  extents shape_;
  std::vector<double> memory_;
};

TEST_F(cxx_collectives, reduce_to_every_root) {
  for (int root = 0; root < size_; ++root) {
    const auto given = reference::random_values<std::int32_t>(31, rank_, 9);
    const auto sum = reference::allreduce<std::int32_t>(31, size_, 9);
    std::vector<std::int32_t> result(rank_ == root ? 9 : 0);  // elsewhere ignored
    world_.reduce(given, root, result);
    EXPECT_EQ(result, rank_ == root ? sum : std::vector<std::int32_t>{});
    auto values = given;
    world_.reduce(root, values);
    EXPECT_EQ(values, rank_ == root ? sum : given);
  }
}

TEST_F(cxx_collectives, scans_both_ways) {
  std::vector<std::int64_t> value{rank_ + 1}, result{-1};
  world_.scan(value, result);
  EXPECT_EQ(result[0], (rank_ + 1) * (rank_ + 2) / 2);
  world_.scan(value, result, op::max, true);
  EXPECT_EQ(result[0], size_);
  world_.exscan(value, result);
  EXPECT_EQ(result[0], rank_ * (rank_ + 1) / 2);
  world_.exscan(value, op::sum, true);  // in place
  EXPECT_EQ(value[0], size_ * (size_ + 1) / 2 - (rank_ + 1) * (rank_ + 2) / 2);
  std::vector<std::int64_t> two{2};
  world_.scan(two, op::prod);
  EXPECT_EQ(two[0], std::int64_t{1} << (rank_ + 1));
  std::vector<std::int8_t> before{2};
  world_.exscan(before, op::prod);
  EXPECT_EQ(before[0], 1 << rank_) << "a product begins with 1";
}

TEST_F(cxx_collectives, lengths_of_all_ranks) {
  extents expected(static_cast<std::size_t>(size_));
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(world_.counts(rank_), expected);
  EXPECT_EQ(syncyte::even_counts(7, 3), (extents{3, 2, 2}));
  EXPECT_EQ(syncyte::even_counts(1, 2), (extents{1, 0}));
  for (int extent = 0; extent < 9; ++extent)
    EXPECT_EQ(syncyte::even_counts(extent, size_), reference::equal_lengths(extent, size_));
  expect_error(syncyte::status::argument, {"extent is -1"}, [] { static_cast<void>(syncyte::even_counts(-1, 2)); });
  expect_error(syncyte::status::argument, {"parts is 0"}, [] { static_cast<void>(syncyte::even_counts(1, 0)); });
  expect_error(syncyte::status::argument, {"count is -2"},
               [&] { static_cast<void>(world_.counts(is_odd_one() ? -2 : 1)); });
}

TEST_F(cxx_collectives, gather_and_allgather_rows) {
  for (const auto& parts : partitions(block::all_rows, size_)) {
    const block own = block::of_rows(parts, rank_);
    const auto rows = own.values();
    for (int root = 0; root < size_; ++root) {
      std::vector<double> table(rank_ == root ? 60 : 0);
      const extents whole = block().shape();
      world_.gather_along(const_buffer(rows.data(), own.shape()), 0, root, parts, buffer(table.data(), whole));
      EXPECT_EQ(table, rank_ == root ? block().values() : std::vector<double>{});
    }
    column_major table{block()};
    world_.allgather_along(const_buffer(rows.data(), own.shape()), -2, parts, table.all());
    table.expect(block().values());
  }
}

TEST_F(cxx_collectives, scatter_columns) {
  for (const auto& parts : partitions(block::all_columns, size_)) {
    for (int root = 0; root < size_; ++root) {
      column_major table{block()};
      if (rank_ == root) table.fill(block().values());
      const block own = block::of_columns(parts, rank_);
      column_major columns(own);
      world_.scatter_along(table.all(), 1, root, parts, columns.all());
      columns.expect(own.values());
    }
  }
}

TEST_F(cxx_collectives, reduce_scatter_columns) {
  for (const auto& parts : partitions(block::all_columns, size_)) {
    const block own = block::of_columns(parts, rank_);
    auto expected = own.values();
    for (double& value : expected) value *= size_;
    const auto table = block().values();
    column_major columns(own);
    world_.reduce_scatter_along(const_buffer(table.data(), block().shape()), -1, parts, columns.all());
    columns.expect(expected);
    std::vector<double> largest(expected.size());
    world_.reduce_scatter_along(const_buffer(table.data(), block().shape()), 1, parts,
                                buffer(largest.data(), own.shape()), op::max);
    EXPECT_EQ(largest, own.values());
  }
}

TEST_F(cxx_collectives, alltoall_turns_rows_into_columns) {
  for (const auto& rows : partitions(block::all_rows, size_)) {
    for (const auto& columns : partitions(block::all_columns, size_)) {
      const block before = block::of_rows(rows, rank_);
      const block after = block::of_columns(columns, rank_);
      const auto given = before.values();
      column_major result(after);
      world_.alltoall_along(const_buffer(given.data(), before.shape()), 0, 1, rows, columns, result.all());
      result.expect(after.values());
    }
    const auto even = syncyte::even_counts(block::all_rows, size_);  // one axis: other lengths
    const block before = block::of_rows(rows, rank_);
    const block after = block::of_rows(even, rank_);
    const auto given = before.values();
    column_major result(after);
    world_.alltoall_along(const_buffer(given.data(), before.shape()), 0, 0, rows, even, result.all());
    result.expect(after.values());
  }
}

TEST_F(cxx_collectives, types_known_at_run_time) {
  std::vector<float> values{1, 9, 2, 9}, all(static_cast<std::size_t>(2 * size_));
  const extents shape{2}, strides{8}, dense{4}, parts(static_cast<std::size_t>(size_), 2);
  const extents whole{2 * size_};
  const void* untyped = values.data();
  world_.allgather_along(const_buffer(untyped, syncyte::dtype::float32, shape, strides), 0, parts,
                         buffer(static_cast<void*>(all.data()), syncyte::dtype::float32, whole, dense));
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i % 2 == 0 ? 1 : 2);
}

/// Calls in which the last rank gives one wrong argument.
TEST_F(cxx_collectives, wrong_arguments_on_one_rank_throw_on_all) {
  using syncyte::status;
  std::vector<double> part(2), other(2), whole(static_cast<std::size_t>(2 * size_));
  const lengths right(static_cast<std::size_t>(size_), 2);
  lengths given = right;
  if (is_odd_one()) given.push_back(2);
  const auto expect_lengths = [&](const char* operation, const char* name, auto call) {
    expect_error(status::shape, {operation, name, "entries; expected", "one for each rank"}, call);
  };
  expect_lengths("gather_along", "counts has", [&] { world_.gather_along(part, 0, 0, given, whole); });
  expect_lengths("allgather_along", "counts has", [&] { world_.allgather_along(part, 0, given, whole); });
  expect_lengths("scatter_along", "counts has", [&] { world_.scatter_along(whole, 0, 0, given, part); });
  expect_lengths("reduce_scatter_along", "counts has", [&] { world_.reduce_scatter_along(whole, 0, given, part); });
  expect_lengths("alltoall_along", "gather_counts has",
                 [&] { world_.alltoall_along(part, 0, 0, given, right, other); });
  expect_lengths("alltoall_along", "scatter_counts has",
                 [&] { world_.alltoall_along(part, 0, 0, right, given, other); });
  expect_error(status::argument, {"root is -1"}, [&] { world_.reduce(is_odd_one() ? -1 : 0, part); });
  expect_error(status::argument, {"axis is 1"}, [&] { world_.gather_along(part, is_odd_one(), 0, right, whole); });
  const extents short_shape{is_odd_one() ? 1 : 2};
  expect_error(status::shape, {"this rank's in counts"},
               [&] { world_.allgather_along(const_buffer(part.data(), short_shape), 0, right, whole); });
  std::vector<std::complex<float>> complex(2);
  expect_error(status::unsupported, {"op is MAX; expected"}, [&] { world_.exscan(complex, op::max); });
  EXPECT_EQ(world_.allreduce_value(1), size_) << "in step again";
}

TEST_F(cxx_collectives, disagreement_throws_on_all_ranks) {
  if (size_ == 1) GTEST_SKIP() << "one rank agrees with itself";
  std::vector<double> part(2), whole(static_cast<std::size_t>(2 * size_));
  const lengths right(static_cast<std::size_t>(size_), 2);
  using syncyte::status;
  expect_error(status::mismatch, {"root is"}, [&] { world_.scatter_along(whole, 0, is_odd_one(), right, part); });
  expect_error(status::mismatch, {"reverse"}, [&] { world_.exscan(part, op::sum, is_odd_one() ? true : false); });
  expect_error(status::mismatch, {"op is"}, [&] { world_.reduce(0, part, is_odd_one() ? op::min : op::max); });
  EXPECT_EQ(world_.allreduce_value(1), size_);
}

}  // namespace
