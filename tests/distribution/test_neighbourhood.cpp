// SPDX-License-Identifier: BSD-3-Clause
// Halos and copies of shared points of random layouts, carried out in one process on the arrays of all ranks.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "distribution/neighbourhood.hpp"
#include "layout_places.hpp"

namespace {

using namespace syncyte;
using distribution::layout;
using distribution::per_axis;
using distribution::route;
using distribution::shipment;
using reference::drawn;
using reference::for_each_place;
using reference::for_each_place_of_all;
using reference::is_right;
using reference::is_within;
using reference::plus;
using reference::point_at;

constexpr std::uint64_t trials = 800;

/// A place of a block of a rank, counted from the block's first stored point.
using place_of_all = std::tuple<int, int, per_axis>;
using values_of_all = std::map<place_of_all, std::vector<double>>;

/// Sends all boxes; visitor(rank, block, place, value) gets what arrives, in the order of each rank's receives.
template <class Visitor>
void carry_out(const std::vector<route>& routes, const values_of_all& values, Visitor&& visitor) {
  std::map<std::pair<int, int>, std::vector<std::vector<double>>> messages;
  for (int rank = 0; rank < std::ssize(routes); ++rank)
    for (const shipment& each : routes[static_cast<std::size_t>(rank)].sends)
      for_each_place(each.count, [&, &box = messages[{rank, each.peer}].emplace_back()](const per_axis& place) {
        box.push_back(values.at({rank, each.block, plus(each.offset, place)}).front());
      });
  for (int rank = 0; rank < std::ssize(routes); ++rank) {
    std::map<int, std::size_t> next;
    for (const shipment& each : routes[static_cast<std::size_t>(rank)].receives) {
      const auto& boxes = messages[{each.peer, rank}];
      ASSERT_LT(next[each.peer], boxes.size());
      const auto& box = boxes[next[each.peer]++];
      ASSERT_EQ(std::ssize(box), distribution::volume({{}, each.count}));
      std::size_t element = 0;
      for_each_place(each.count, [&](const per_axis& place) {
        visitor(rank, each.block, plus(each.offset, place), box[element++]);
      });
    }
    for (const auto& [pair, boxes] : messages)
      if (pair.second == rank) {
        ASSERT_EQ(boxes.size(), next[pair.first]) << "from rank " << pair.first;
      }
  }
}

TEST(neighbourhood, ghosts_get_the_right_copies) {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const layout of = drawn(seed, 1 + static_cast<int>(seed % 6));
    const std::int64_t depth = static_cast<std::int64_t>(seed % 4);
    SCOPED_TRACE("seed " + std::to_string(seed));
    values_of_all before, expected;
    for_each_place_of_all(of, [&](int rank, int block, const per_axis& place) {
      const auto point = point_at(of, block, place);
      const bool right = is_right(of, block, place);
      before[{rank, block, place}] = {right ? reference::value_at(*point) : reference::stale};
      expected[{rank, block, place}] = {
          right || (point && is_within(of, block, place, depth)) ? reference::value_at(*point) : reference::stale};
    });
    std::vector<route> routes;
    for (int rank = 0; rank < of.size(); ++rank) routes.push_back(find_halo(of, rank, depth));
    values_of_all after = before;
    carry_out(routes, before, [&](int rank, int block, const per_axis& place, double value) {
      auto& now = after.at({rank, block, place});
      EXPECT_EQ(now.front(), reference::stale) << "a right copy or the same place twice";
      now = {value};
    });
    if (HasFailure()) return;
    ASSERT_EQ(after, expected);
  }
}

TEST(neighbourhood, all_copies_arrive_in_one_order) {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const layout of = drawn(seed, 1 + static_cast<int>(seed % 6));
    SCOPED_TRACE("seed " + std::to_string(seed));
    // The value of a copy is its number in ascending order of ranks, blocks, places; copies of a block are equal.
    values_of_all values;
    std::map<per_axis, std::vector<double>> copies;
    double number = 0;
    for (int rank = 0; rank < of.size(); ++rank)
      for (const int block : of.blocks_of(rank)) {
        const int first = of.ranks_of(block).front();
        for_each_place(of.shape_of(block), [&](const per_axis& place) {
          if (rank != first) {
            values[{rank, block, place}] = values.at({first, block, place});
            return;
          }
          values[{rank, block, place}] = {++number};
          copies[*point_at(of, block, place)].push_back(number);
        });
      }
    std::vector<route> routes;
    for (int rank = 0; rank < of.size(); ++rank) routes.push_back(find_copies(of, rank));
    values_of_all arrived;
    carry_out(routes, values, [&](int rank, int block, const per_axis& place, double value) {
      arrived[{rank, block, place}].push_back(value);
    });
    if (HasFailure()) return;
    for (const auto& [where, own] : values) {
      const auto& all = copies.at(*point_at(of, std::get<1>(where), std::get<2>(where)));
      if (all.size() == 1) continue;
      ASSERT_EQ(arrived[where], all);
    }
    for (const auto& [where, got] : arrived)
      ASSERT_GT(copies.at(*point_at(of, std::get<1>(where), std::get<2>(where))).size(), 1U) << "a point of one block";
  }
}

TEST(neighbourhood, of_blocks_that_are_dealt_out_is_refused) {
  const distribution::axis dealt = distribution::axis::block_cyclic(8, 2, 1);
  const std::vector<std::vector<int>> by{{0}};
  distribution::ghost_widths ghosts;
  const layout without = layout::on_mesh({&dealt, 1}, by, {{2}, {0, 1}}, 2);
  EXPECT_NO_THROW(distribution::require_neighbours(without));
  ghosts.low[0] = 1;
  EXPECT_THROW(distribution::require_neighbours(without.with_ghosts(ghosts)), base::error);
}

}  // namespace
