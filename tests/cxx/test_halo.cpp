// SPDX-License-Identifier: BSD-3-Clause
// Cartesian communicators and halo exchange in C++.

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

#include "expect.hpp"
#include "syncyte/halo.hpp"

namespace {

using namespace syncyte;

TEST(cart, knows_its_grid) {
  const auto world = communicator::world();
  const cartesian_communicator cart(world, {0, 0}, {true, false});
  EXPECT_EQ(cart.ndim(), 2);
  const auto grid = cart.dims();
  EXPECT_EQ(grid[0] * grid[1], world.size());
  EXPECT_EQ(cart.periods(), (std::vector<bool>{true, false}));
  const auto place = cart.coords();
  EXPECT_EQ(place[0] * grid[1] + place[1], cart.rank());
  EXPECT_EQ(cart.rank_at(place), cart.rank());
  EXPECT_EQ(cart.rank_at({0, grid[1]}), proc_null);
  EXPECT_EQ(cart.shift(0).dest, cart.rank_at({place[0] + 1, place[1]}));
  EXPECT_EQ(cart.shift(1).source, cart.rank_at({place[0], place[1] - 1}));
  EXPECT_EQ(cart.allreduce_value(1), world.size());
  EXPECT_EQ(bool(cartesian_communicator(world, {1})), world.rank() == 0);
  EXPECT_THROW(cartesian_communicator(world, {world.size() + 1}), error);
  EXPECT_THROW(cartesian_communicator(world, {0, 0}, {true}), error);
  const cartesian_communicator copy(cart.dup());
  EXPECT_EQ(copy.dims(), grid);
  EXPECT_THROW(cartesian_communicator(world.dup()), error);
}

class cxx_halo : public ::testing::Test {
 protected:
  const communicator world_ = communicator::world();
  const cartesian_communicator ring_{world_, {0}, {true}};
  const int below_ = ring_.shift(0).source, above_ = ring_.shift(0).dest;
  std::vector<double> values_ = std::vector<double>(2 * 5);  // 2 x 5: a ghost column at the left, two at the right
  const extents shape_{2, 5}, low_{1}, high_{2};

  buffer fill() {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<double>(100 * world_.rank()) + double(i);
    return buffer(values_.data(), shape_);
  }
  void expect_ghosts() {
    EXPECT_EQ(values_[0], 100 * below_ + 2);
    EXPECT_EQ(values_[3], 100 * above_ + 1);
    EXPECT_EQ(values_[4], 100 * above_ + 2);
    EXPECT_EQ(values_[1], 100 * world_.rank() + 1);
    EXPECT_EQ(values_[5], 100 * below_ + 7);
  }
};

TEST_F(cxx_halo, exchanges_and_accumulates) {
  const auto plan = halo::of<double>(ring_, shape_, low_, high_, {.axes = {-1}});
  const auto array = fill();
  plan.exchange(array);
  expect_ghosts();
  plan.accumulate(array);
  EXPECT_EQ(values_[0], 0);
  EXPECT_EQ(values_[4], 0);
  EXPECT_EQ(values_[1], 2 * (100 * world_.rank() + 1));  // one ghost is a copy of it
  EXPECT_EQ(values_[2], 3 * (100 * world_.rank() + 2));  // two ghosts are
}

TEST_F(cxx_halo, neighbors_get_each_others_blocks) {
  const int size = world_.size(), rank = world_.rank();
  const std::array<int, 2> mine{10 * rank, 10 * rank + 1};
  std::array<int, 2> got{};
  ring_.neighbor_alltoall(const_buffer(std::span<const int>(mine)), buffer(std::span<int>(got)));
  EXPECT_EQ(got, (std::array<int, 2>{10 * ((rank + size - 1) % size) + 1, 10 * ((rank + 1) % size)}));
}

TEST_F(cxx_halo, starts_and_waits) {
  auto plan = halo::of<double>(ring_, shape_, low_, high_, {.axes = {1}, .corners = false});
  auto array = fill();
  auto in_flight = plan.retain().iexchange(array);
  EXPECT_THROW(plan.exchange(array), error);
  in_flight.wait();
  expect_ghosts();
  auto second = plan.iaccumulate(array);
  while (!second.test()) {
  }
  EXPECT_EQ(values_[3], 0);
}

TEST_F(cxx_halo, refuses_on_all_ranks) {
  const extents two{1, 1}, wide{9};
  EXPECT_THROW(halo::of<double>(ring_, shape_, two, high_), error);
  EXPECT_THROW(halo::of<double>(ring_, shape_, low_, high_, {.axes = {5}}), error);
  EXPECT_THROW(halo::of<double>(ring_, shape_, world_.rank() == 0 ? wide : low_, high_, {.axes = {1}}), error);
  const auto plan = halo::of<double>(ring_, shape_, low_, high_, {.axes = {1}});
  std::vector<float> wrong(10);
  EXPECT_THROW(plan.exchange(buffer(wrong.data(), shape_)), error);
}

}  // namespace
