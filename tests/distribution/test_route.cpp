// SPDX-License-Identifier: BSD-3-Clause
// Routes between random layouts, carried out in one process on the arrays of all ranks.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "distribution/route.hpp"
#include "layout_arrays.hpp"
#include "random_layout.hpp"
#include "reference.hpp"

namespace {

using namespace syncyte;
using distribution::box;
using distribution::layout;
using distribution::points;
using distribution::route;
using distribution::shipment;
using reference::arrays_of_all_ranks;
using reference::random_layout;

constexpr std::uint64_t trials = 800;

/// Carries out the routes of all ranks; the messages between two ranks have the same boxes on both.
void carry_out(const std::vector<route>& routes, const arrays_of_all_ranks& from, arrays_of_all_ranks& to) {
  std::map<std::pair<int, int>, std::vector<std::vector<double>>> messages;
  for (int rank = 0; rank < std::ssize(routes); ++rank)
    for (const shipment& each : routes[static_cast<std::size_t>(rank)].sends)
      messages[{rank, each.peer}].push_back(from.at(rank, each.block).read(each.offset, each.count));
  for (int rank = 0; rank < std::ssize(routes); ++rank) {
    std::map<int, std::size_t> next;
    for (const shipment& each : routes[static_cast<std::size_t>(rank)].receives) {
      const auto& boxes = messages[{each.peer, rank}];
      ASSERT_LT(next[each.peer], boxes.size()) << "rank " << each.peer << " sends less to rank " << rank;
      const auto& values = boxes[next[each.peer]++];
      ASSERT_EQ(std::ssize(values), distribution::volume({{}, each.count}));
      to.at(rank, each.block).write(each.offset, each.count, values);
    }
    for (const auto& [peer, count] : next) ASSERT_EQ(count, (messages[{peer, rank}].size()));
  }
}

struct trial {
  std::vector<std::int64_t> cells;
  int size;
  std::vector<points> kinds;
  layout from, to;

  explicit trial(std::uint64_t seed)
      : cells(reference::random_cells(seed)),
        size(1 + static_cast<int>(seed % 6)),
        kinds(reference::random_points(cells.size(), seed)),
        from(random_layout(cells, size, 2 * seed, kinds)),
        to(random_layout(cells, size, 2 * seed + 1, kinds)) {}
};

template <class... First>
std::vector<route> routes(const layout& from, const layout& to, const First&... first) {
  std::vector<route> result;
  for (int rank = 0; rank < from.size(); ++rank) result.push_back(find_route(from, to, rank, first...));
  return result;
}

TEST(route, every_place_gets_the_owners_value) {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const trial one(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto source = arrays_of_all_ranks::with_values_of_owners(one.from);
    arrays_of_all_ranks target(one.to);
    carry_out(routes(one.from, one.to), source, target);
    if (HasFatalFailure()) return;
    ASSERT_EQ(target, arrays_of_all_ranks::with_values(one.to));
  }
}

TEST(route, into_a_box_and_from_it_touches_nothing_else) {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const trial one(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    reference::random_numbers next(seed + 3);
    box within;
    std::vector<std::int64_t> count;
    for (std::size_t axis = 0; axis < one.cells.size(); ++axis) {
      within.first[axis] = next(0, one.from.extents()[axis] - 1);
      within.count[axis] = next(1, one.from.extents()[axis] - within.first[axis]);
      count.push_back(within.count[axis]);
    }
    const layout part = random_layout(count, one.size, seed + 5);
    arrays_of_all_ranks target(part);
    carry_out(routes(one.from, part, within.first), arrays_of_all_ranks::with_values_of_owners(one.from), target);
    if (HasFatalFailure()) return;
    ASSERT_EQ(target, arrays_of_all_ranks::with_values(part, within.first));
    arrays_of_all_ranks whole(one.to);
    carry_out(routes(part, one.to, within.first), target, whole);
    if (HasFatalFailure()) return;
    ASSERT_EQ(whole, arrays_of_all_ranks::with_values(one.to, within));
  }
}

TEST(route, of_what_is_no_box_is_refused) {
  const std::vector<std::int64_t> wide{4, 6}, small{2, 3}, tall{5, 3};
  const layout whole = random_layout(wide, 2, 1), part = random_layout(small, 2, 1), other = random_layout(tall, 2, 1);
  EXPECT_NO_THROW(find_route(whole, part, 0, {2, 3}));
  EXPECT_NO_THROW(find_route(part, whole, 0, {2, 3}));
  EXPECT_THROW(find_route(whole, part, 0, {2, 4}), base::error);
  EXPECT_THROW(find_route(whole, part, 0, {-1, 0}), base::error);
  EXPECT_THROW(find_route(part, whole, 0, {0, 4}), base::error);
  EXPECT_THROW(find_route(whole, other, 0, {0, 0}), base::error);
}

TEST(route, between_other_arrays_is_refused) {
  const std::vector<std::int64_t> small{4};
  const std::vector<std::int64_t> large{5};
  const auto one = random_layout(small, 2, 1);
  EXPECT_THROW(find_route(one, random_layout(large, 2, 1), 0), base::error);
  EXPECT_THROW(find_route(one, random_layout(small, 3, 1), 0), base::error);
}

}  // namespace
