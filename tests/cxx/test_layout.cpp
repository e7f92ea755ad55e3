// SPDX-License-Identifier: BSD-3-Clause
// Layouts, relocation and bundles in C++.

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "expect.hpp"
#include "syncyte/bundle.hpp"
#include "syncyte/tensor.hpp"

namespace {

using namespace syncyte;

class cxx_layout : public ::testing::Test {
 protected:
  const communicator world_ = communicator::world();
  const std::int32_t rank_ = world_.rank(), size_ = world_.size();
};

TEST_F(cxx_layout, knows_its_blocks) {
  const layout cells = layout::mesh(world_, {2 * size_, 5}, {size_}, {}, {.ghosts_low = {1, 0}, .ghosts_high = {2, 3}});
  EXPECT_EQ(cells.shape(), (extents{2 * size_, 5}));
  ASSERT_EQ(cells.blocks_of(rank_).size(), 1U);
  EXPECT_EQ(cells.blocks_of(rank_)[0].first, (extents{2 * rank_, 0}));
  EXPECT_EQ(cells.blocks_of(rank_)[0].shape, (extents{5, 8}));
  EXPECT_EQ(cells.comm().size(), size_);
  const layout nodes = cells.like({.shared = {true, true}, .periodic = {true, false}, .truth = truth::lower});
  EXPECT_EQ(nodes.shape(), (extents{2 * size_, 6}));
  const std::vector<block_cells> none, all = {{{0, 0}, {1, 5}}, {{1, 0}, {1, 5}}};
  const layout on_first = layout::blocks(world_, {2, 5}, rank_ == 0 ? all : none);
  EXPECT_EQ(on_first.blocks_of(0).size(), 2U);
  EXPECT_EQ(on_first.retain().blocks_of(rank_).size(), rank_ == 0 ? 2U : 0U);
  extents lengths(static_cast<std::size_t>(size_));
  std::iota(lengths.begin(), lengths.end(), 1);
  const layout uneven = layout::mesh(world_, {3, size_ * (size_ + 1) / 2}, {size_}, {.axes = {1}, .lengths = lengths});
  EXPECT_EQ(uneven.blocks_of(rank_)[0].shape, (extents{3, rank_ + 1}));
  EXPECT_THROW(layout::mesh(world_, {4}, {size_ + 1}), error);
  EXPECT_THROW(layout::mesh(world_, {4}, {size_}, {}, {.ghosts_low = extents(9)}), error);
  EXPECT_THROW(layout::mesh(world_, {4, 4}, {size_}, {}, {.shared = {true}}), error);  // which of the two axes?
  EXPECT_THROW(layout::mesh(world_, extents(9, 1), {size_}), error);
}

/// 7 x 5 points, cut along both axes in turn, by slabs of every size; errors of the visitor reach all ranks.
TEST_F(cxx_layout, collects_slab_by_slab) {
  for (const std::int32_t axis : {0, 1})
    for (std::int64_t slab_bytes = 1; slab_bytes < 180; slab_bytes += 13) {
      const layout cut = layout::mesh(world_, {7, 5}, {size_}, {.axes = {axis}}, {.ghosts_low = {1, 0}});
      const block_info block = cut.blocks_of(rank_)[0];
      std::vector<float> values(static_cast<std::size_t>(block.shape[0] * block.shape[1]), -1);
      for (std::int64_t y = 1; y < block.shape[0]; ++y)
        for (std::int64_t x = 0; x < block.shape[1]; ++x)
          values[static_cast<std::size_t>(y * block.shape[1] + x)] =
              static_cast<float>(5 * (block.first[0] + y - 1) + block.first[1] + x);
      const std::array<const_buffer, 1> arrays = {const_buffer(values.data(), block.shape)};
      const std::int32_t root = size_ - 1;
      float next = 0;
      cut.collect(
          dtype::float32, arrays, root,
          [&](const extents& first, const const_buffer& slab) {
            EXPECT_EQ(static_cast<float>(5 * first[0] + first[1]), next);
            const auto& raw = *slab.get();
            EXPECT_LE(raw.shape[0] * raw.shape[1] * 4, std::max<std::int64_t>(slab_bytes, 4));
            for (std::int64_t i = 0; i < raw.shape[0] * raw.shape[1]; ++i)
              EXPECT_EQ(static_cast<const float*>(raw.data)[i], next++);
          },
          slab_bytes);
      EXPECT_EQ(next, rank_ == root ? 35 : 0);
    }
  const layout cut = layout::mesh(world_, {7, 5}, {size_});
  std::vector<double> values(35);
  const std::array<const_buffer, 1> arrays = {const_buffer(values.data(), cut.blocks_of(rank_)[0].shape)};
  int calls = 0;
  const auto failing = [&](const extents&, const const_buffer&) {
    if (++calls == 3) throw std::runtime_error("no room");
  };
  if (rank_ == 0) {
    EXPECT_THROW(cut.collect(dtype::float64, arrays, 0, failing, 40), std::runtime_error);
  } else {
    EXPECT_THROW(cut.collect(dtype::float64, arrays, 0, failing, 40), error);
  }
  EXPECT_EQ(calls, rank_ == 0 ? 3 : 0);
  EXPECT_THROW(cut.collect(dtype::float64, arrays, rank_ == size_ - 1 ? size_ : 0, failing), error);
  EXPECT_THROW(cut.collect(rank_ == 0 ? dtype::float32 : dtype::float64, arrays, 0, failing), error);
  EXPECT_THROW(cut.collect(dtype::float64, arrays, 0, failing, 0), error);
}

TEST_F(cxx_layout, says_who_has_a_box) {
  const layout cells = layout::mesh(world_, {2 * size_, 5}, {size_}, {}, {.ghosts_low = {1, 3}, .ghosts_high = {0, 0}});
  const std::vector<layout_piece> all = cells.pieces({1, 1}, {2 * size_ - 1, 2});
  ASSERT_EQ(all.size(), static_cast<std::size_t>(size_));
  for (std::int32_t owner = 0; owner < size_; ++owner) {
    const layout_piece& piece = all[static_cast<std::size_t>(owner)];
    EXPECT_EQ(piece.rank, owner);
    EXPECT_EQ(piece.block, 0);
    EXPECT_EQ(piece.first, (extents{owner == 0 ? 1 : 2 * owner, 1}));
    EXPECT_EQ(piece.count, (extents{owner == 0 ? 1 : 2, 2}));
    EXPECT_EQ(piece.index, (extents{owner == 0 ? 2 : 1, 4}));
  }
  EXPECT_TRUE(cells.pieces({0, 0}, {0, 5}).empty());
  EXPECT_THROW(cells.pieces({0, 4}, {1, 2}), error);
  EXPECT_THROW(cells.pieces({0}, {1}), error);
}

TEST_F(cxx_layout, has_names_for_people) {
  const layout cells = layout::mesh(world_, {2 * size_, 5}, {size_});
  EXPECT_EQ(cells.axis_names().first, "");
  const char* before = nullptr;
  check(syncyte_layout_text(cells.get(), &before));
  const std::string text = before;
  cells.name_axes("y,  x ", "m, km");
  EXPECT_EQ(before, text) << "valid as long as the layout";
  EXPECT_EQ(cells.axis_names(), (std::pair<std::string, std::string>("y, x", "m, km")));
  EXPECT_NE(cells.text().find("axes y, x, in m, km\n"), std::string::npos);
  EXPECT_EQ(cells.like({.shared = {true, true}}).axis_names().first, "y, x");
  EXPECT_THROW(cells.name_axes("a, b"), error);
  EXPECT_THROW(layout::mesh(world_, {2 * size_, 5}, {size_}).name_axes("y"), error);
}

TEST_F(cxx_layout, of_listed_points) {
  const std::vector<std::int64_t> points = {2 * rank_ + 1, 2 * rank_, 2 * ((rank_ + 1) % size_)};
  const layout mesh = layout::indices(world_, {2 * size_, 2}, {{points, 1}}, truth::lower);
  EXPECT_EQ(mesh.shape(), (extents{2 * size_, 2}));
  EXPECT_EQ(mesh.blocks_of(rank_)[0].shape, (extents{3, 2}));
  const layout none =
      layout::indices(world_, {1}, rank_ == 0 ? std::vector<listed_points>{{{0}}} : std::vector<listed_points>{});
  EXPECT_EQ(none.blocks_of(rank_).size(), rank_ == 0 ? 1U : 0U);
  EXPECT_THROW(layout::indices(world_, {2 * size_ + 1}, {{points, 1}}), error);
}

TEST_F(cxx_layout, moves_rows) {
  std::vector<double> numbers(static_cast<std::size_t>(4 * size_), -1);
  std::iota(numbers.begin(), numbers.begin() + 4, 4.0 * rank_);
  std::vector<std::int32_t> destinations{0, rank_, 0, SYNCYTE_PROC_NULL};
  const std::array<buffer, 1> arrays = {buffer(std::span(numbers))};
  const std::int64_t rows = world_.relocate_rows(destinations, arrays);
  EXPECT_EQ(rows, rank_ == 0 ? 3 + 2 * (size_ - 1) : 1);
  EXPECT_EQ(numbers[0], rank_ == 0 ? 0 : 4 * rank_ + 1);
  if (size_ > 1) {
    EXPECT_EQ(numbers[4], rank_ == 0 ? 6 : -1);
  }
  destinations[0] = size_;
  EXPECT_THROW(world_.relocate_rows(destinations, arrays), error);
}

TEST_F(cxx_layout, relocates) {
  const layout rows = layout::mesh(world_, {2 * size_, 3 * size_}, {size_});
  const layout columns = layout::mesh(world_, {2 * size_, 3 * size_}, {size_}, {.axes = {1}});
  std::vector<float> from(static_cast<std::size_t>(2 * 3 * size_)), to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(6 * size_ * rank_) + static_cast<float>(i);
  const std::array<const_buffer, 1> source = {const_buffer(from.data(), extents{2, 3 * size_})};
  const std::array<buffer, 1> target = {buffer(to.data(), extents{2 * size_, 3})};
  rows.relocate(dtype::float32, source, columns, target);
  for (int row = 0; row < 2 * size_; ++row)
    for (int column = 0; column < 3; ++column)
      EXPECT_EQ(to[static_cast<std::size_t>(3 * row + column)],
                static_cast<float>(3 * size_ * row + 3 * rank_ + column));
  EXPECT_THROW(rows.relocate(dtype::float64, source, columns, target), error);

  std::vector<float> back(from.size(), -1);
  const std::array<const_buffer, 1> sent = {const_buffer(to.data(), extents{2 * size_, 3})};
  const std::array<buffer, 1> arrays = {buffer(back.data(), extents{2, 3 * size_})};
  rows.relocate_adjoint(dtype::float32, sent, columns, arrays);
  EXPECT_EQ(back, from);  // each element was read once
}

TEST_F(cxx_layout, cuts_a_tensor) {
  const layout columns = layout::mesh(world_, {2, 3 * size_}, {size_}, {.axes = {1}}, {.ghosts_low = {1, 1}});
  const tensor field(world_, dtype::float32, columns, {.name = "field"});
  EXPECT_EQ(field.shape(), (extents{2, 3 * size_}));
  ASSERT_EQ(field.local<float>().size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) field.local<float>()[i] = static_cast<float>(10 * rank_) + static_cast<float>(i);
  field.sync();
  EXPECT_EQ(field.layout().blocks_of(rank_)[0].first, (extents{0, 3 * rank_}));
  EXPECT_EQ(tensor(world_, dtype::int8, {3}).layout().get(), nullptr);
  field.relocate(rank_ == 0 ? 2 : 0);
  EXPECT_EQ(field.rows(0).count, 2);
  field.relocate(columns);
  EXPECT_THROW(field.relocate(layout()), error);
  EXPECT_EQ(field.layout().blocks_of(rank_).size(), 1U);
  std::array<float, 6> found{};
  const std::int32_t next = (rank_ + 1) % size_;
  field.get_box(extents{0, 3 * next}, buffer(found.data(), extents{2, 3}));
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(found[i], static_cast<float>(10 * next) + static_cast<float>(i));
  field.sync();
  const tensor live(world_, dtype::float32, columns, {}, 2);
  EXPECT_EQ(live.shape(), (extents{2, 2, 3 * size_}));
  const std::vector<float> block(12, 4.0F);
  live.publish(const_buffer(block.data(), extents{3, 4}), 7);
  EXPECT_EQ(live.take(extents{0, 3 * rank_}, buffer(found.data(), extents{2, 3}), 7, std::chrono::seconds(20)), 7);
  EXPECT_EQ(found[0], 4.0F);
  EXPECT_THROW(live.take(extents{0, 0}, buffer(found.data(), extents{2, 3}), 8, std::chrono::seconds(0)), error);
  live.sync();
  if (size_ == 1) return;
  const tensor opened = rank_ == 0 ? tensor::open(world_, "b") : tensor(world_, dtype::int16, columns, {.name = "b"});
  EXPECT_EQ(opened.type(), dtype::int16);
  EXPECT_EQ(opened.shape(), field.shape());
}

TEST_F(cxx_layout, a_bundle_exchanges_and_sums) {
  const layout cells = layout::mesh(world_, {3 * size_}, {size_}, {}, {.ghosts_low = {1}, .ghosts_high = {1}});
  const layout nodes = cells.like({.shared = {true}});
  std::vector<double> density(5, -1);
  std::vector<std::int32_t> force(4, 1);
  for (int i = 0; i < 3; ++i) density[static_cast<std::size_t>(i + 1)] = 3 * rank_ + i;
  const bundle state(world_);
  state.add("density", cells, density);
  state.add("force", nodes, force);
  const bool has_below = rank_ > 0, has_above = rank_ < size_ - 1;
  state.exchange({.depth = 1, .only = {true, false}});
  EXPECT_EQ(density[0], has_below ? 3 * rank_ - 1 : -1);
  EXPECT_EQ(density[4], has_above ? 3 * rank_ + 3 : -1);
  state.sum();
  EXPECT_EQ(force, (std::vector<std::int32_t>{1 + has_below, 1, 1, 1 + has_above}));
  state.isum({false, true}).wait();
  EXPECT_EQ(force, (std::vector<std::int32_t>{has_below ? 4 : 1, 1, 1, has_above ? 4 : 1}));
  std::vector<double> ones(5, 1);
  const std::array<buffer, 1> others = {buffer(ones)};
  state.set_arrays("density", others);
  state.accumulate({.only = {true, false}});
  EXPECT_EQ(ones[1], 1 + has_below);
  EXPECT_EQ(ones[0], has_below ? 0 : 1);
  state.iaccumulate().wait();
  state.iexchange().wait();
  EXPECT_EQ(state.retain().comm().size(), size_);
  EXPECT_THROW(state.exchange({.depth = 2}), error);
  EXPECT_THROW(state.add("density", cells, density), error);
}

}  // namespace
