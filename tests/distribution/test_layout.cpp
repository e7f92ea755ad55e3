// SPDX-License-Identifier: BSD-3-Clause
// Random layouts against loops over all cells and points.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "distribution/layout.hpp"
#include "layout_arrays.hpp"
#include "random_layout.hpp"
#include "reference.hpp"

namespace {

using namespace syncyte;
using distribution::axis;
using distribution::block_part;
using distribution::box;
using distribution::holding;
using distribution::layout;
using distribution::per_axis;
using distribution::points;
using distribution::shared_points;
using reference::for_each_place;
using reference::plus;
using reference::random_layout;

constexpr int trials = 600;

/// The point at each place of a block's array, from its parts; each place has one.
std::map<per_axis, per_axis> points_of(const layout& of, int block, holding what) {
  std::map<per_axis, per_axis> result;
  for (const block_part& part : of.parts_of(block, what))
    for_each_place(part.points.count, [&](const per_axis& place) {
      const bool is_new = result.emplace(plus(part.offset, place), plus(part.points.first, place)).second;
      EXPECT_TRUE(is_new) << "a place has two points";
    });
  return result;
}

struct trial {
  std::vector<std::int64_t> cells;
  int size;
  layout made;

  explicit trial(std::uint64_t seed)
      : cells(reference::random_cells(seed)),
        size(1 + static_cast<int>(seed % 6)),
        made(random_layout(cells, size, seed, reference::random_points(cells.size(), seed))) {}
};

TEST(layout, each_place_of_an_array_has_a_point) {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const trial one(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const per_axis extents = one.made.extents();
    for (int block = 0; block < one.made.blocks(); ++block) {
      const auto stored = points_of(one.made, block, holding::stored);
      const per_axis shape = one.made.shape_of(block);
      ASSERT_EQ(std::ssize(stored), distribution::volume({{}, shape}));
      for (const auto& [place, point] : stored)
        for (std::size_t axis = 0; axis < extents.size(); ++axis) {
          ASSERT_LT(place[axis], shape[axis]);
          ASSERT_GE(point[axis], 0);
          ASSERT_LT(point[axis], extents[axis]);
        }
      for (const auto& [place, point] : points_of(one.made, block, holding::owned)) ASSERT_EQ(stored.at(place), point);
    }
  }
}

TEST(layout, each_point_has_one_owner) {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const trial one(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::map<per_axis, int> owners;
    for (int block = 0; block < one.made.blocks(); ++block)
      for (const auto& [place, point] : points_of(one.made, block, holding::owned))
        ASSERT_TRUE(owners.emplace(point, block).second) << "blocks " << owners[point] << " and " << block;
    ASSERT_EQ(std::ssize(owners), distribution::volume({{}, one.made.extents()}));
    for (const auto& [point, block] : owners) ASSERT_EQ(one.made.owner(point), block);
  }
}

/// Every block that has a cell next to a point stores the point.
TEST(layout, blocks_store_the_borders_of_their_cells) {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const trial one(seed);
    if (one.made.lists() != nullptr) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<points> plain(one.cells.size());
    const layout cells = one.made.with_points(plain);
    for (int block = 0; block < cells.blocks(); ++block) {
      std::set<per_axis> expected;
      std::set<per_axis> stored;
      for (const auto& [place, cell] : points_of(cells, block, holding::stored)) {
        per_axis borders = box().count;
        for (std::size_t axis = 0; axis < one.cells.size(); ++axis) borders[axis] += one.made.axes()[axis].is_shared();
        for_each_place(borders, [&](const per_axis& beyond) {
          per_axis point = plus(cell, beyond);
          for (std::size_t axis = 0; axis < one.cells.size(); ++axis)
            if (one.made.axes()[axis].periodic) point[axis] %= one.cells[axis];
          expected.insert(point);
        });
      }
      for (const auto& [place, point] : points_of(one.made, block, holding::stored)) stored.insert(point);
      ASSERT_EQ(stored, expected) << "block " << block;
    }
  }
}

TEST(layout, parts_of_a_box_are_those_of_all_blocks) {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const trial one(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    reference::random_numbers next(seed + 7);
    box some;
    const per_axis extents = one.made.extents();
    for (std::size_t axis = 0; axis < one.cells.size(); ++axis) {
      some.first[axis] = next(0, extents[axis] - 1);
      some.count[axis] = next(1, extents[axis] - some.first[axis]);
    }
    for (const holding what : {holding::stored, holding::owned}) {
      std::set<std::pair<int, per_axis>> expected;  // block and place in its array
      std::set<std::pair<int, per_axis>> found;
      for (int block = 0; block < one.made.blocks(); ++block)
        for (const auto& [place, point] : points_of(one.made, block, what))
          if (distribution::volume(intersection(some, {point, box().count})) > 0) expected.emplace(block, place);
      for (const block_part& part : one.made.parts_in(some, what))
        for_each_place(part.points.count, [&](const per_axis& place) {
          ASSERT_TRUE(found.emplace(part.block, plus(part.offset, place)).second);
        });
      ASSERT_EQ(found, expected);
    }
  }
}

TEST(layout, ranks_and_blocks_know_each_other) {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const trial one(seed);
    std::multiset<std::pair<int, int>> of_ranks;
    std::multiset<std::pair<int, int>> of_blocks;
    for (int rank = 0; rank < one.size; ++rank)
      for (const int block : one.made.blocks_of(rank)) of_ranks.emplace(rank, block);
    for (int block = 0; block < one.made.blocks(); ++block)
      for (const int rank : one.made.ranks_of(block)) of_blocks.emplace(rank, block);
    ASSERT_EQ(of_ranks, of_blocks);
  }
}

// ---- wrong descriptions

template <class Function>
std::string refusal(Function&& function) {
  try {
    function();
  } catch (const base::error& error) {
    EXPECT_EQ(error.status(), SYNCYTE_ERR_ARGUMENT);
    return error.what();
  }
  return "accepted";
}

std::string refusal_of_blocks(std::vector<distribution::rank_box> blocks) {
  const std::vector<std::int64_t> whole{4, 6};
  return refusal([&] { (void)layout::of_blocks(whole, blocks, 3); });
}

TEST(layout, blocks_that_do_not_add_up_are_refused) {
  const auto block = [](int rank, per_axis first, per_axis count) {
    return distribution::rank_box{rank, {first, count}};
  };
  const per_axis half{4, 3, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(refusal_of_blocks({block(0, {}, half), block(2, {0, 3}, half)}), "accepted");
  EXPECT_EQ(refusal_of_blocks({block(0, {}, half), block(2, {0, 2}, half)}), "blocks of ranks 0 and 2 overlap");
  EXPECT_EQ(refusal_of_blocks({block(0, {}, half)}), "the blocks have 12 of 24 cells: no rank has the others");
  EXPECT_EQ(refusal_of_blocks({block(1, {0, 4}, half)}),
            "a block of rank 1 has 3 cells from 4 on along axis 1, which has 6");
  EXPECT_NE(refusal_of_blocks({block(3, {}, half)}).find("rank of a block is 3; expected 0 to 2"), std::string::npos);
  EXPECT_EQ(refusal_of_blocks({block(0, {}, half), block(0, {}, half)}), "rank 0 has the same block twice");
}

TEST(layout, meshes_that_do_not_fit_are_refused) {
  const std::vector<axis> cells{axis::equal(4, 2), axis::equal(6, 1)};
  const auto with = [&](std::vector<std::vector<int>> by, distribution::mesh mesh) {
    return refusal([&] { (void)layout::on_mesh(cells, by, mesh, 2); });
  };
  EXPECT_EQ(with({{0}, {}}, {{2}, {0, 1}}), "accepted");
  EXPECT_EQ(with({{}, {0}}, {{2}, {0, 1}}),
            "parts[0] is 2; expected 1, the places along the mesh's dimensions that cut the axis");
  EXPECT_EQ(with({{0}, {0}}, {{2}, {0, 1}}), "dimension of the mesh is 0; expected one that cuts no other axis");
  EXPECT_EQ(with({{0}, {}}, {{2}, {0}}), "number of the mesh's ranks is 1; expected 2, one for each place");
  EXPECT_EQ(with({{0}, {}}, {{2}, {0, -1}}), "no rank has block 1");
  EXPECT_EQ(with({{0}, {}}, {{2, 1}, {0, 0}}), "accepted") << "one rank may have several blocks";
}

TEST(layout, lists_that_do_not_add_up_are_refused) {
  const std::vector<std::int64_t> whole{6, 2};
  const auto with = [&](std::vector<distribution::rank_list> lists) {
    return refusal([&] { (void)layout::of_lists(whole, lists, shared_points::equal, 2); });
  };
  const auto list = [](int rank, std::vector<std::int64_t> points, std::int64_t ghosts) {
    return distribution::rank_list{rank, distribution::point_list::of(points, ghosts)};
  };
  EXPECT_EQ(with({list(0, {5, 0, 1, 2}, 0), list(1, {3, 4, 5, 0}, 1)}), "accepted");
  EXPECT_EQ(with({list(0, {0, 1, 2}, 0), list(1, {4, 5}, 0)}), "point 3 is in no rank's list, or only as a ghost");
  EXPECT_EQ(with({list(0, {0, 1, 2}, 0), list(1, {4, 5, 3}, 1)}), "point 3 is in no rank's list, or only as a ghost");
  EXPECT_EQ(with({list(0, {0, 1, 2, 3, 4}, 0)}), "point 5 is in no rank's list, or only as a ghost");
  EXPECT_EQ(with({list(0, {0, 1, 2, 3, 4, 5, 6}, 0)}), "points is 6; expected 0 to 5");
  EXPECT_EQ(with({list(0, {0, 1, 2, 3, 4, 5}, 7)}), "ghosts is 7; expected 0 to 6");
}

TEST(layout, of_lists_knows_only_what_they_say) {
  const std::vector<std::int64_t> whole{4};
  const layout made =
      layout::of_lists(whole, {{{0, distribution::point_list::of({{0, 1, 2, 3}}, 0)}}}, shared_points::equal, 1);
  const std::vector<points> nodes{{.shared = shared_points::equal}};
  distribution::ghost_widths wide;
  wide.low[0] = 1;
  EXPECT_NE(refusal([&] { (void)made.with_points(nodes); }), "accepted");
  EXPECT_NE(refusal([&] { (void)made.with_ghosts(wide); }), "accepted");
}

TEST(layout, is_made_again_from_its_facts) {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const trial one(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const layout again = layout::from_facts(one.made.facts());
    ASSERT_EQ(again, one.made);
    ASSERT_EQ(again.fingerprint(), one.made.fingerprint());
    for (int block = 0; block < again.blocks(); ++block) {
      ASSERT_EQ(again.shape_of(block), one.made.shape_of(block));
      ASSERT_EQ(points_of(again, block, holding::owned), points_of(one.made, block, holding::owned));
    }
  }
}

TEST(layout, moves_to_other_ranks) {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const trial one(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<int> ranks;
    for (int rank = 0; rank < one.size; ++rank) ranks.push_back(2 * (one.size - rank));
    const layout moved = one.made.among(ranks, 2 * one.size + 1);
    ASSERT_EQ(moved.blocks(), one.made.blocks());
    ASSERT_EQ(moved.size(), 2 * one.size + 1);
    for (int rank = 0; rank < moved.size(); ++rank) {
      const auto before = std::ranges::find(ranks, rank);
      ASSERT_TRUE(before == ranks.end()
                      ? moved.blocks_of(rank).empty()
                      : std::ranges::equal(moved.blocks_of(rank),
                                           one.made.blocks_of(static_cast<int>(before - ranks.begin()))));
    }
  }
}

TEST(layout, huge_arrays_have_short_descriptions) {
  constexpr std::int64_t huge = std::int64_t{1} << 61;
  const std::vector<axis> cells{axis::block_cyclic(huge, 3, 1)};
  const std::vector<std::vector<int>> by{{0}};
  const auto made = layout::on_mesh(cells, by, {{3}, {0, 1, 2}}, 3);
  EXPECT_LT(made.facts().size(), 100U);
  EXPECT_EQ(made.first_of(2)[0], 2);
  EXPECT_EQ(made.owner({huge - 1}), (huge - 1) % 3);
  EXPECT_NE(made, layout::on_mesh(std::vector{axis::block_cyclic(huge, 3, 2)}, by, {{3}, {0, 1, 2}}, 3));
  const std::vector<std::int64_t> too_large{huge, 4};
  EXPECT_NE(refusal([&] { (void)layout::of_blocks(too_large, {}, 1); }).find("at most 2^62 elements"),
            std::string::npos);
  distribution::ghost_widths wide;
  wide.low[0] = huge;
  EXPECT_NE(refusal([&] { (void)made.with_ghosts(wide); }), "accepted");
}

TEST(layout, axes_that_are_dealt_out_have_no_borders) {
  const std::vector<axis> cells{axis::cyclic(4, 2)};
  const std::vector<std::vector<int>> by{{0}};
  const auto made = layout::on_mesh(cells, by, {{2}, {0, 1}}, 2);
  const std::vector<points> nodes{{.shared = shared_points::equal}};
  EXPECT_NE(refusal([&] { (void)made.with_points(nodes); }), "accepted");
}

}  // namespace
