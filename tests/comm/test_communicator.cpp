// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <thread>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "comm/split.hpp"
#include "core_world.hpp"
#include "fortran_handles.h"

namespace {

using namespace syncyte;
using test::expect_error;
using test::outcome_of;
using test::world;

int sum_over(comm::communicator& group, int value) {
  std::int32_t number = value;
  const auto buffer = base::make_buffer(&number, SYNCYTE_INT32, {});
  collectives::run<collectives::allreduce>(group, "comm_allreduce", {}, nullptr, SYNCYTE_OP_SUM, &buffer);
  return number;
}

TEST(communicator, split_by_colour_and_key) {
  const int size = world().size();
  const auto part = comm::split(world(), world().rank() % 2, -world().rank(), {});
  const int members = (size + 1 - world().rank() % 2) / 2;
  EXPECT_EQ(part->size(), members);
  EXPECT_EQ(part->rank(), members - 1 - world().rank() / 2);  // keys reverse the order
  EXPECT_EQ(sum_over(*part, 1), members);
}

/// Evenly spaced ones and others.
TEST(communicator, knows_its_ranks_numbers_in_the_world) {
  const int size = world().size(), rank = world().rank();
  const auto expect_numbers = [&](const comm::communicator& part, auto number) {
    for (int i = 0; i < part.size(); ++i) EXPECT_EQ(part.world_rank(i), number(i)) << part.name();
  };
  expect_numbers(world(), [](int i) { return i; });
  expect_numbers(*comm::split(world(), 0, -rank, {}), [&](int i) { return size - 1 - i; });
  expect_numbers(*comm::split(world(), rank % 2, 0, {}), [&](int i) { return 2 * i + rank % 2; });
  // The last rank comes first: 4, 0, 1, 2, 3.
  expect_numbers(*comm::split(world(), 0, rank == size - 1 ? -1 : rank, {}),
                 [&](int i) { return (i + size - 1) % size; });
}

TEST(communicator, no_colour_gives_no_part) {
  const auto part = comm::split(world(), world().rank() == 0 ? MPI_UNDEFINED : 3, 0, {});
  EXPECT_EQ(part == nullptr, world().rank() == 0);
  if (part) {
    EXPECT_EQ(part->size(), world().size() - 1);
  }
  collectives::barrier(world());
}

TEST(communicator, bad_colour_on_one_rank_is_every_ranks_error) {
  expect_error(outcome_of([] { comm::split(world(), world().rank() == 0 ? -7 : 0, 0, {}); }), SYNCYTE_ERR_ARGUMENT,
               "color is -7");
}

TEST(communicator, split_by_program) {
  const auto part = comm::split_program(world(), world().rank() < 2 ? "solver" : "learner", {});
  EXPECT_EQ(part->size(), world().rank() < 2 ? std::min(2, world().size()) : world().size() - 2);
  EXPECT_EQ(part->name(), world().rank() < 2 ? "world/solver" : "world/learner");
  expect_error(outcome_of([] { comm::split_program(world(), world().rank() == 0 ? "" : "x", {}); }),
               SYNCYTE_ERR_ARGUMENT, "name is of 0 bytes");
}

TEST(communicator, parts_of_parts_outlive_their_handles) {
  auto half = comm::split(world(), world().rank() % 2, 0, {});
  auto quarter = comm::split(*half, half->rank() % 2, 0, {});
  half.reset();
  EXPECT_EQ(sum_over(*quarter, 1), quarter->size());
  quarter.reset();
  collectives::barrier(world());
  collectives::barrier(world());
}

TEST(communicator, thousands_come_and_go) {
  // MPI libraries allow at most a few thousand communicators, so dropped ones must be freed.
  const int count = world().size() <= 2 ? 3000 : 300;
  for (int i = 0; i < count; ++i) comm::duplicate(world(), {});
}

TEST(communicator, levels_of_checking_must_agree) {
  comm::communicator_options options;
  options.check = world().rank() == 0 ? 0 : 1;
  const auto result = outcome_of([&] { comm::duplicate(world(), options); });
  if (world().size() > 1) expect_error(result, SYNCYTE_ERR_MISMATCH, "check is");
  options.check = world().rank() == 0 ? 9 : 1;
  expect_error(outcome_of([&] { comm::duplicate(world(), options); }), SYNCYTE_ERR_ARGUMENT, "options->check is 9");
}

TEST(communicator, adopts_foreign_ones_and_refuses_others) {
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world().rank() % 2, 0, &mine);
  const auto adopted = runtime::adopt(mine, {});
  MPI_Comm_free(&mine);
  EXPECT_EQ(sum_over(*adopted, 1), adopted->size());
  expect_error(outcome_of([] { runtime::adopt(MPI_COMM_NULL, {}); }), SYNCYTE_ERR_ARGUMENT, "MPI_COMM_NULL");
}

TEST(communicator, what_mpi_does_not_know_is_refused_and_the_job_goes_on) {
  expect_error(outcome_of([] { runtime::adopt(comm_of_fortran(12345), {}, "fortran_handle is 12345,"); }),
               SYNCYTE_ERR_ARGUMENT, "fortran_handle is 12345, not a communicator that MPI knows");
}

TEST(communicator, world_can_be_asked_for_while_others_are_adopted) {
  std::atomic<bool> is_over{false};
  std::int64_t wrong = 0;
  const auto* expected = &world();
  std::thread asking([&] {
    while (!is_over) wrong += runtime::world().get() != expected || runtime::self()->size() != 1;
  });
  for (int i = 0; i < 40; ++i) runtime::adopt(MPI_COMM_SELF, {});
  is_over = true;
  asking.join();
  EXPECT_EQ(wrong, 0);
}

TEST(communicator, errors_of_the_applications_calls_stay_as_they_were_whatever_threads_adopt) {
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Errhandler after = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
  const auto adopt = [] {
    for (int i = 0; i < 2000; ++i) outcome_of([] { runtime::adopt(MPI_COMM_NULL, {}); });
  };
  std::thread other(adopt);
  adopt();
  other.join();
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &after);
  EXPECT_EQ(before, after);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, before);
}

}  // namespace
