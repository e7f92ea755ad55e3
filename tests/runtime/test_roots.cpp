// SPDX-License-Identifier: BSD-3-Clause
// The world, this rank alone, and communicators of other libraries.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "comm/collective_call.hpp"
#include "core_world.hpp"
#include "lifecycle/lifecycle.hpp"
#include "runtime/roots.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::outcome_of;
using test::world;

TEST(roots, world_and_self) {
  int rank = -1, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(world().rank(), rank);
  EXPECT_EQ(world().size(), size);
  EXPECT_EQ(world().name(), "world");
  EXPECT_EQ(runtime::self()->size(), 1);
  EXPECT_EQ(runtime::self()->world_rank(0), rank);
  EXPECT_FALSE(lifecycle::start(3)) << "it has started already";
}

TEST(roots, an_adopted_communicator_is_a_copy) {
  world();
  MPI_Comm original = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &original);
  const auto first = runtime::adopt(original, {.name = "theirs"});
  const auto second = runtime::adopt(original, {});
  MPI_Comm_free(&original);
  EXPECT_EQ(first->name(), "theirs");
  EXPECT_EQ(first->size(), world().size());
  EXPECT_NE(first->id(), second->id());
  std::vector<std::uint64_t> ids(static_cast<std::size_t>(world().size()));
  const std::uint64_t mine = first->id();
  MPI_Allgather(&mine, 1, MPI_UINT64_T, ids.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  EXPECT_TRUE(std::ranges::all_of(ids, [&](std::uint64_t id) { return id == mine; })) << "one id on all ranks";
  comm::collective_call(*first, "test").agree();
}

TEST(roots, a_part_of_the_world) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world().rank() % 2, -world().rank(), &part);
  const auto adopted = runtime::adopt(part, {});
  MPI_Comm_free(&part);
  EXPECT_EQ(adopted->world_rank(adopted->rank()), world().rank());
  if (adopted->size() > 1) {
    EXPECT_GT(adopted->world_rank(0), adopted->world_rank(1));
  }
}

TEST(roots, a_grid_stays_one) {
  MPI_Comm grid = MPI_COMM_NULL;
  const int dims[] = {1, world().size()}, periods[] = {0, 1};
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  const auto adopted = runtime::adopt(grid, {});
  MPI_Comm_free(&grid);
  ASSERT_NE(adopted->grid(), nullptr);
  EXPECT_EQ(adopted->grid()->dims, (std::vector<int>{1, world().size()}));
  EXPECT_EQ(adopted->grid()->periods, (std::vector<int>{0, 1}));
  EXPECT_EQ(world().grid(), nullptr);
}

TEST(roots, what_is_no_intra_communicator_is_refused) {
  world();
  expect_error(outcome_of([] { runtime::adopt(MPI_COMM_NULL, {}); }), SYNCYTE_ERR_ARGUMENT,
               "mpi_comm is MPI_COMM_NULL; expected an intra-communicator");
  if (world().size() == 1) return;
  MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
  const bool is_first = world().rank() == 0;
  MPI_Comm_split(MPI_COMM_WORLD, is_first ? 0 : 1, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_first ? 1 : 0, 0, &between);
  expect_error(outcome_of([&] { runtime::adopt(between, {}); }), SYNCYTE_ERR_ARGUMENT,
               "expected an intra-communicator");
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

TEST(roots, the_highest_check_level_of_all_ranks_holds) {
  const bool is_last = world().rank() == world().size() - 1;
  EXPECT_EQ(runtime::adopt(MPI_COMM_WORLD, {.check = is_last ? 2 : 0})->check(), comm::check_level::full);
  const auto wrong = outcome_of([&] { runtime::adopt(MPI_COMM_WORLD, {.check = is_last ? 7 : 1}); });
  expect_error(wrong, SYNCYTE_ERR_ARGUMENT, "7");
  comm::collective_call(world(), "test").agree();
}

TEST(roots, one_ranks_error_is_every_ranks) {
  std::optional<base::error> error;
  if (world().rank() == 0) error.emplace(SYNCYTE_ERR_SHAPE, "a test's error");
  const auto found = outcome_of([&] { runtime::adopt(MPI_COMM_WORLD, {.error = error}); });
  expect_error(found, SYNCYTE_ERR_SHAPE, "a test's error");
}

}  // namespace
