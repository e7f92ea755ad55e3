// SPDX-License-Identifier: BSD-3-Clause
// Communicators that are made of others, and error handlers.

#include "mpi/communicators.hpp"

#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "mpi/deaths.hpp"
#include "mpi_world.hpp"

namespace {

using namespace syncyte;
using mpi::errors_returned;
using test::expect_error;
using test::outcome_of;
using test::own_comm;
using test::world_rank;
using test::world_size;

/// Compares the error handler of a communicator.
bool has_handler(MPI_Comm comm, MPI_Errhandler expected) {
  MPI_Errhandler found = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(comm, &found);
  const bool result = found == expected;
  if (found != MPI_ERRORS_ARE_FATAL && found != MPI_ERRORS_RETURN) MPI_Errhandler_free(&found);
  return result;
}

int comparison(MPI_Comm a, MPI_Comm b) {
  int result = MPI_UNEQUAL;
  MPI_Comm_compare(a, b, &result);
  return result;
}

/// Runs the body with calls on threads of their own, and without.
template <class Body>
void at_each_level(Body&& body) {
  for (const int level : {MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED}) {
    const test::level_of_threads set(level);
    body();
  }
}

TEST(communicators, a_duplicate_has_the_same_ranks_and_returns_errors) {
  for (const MPI_Comm original : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    ASSERT_TRUE(has_handler(original, MPI_ERRORS_ARE_FATAL)) << "as MPI starts";
    const own_comm copy(mpi::duplicate(original));
    EXPECT_EQ(comparison(original, copy), MPI_CONGRUENT);
    EXPECT_TRUE(has_handler(copy, MPI_ERRORS_RETURN));
  }
}

TEST(communicators, split_by_color_in_the_order_of_keys) {
  at_each_level([] {
    const int color = world_rank() % 2;
    const own_comm part(mpi::split(MPI_COMM_WORLD, color, -world_rank()));
    EXPECT_TRUE(has_handler(part, MPI_ERRORS_RETURN));
    std::vector<int> expected;
    for (int rank = world_size() - 1; rank >= 0; --rank)
      if (rank % 2 == color) expected.push_back(rank);
    EXPECT_EQ(mpi::world_ranks(part), expected);
  });
}

TEST(communicators, ranks_without_a_color_get_none) {
  at_each_level([] {
    const own_comm part(mpi::split(MPI_COMM_WORLD, world_rank() == 0 ? MPI_UNDEFINED : 0, 0));
    EXPECT_EQ(part == MPI_COMM_NULL, world_rank() == 0);
  });
}

TEST(communicators, ranks_that_can_share_memory) {
  at_each_level([] {
    const own_comm node(mpi::split_shared(MPI_COMM_WORLD, -world_rank()));
    EXPECT_TRUE(has_handler(node, MPI_ERRORS_RETURN));
    EXPECT_EQ(mpi::size_of(node), world_size()) << "the tests' ranks are on one host";
    EXPECT_EQ(mpi::rank_in(node), world_size() - 1 - world_rank());
  });
}

TEST(communicators, a_grid_has_extents_and_periods_and_no_further_ranks) {
  at_each_level([] {
    const int ranks = std::max(world_size() - 1, 1);
    const int extents[] = {1, ranks}, periods[] = {1, 0};
    const own_comm grid(mpi::cart(MPI_COMM_WORLD, extents, periods));
    ASSERT_EQ(grid == MPI_COMM_NULL, world_rank() >= ranks);
    if (grid == MPI_COMM_NULL) return;
    EXPECT_TRUE(has_handler(grid, MPI_ERRORS_RETURN));
    int found[2], wraps[2], at[2];
    MPI_Cart_get(grid, 2, found, wraps, at);
    EXPECT_TRUE(std::ranges::equal(found, extents));
    EXPECT_TRUE(std::ranges::equal(wraps, periods));
    EXPECT_EQ(at[1], world_rank()) << "ranks keep their order";
  });
}

TEST(communicators, an_error_of_mpi_is_thrown) {
  at_each_level([] {
    const own_comm comm;
    const int extents[] = {world_size() + 1}, periods[] = {0};
    expect_error(outcome_of([&] { mpi::cart(comm, extents, periods); }), SYNCYTE_ERR_MPI, "MPI_Cart_create failed: ");
  });
}

TEST(communicators, a_group_needs_its_own_ranks_alone) {
  at_each_level([] {
    std::vector<int> ranks;  // all but rank 0, the last one first
    for (int rank = world_size() - 1; rank >= std::min(1, world_size() - 1); --rank) ranks.push_back(rank);
    if (world_rank() < ranks.back()) return;
    const own_comm group(mpi::create_group(MPI_COMM_WORLD, ranks, 3));
    EXPECT_TRUE(has_handler(group, MPI_ERRORS_RETURN));
    EXPECT_EQ(mpi::world_ranks(group), ranks);
  });
}

TEST(communicators, are_not_made_after_a_death) {
  test::in_child([] {
    mpi::declare_dead(1000);
    const int one[] = {1}, self[] = {0};
    const std::function<void()> calls[] = {
        [] { mpi::duplicate(MPI_COMM_SELF); },
        [] { mpi::split(MPI_COMM_SELF, 0, 0); },
        [] { mpi::split_shared(MPI_COMM_SELF, 0); },
        [&] { mpi::cart(MPI_COMM_SELF, one, one); },
        [&] { mpi::create_group(MPI_COMM_SELF, self, 0); },
    };
    for (const auto& call : calls) expect_error(outcome_of(call), SYNCYTE_ERR_PEER_DIED, "rank 1000");
  });
}

TEST(communicators, free_sets_the_handle_and_ignores_none) {
  MPI_Comm comm = mpi::duplicate(MPI_COMM_SELF);
  mpi::free(comm);
  EXPECT_EQ(comm, MPI_COMM_NULL);
  mpi::free(comm);
  EXPECT_EQ(comm, MPI_COMM_NULL);
}

TEST(communicators, know_the_numbers_of_their_ranks_in_the_world) {
  std::vector<int> all(static_cast<std::size_t>(world_size()));
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(mpi::world_ranks(MPI_COMM_WORLD), all);
  EXPECT_EQ(mpi::world_ranks(MPI_COMM_SELF), std::vector{world_rank()});
}

/// A communicator with an error handler of the application, which counts its calls.
class errors_counted : public testing::Test {
 protected:
  errors_counted() : comm_(mpi::duplicate(MPI_COMM_SELF)), other_(mpi::duplicate(MPI_COMM_SELF)) {
    MPI_Comm_create_errhandler(count_call, &handler_);
    MPI_Comm_set_errhandler(comm_, handler_);
    calls = 0;
  }
  ~errors_counted() override { MPI_Errhandler_free(&handler_); }

  void expect_own_handler() const {
    const int before = calls;
    EXPECT_TRUE(has_handler(comm_, handler_));
    fail(comm_);
    EXPECT_EQ(calls, before + 1);
  }
  void expect_returned() const {
    const int before = calls;
    EXPECT_TRUE(has_handler(comm_, MPI_ERRORS_RETURN));
    EXPECT_NE(fail(comm_), MPI_SUCCESS);
    EXPECT_EQ(calls, before);
  }
  static int fail(MPI_Comm comm) { return MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, comm); }

  static void count_call(MPI_Comm*, int*, ...) { ++calls; }

  static inline int calls = 0;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
  own_comm comm_, other_;
};

TEST_F(errors_counted, the_applications_handler_returns_at_the_end) {
  for (int time = 0; time < 2; ++time) {
    {
      const errors_returned here(comm_);
      expect_returned();
    }
    expect_own_handler();
  }
}

TEST_F(errors_counted, the_last_one_of_several_restores_the_handler) {
  std::optional<errors_returned> first(comm_), second(comm_);
  first.reset();
  expect_returned();
  first.emplace(comm_);
  second.reset();
  expect_returned();
  test::on_another_thread([&] { const errors_returned there(comm_); });
  expect_returned();
  first.reset();
  expect_own_handler();
}

TEST_F(errors_counted, an_exception_restores_the_handler) {
  expect_error(outcome_of([&] {
                 const errors_returned here(comm_);
                 base::fail(SYNCYTE_ERR_SHAPE, "an error of the test");
               }),
               SYNCYTE_ERR_SHAPE, "an error of the test");
  expect_own_handler();
}

TEST_F(errors_counted, communicators_have_handlers_of_their_own) {
  MPI_Comm_set_errhandler(other_, MPI_ERRORS_ARE_FATAL);
  {
    const errors_returned here(comm_);
    EXPECT_TRUE(has_handler(other_, MPI_ERRORS_ARE_FATAL));
    {
      const errors_returned there(other_);
      EXPECT_NE(fail(other_), MPI_SUCCESS);
    }
    EXPECT_TRUE(has_handler(other_, MPI_ERRORS_ARE_FATAL));
    expect_returned();
  }
  expect_own_handler();
}

}  // namespace
