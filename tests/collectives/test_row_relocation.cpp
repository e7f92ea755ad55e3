// SPDX-License-Identifier: BSD-3-Clause
// Rows that move to the ranks that their owners name, against a count of all rows on each rank.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/forms.hpp"
#include "collectives/row_relocation.hpp"
#include "core_world.hpp"
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

constexpr std::int64_t most_rows = 20;
constexpr std::int64_t width = 3;

/// A row of rank 0, 1, ...
struct row {
  int rank;
  std::int64_t number;
};

std::int64_t rows_of(std::uint64_t seed, int rank) { return reference::random_integer(seed, rank, -1, 0, most_rows); }

/// Some rows go nowhere, and with some seeds most stay.
std::int32_t destination(std::uint64_t seed, const row& of) {
  const std::int64_t last = world().size() - 1;
  if (reference::random_integer(seed + 1, of.rank, of.number, 0, 9) == 0) return SYNCYTE_PROC_NULL;
  if (seed % 3 == 0 && reference::random_integer(seed + 2, of.rank, of.number, 0, 9) > 1) return of.rank;
  return static_cast<std::int32_t>(reference::random_integer(seed, of.rank, of.number, 0, last));
}

std::vector<std::int32_t> own_destinations(std::uint64_t seed) {
  std::vector<std::int32_t> result;
  for (std::int64_t number = 0; number < rows_of(seed, world().rank()); ++number)
    result.push_back(destination(seed, {world().rank(), number}));
  return result;
}

/// The rows that this rank gets: its own, then those of the others.
std::vector<row> expected_rows(std::uint64_t seed) {
  std::vector<row> result;
  for (int rank = 0; rank < world().size(); ++rank)
    for (std::int64_t number = 0; number < rows_of(seed, rank); ++number)
      if (destination(seed, {rank, number}) == world().rank()) result.push_back({rank, number});
  std::ranges::stable_sort(result, {}, [](const row& each) { return each.rank != world().rank(); });
  return result;
}

std::int32_t value_of(const row& of, std::int64_t element) {
  return static_cast<std::int32_t>((of.rank * 100 + of.number) * 10 + element);
}

strided_array filled(std::int64_t rows, strides how, bool is_vector) {
  strided_array result(is_vector ? extents{rows} : extents{rows, width}, how);
  result.fill([](const extents& at) { return value_of({world().rank(), at[0]}, at.size() > 1 ? at[1] : 0); });
  return result;
}

std::int64_t relocate(const std::vector<std::int32_t>& destinations, const std::vector<syncyte_buffer_t>& arrays,
                      const std::vector<syncyte_buffer_t>& targets) {
  std::int64_t rows = -1;
  collectives::run<collectives::row_relocation>(world(), "test", collectives::caller_facts{},
                                                collectives::rows_to_move{destinations, arrays, targets, &rows});
  return rows;
}

void expect_rows(strided_array& array, const std::vector<row>& rows) {
  array.for_each([&](std::int32_t& element, const extents& at) {
    if (at[0] >= std::ssize(rows)) return;
    ASSERT_EQ(element, value_of(rows[static_cast<std::size_t>(at[0])], at.size() > 1 ? at[1] : 0));
  });
}

constexpr strides all_strides[] = {strides::dense, strides::gaps, strides::transposed};

TEST(row_relocation, moves_rows_of_several_arrays_to_others) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::int64_t rows = rows_of(seed, world().rank());
    const auto expected = expected_rows(seed);
    strided_array table = filled(rows, all_strides[seed % 3], false), list = filled(rows, strides::gaps, true);
    const std::int64_t room = std::ssize(expected) + static_cast<std::int64_t>(seed % 2);
    strided_array new_table({room, width}, all_strides[seed / 3 % 3]), new_list({room}, strides::dense);
    const auto destinations = own_destinations(seed);
    EXPECT_EQ(relocate(destinations, {table.buffer(), list.buffer()}, {}), std::ssize(expected)) << "counted only";
    EXPECT_EQ(relocate(destinations, {table.buffer(), list.buffer()}, {new_table.buffer(), new_list.buffer()}),
              std::ssize(expected));
    expect_rows(new_table, expected);
    expect_rows(new_list, expected);
    new_table.expect(
        [&](const extents& at) { return at[0] < std::ssize(expected) ? new_table.at(at) : strided_array::untouched; });
    table.expect([&](const extents& at) { return value_of({world().rank(), at[0]}, at[1]); });
  }
}

TEST(row_relocation, moves_rows_in_place) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto expected = expected_rows(seed);
    const std::int64_t room = most_rows * (world().size() + 1);
    strided_array table = filled(room, all_strides[seed % 3], false), list = filled(room, strides::dense, true);
    const std::vector<syncyte_buffer_t> arrays{table.buffer(), list.buffer()};
    EXPECT_EQ(relocate(own_destinations(seed), arrays, arrays), std::ssize(expected));
    expect_rows(table, expected);
    expect_rows(list, expected);
    table.expect([&](const extents& at) { return table.at(at); });
  }
}

TEST(row_relocation, of_large_rows) {
  constexpr std::int64_t rows = 64, elements = 1 << 15;
  strided_array table({rows, elements}, strides::dense), target({rows * world().size(), elements}, strides::dense);
  table.fill([](const extents& at) { return value_of({world().rank(), at[0]}, at[1]); });
  const std::vector<std::int32_t> to_next(rows, (world().rank() + 1) % world().size());
  EXPECT_EQ(relocate(to_next, {table.buffer()}, {target.buffer()}), rows);
  const int from = (world().rank() + world().size() - 1) % world().size();
  target.for_each([&](std::int32_t& element, const extents& at) {
    if (at[0] >= rows) return;
    ASSERT_EQ(element, value_of({from, at[0]}, at[1]));
  });
}

// ---- wrong arguments: all ranks get the error, and no array changes

TEST(row_relocation, wrong_arguments_of_one_rank_are_refused) {
  const bool is_odd = world().rank() == world().size() - 1;
  strided_array table = filled(4, strides::dense, false), list = filled(4, strides::dense, true);
  strided_array target({4 * world().size(), width}, strides::dense);
  const auto refused = [&](const std::vector<std::int32_t>& destinations, const std::vector<syncyte_buffer_t>& arrays,
                           const std::vector<syncyte_buffer_t>& targets) {
    return outcome_of([&] { relocate(destinations, arrays, targets); });
  };
  const std::vector<std::int32_t> to_first(4, 0);
  const auto with = [&](std::int32_t wrong) {
    std::vector<std::int32_t> result = to_first;
    if (is_odd) result[2] = wrong;
    return result;
  };
  expect_error(refused(with(world().size()), {table.buffer()}, {target.buffer()}), SYNCYTE_ERR_ARGUMENT,
               "destinations[2] is " + std::to_string(world().size()));
  expect_error(refused(with(-1), {table.buffer()}, {target.buffer()}), SYNCYTE_ERR_ARGUMENT, "destinations[2] is -1");
  const std::vector<std::int32_t> too_many(is_odd ? 5 : 4, 0);
  expect_error(refused(too_many, {table.buffer()}, {target.buffer()}), SYNCYTE_ERR_SHAPE, "5 rows or more");
  expect_error(refused(to_first, {}, {}), SYNCYTE_ERR_ARGUMENT, "1 or more arrays");
  expect_error(refused(to_first, {table.buffer(), list.buffer()}, {target.buffer()}), SYNCYTE_ERR_ARGUMENT,
               "one for each array");
  strided_array narrow({4 * world().size(), width - is_odd}, strides::dense);
  expect_error(refused(to_first, {table.buffer()}, {narrow.buffer()}), SYNCYTE_ERR_SHAPE, "rows as those of its array");
  expect_error(refused(to_first, {table.buffer(), table.buffer()}, {target.buffer(), target.buffer()}),
               SYNCYTE_ERR_ARGUMENT, "separate memory");
  syncyte_buffer_t second_half = target.buffer();
  second_half.data = static_cast<std::byte*>(second_half.data) + 4 * width;
  second_half.shape[0] -= 1;
  expect_error(refused(to_first, {target.buffer()}, {second_half}), SYNCYTE_ERR_ARGUMENT, "separate memory");
  if (world().size() == 1) return;
  strided_array small({4 * world().size() - 1, width}, strides::dense);  // all rows go to rank 0
  expect_error(refused(to_first, {table.buffer()}, {world().rank() == 0 ? small.buffer() : target.buffer()}),
               SYNCYTE_ERR_SHAPE, "rows that this rank gets");
  expect_error(refused(to_first, {is_odd ? list.buffer() : table.buffer()}, {}), SYNCYTE_ERR_MISMATCH,
               "dimensions of an array");
  target.expect([](const extents&) { return strided_array::untouched; });
}

}  // namespace
