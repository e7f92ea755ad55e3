// SPDX-License-Identifier: BSD-3-Clause
// Cartesian communicators: the grid, coordinates, neighbours, and errors on all ranks.

#include <memory>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "comm/cart.hpp"
#include "comm/split.hpp"
#include "core_world.hpp"
#include "runtime/roots.hpp"
#include "syncyte/messages.h"

namespace {

using namespace syncyte;
using comm::cartesian_grid;
using test::expect_error;
using test::outcome_of;
using test::world;

std::shared_ptr<comm::communicator> make(const cartesian_grid& grid) { return comm::make_cartesian(world(), grid, {}); }

TEST(cart, chosen_extents_have_a_place_for_every_rank) {
  for (int ndim = 1; ndim <= 3; ++ndim) {
    const std::vector<int> zeros(static_cast<std::size_t>(ndim), 0);
    const auto cart = make({zeros, zeros});
    ASSERT_NE(cart, nullptr);
    EXPECT_EQ(cart->size(), world().size());
    EXPECT_EQ(cart->rank(), world().rank());
    int places = 1;
    for (const int extent : cart->grid()->dims) places *= extent;
    EXPECT_EQ(places, world().size());
  }
}

TEST(cart, ranks_lie_in_row_major_order) {
  const auto cart = make({{0, 0}, {0, 0}});
  const std::vector<int> extents = cart->grid()->dims;
  for (int rank = 0; rank < cart->size(); ++rank) {
    const std::vector<int> expected{rank / extents[1], rank % extents[1]};
    EXPECT_EQ(comm::coordinates_of(*cart, rank), expected);
    EXPECT_EQ(comm::rank_at(*cart, expected), rank);
  }
}

TEST(cart, ranks_beyond_the_grid_have_no_part) {
  if (world().size() == 1) GTEST_SKIP();
  const auto cart = make({{world().size() - 1}, {1}});
  EXPECT_EQ(cart == nullptr, world().rank() == world().size() - 1);
  if (cart) collectives::barrier(*cart);
}

TEST(cart, neighbours_wrap_round_or_are_nobody) {
  const int size = world().size(), rank = world().rank();
  const auto ring = make({{size}, {1}});
  const auto line = make({{size}, {0}});
  for (const int step : {1, -1, 2, 7}) {
    const auto inside = [&](int place) { return place >= 0 && place < size ? place : SYNCYTE_PROC_NULL; };
    const auto wrapped = [&](int place) { return ((place % size) + size) % size; };
    EXPECT_EQ(comm::shift_along(*ring, 0, step).dest, wrapped(rank + step));
    EXPECT_EQ(comm::shift_along(*ring, 0, step).source, wrapped(rank - step));
    EXPECT_EQ(comm::shift_along(*line, 0, step).dest, inside(rank + step));
    EXPECT_EQ(comm::shift_along(*line, 0, step).source, inside(rank - step));
    const int beyond[] = {rank + step};
    EXPECT_EQ(comm::rank_at(*ring, beyond), wrapped(rank + step));
    EXPECT_EQ(comm::rank_at(*line, beyond), inside(rank + step));
  }
}

TEST(cart, is_a_communicator_and_duplicates_are_cartesian) {
  const auto cart = make({{0, 0}, {1, 0}});
  std::int32_t sum = 1;
  const auto buffer = base::make_buffer(&sum, SYNCYTE_INT32, {});
  collectives::run<collectives::allreduce>(*cart, "comm_allreduce", {}, nullptr, SYNCYTE_OP_SUM, &buffer);
  EXPECT_EQ(sum, world().size());
  const auto copy = comm::duplicate(*cart, {});
  ASSERT_NE(copy->grid(), nullptr);
  EXPECT_EQ(copy->grid()->dims, cart->grid()->dims);
  EXPECT_EQ(copy->grid()->periods, cart->grid()->periods);
  EXPECT_EQ(comm::split(*cart, 0, 0, {})->grid(), nullptr);
}

TEST(cart, a_cartesian_communicator_of_mpi_keeps_its_grid) {
  const int size = world().size();
  const int extents[] = {size % 2 == 0 ? 2 : 1, size % 2 == 0 ? size / 2 : size}, periods[] = {0, 1};
  MPI_Comm theirs = MPI_COMM_NULL, column = MPI_COMM_NULL, graph = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 1, &theirs);
  const auto cart = runtime::adopt(theirs, {});
  int place[2], rank = -1;
  MPI_Comm_rank(theirs, &rank);
  MPI_Cart_coords(theirs, rank, 2, place);
  ASSERT_NE(cart->grid(), nullptr);
  EXPECT_EQ(cart->grid()->dims, std::vector<int>(extents, extents + 2));
  EXPECT_EQ(cart->grid()->periods, std::vector<int>(periods, periods + 2));
  EXPECT_EQ(cart->rank(), rank);
  EXPECT_EQ(comm::coordinates_of(*cart, rank), std::vector<int>(place, place + 2));
  int source = -1, dest = -1;
  MPI_Cart_shift(theirs, 1, 1, &source, &dest);
  EXPECT_EQ(comm::shift_along(*cart, 1, 1).dest, dest);
  EXPECT_EQ(comm::shift_along(*cart, 1, 1).source, source);
  ASSERT_NE(comm::duplicate(*cart, {})->grid(), nullptr);

  const int kept[] = {0, 1};
  MPI_Cart_sub(theirs, kept, &column);
  const auto line = runtime::adopt(column, {});
  ASSERT_NE(line->grid(), nullptr);
  EXPECT_EQ(line->grid()->dims, std::vector<int>{extents[1]});
  EXPECT_EQ(comm::coordinates_of(*line, line->rank()), std::vector<int>{place[1]});

  const int none = 0;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, &none, MPI_UNWEIGHTED, 0, &none, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph);
  EXPECT_EQ(runtime::adopt(graph, {})->grid(), nullptr) << "other topologies are not kept";
  for (MPI_Comm* each : {&graph, &column, &theirs}) MPI_Comm_free(each);
}

TEST(cart, mistakes_of_one_rank_are_every_ranks_error) {
  const bool is_odd = world().rank() == world().size() - 1;
  const auto on_odd = [&](cartesian_grid wrong) {
    return outcome_of([&] { make(is_odd ? wrong : cartesian_grid{{world().size()}, {0}}); });
  };
  expect_error(on_odd({{world().size() + 1}, {0}}), SYNCYTE_ERR_ARGUMENT, "have more places than");
  expect_error(on_odd({{-1}, {0}}), SYNCYTE_ERR_ARGUMENT, "dims[0] is -1");
  expect_error(on_odd({{}, {}}), SYNCYTE_ERR_ARGUMENT, "ndim is 0");
  expect_error(outcome_of([&] { make({{world().size() + 1, 0}, {0, 0}}); }), SYNCYTE_ERR_ARGUMENT, "more places");
  if (world().size() == 3 || world().size() == 5)
    expect_error(outcome_of([&] { make({{2, 0}, {0, 0}}); }), SYNCYTE_ERR_ARGUMENT, "not a multiple of 2");
  if (world().size() == 1) return;
  expect_error(on_odd({{world().size()}, {1}}), SYNCYTE_ERR_MISMATCH, "periods[0] is");
  expect_error(on_odd({{1}, {0}}), SYNCYTE_ERR_MISMATCH, "dims[0] is");
}

TEST(cart, questions_to_other_communicators_are_refused) {
  expect_error(outcome_of([] { comm::shift_along(world(), 0, 1); }), SYNCYTE_ERR_ARGUMENT, "not Cartesian");
  const auto cart = make({{0}, {0}});
  expect_error(outcome_of([&] { comm::shift_along(*cart, 1, 1); }), SYNCYTE_ERR_ARGUMENT, "dimension is 1");
  expect_error(outcome_of([&] { comm::coordinates_of(*cart, -1); }), SYNCYTE_ERR_ARGUMENT, "rank is -1");
}

}  // namespace
