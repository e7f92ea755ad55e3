// SPDX-License-Identifier: BSD-3-Clause
// Tests that go wrong in every way that the launcher has to handle; check_launcher.py runs them.

#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

bool on_last_rank() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return world_rank() == size - 1;
}

TEST(good, before) { EXPECT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS); }

TEST(faulty, fails_on_one_rank) { EXPECT_FALSE(on_last_rank()) << "only here"; }

TEST(faulty, hangs_on_one_rank) {
  if (on_last_rank()) std::this_thread::sleep_for(std::chrono::hours(1));
}

TEST(faulty, hangs_inside_mpi) {
  if (on_last_rank()) return;
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(faulty, fails_while_others_wait) {
  ASSERT_FALSE(on_last_rank()) << "left early";
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(faulty, segfaults) {
  if (on_last_rank()) std::raise(SIGSEGV);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(faulty, is_killed) {
  if (on_last_rank()) std::raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(faulty, throws_nothing_but_exits) {
  if (on_last_rank()) std::_Exit(9);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(faulty, aborts) {
  if (on_last_rank()) MPI_Abort(MPI_COMM_WORLD, 5);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(faulty, leaves_a_message) {
  const int number = 42;
  if (on_last_rank()) MPI_Send(&number, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
}

TEST(faulty, skips_everywhere) { GTEST_SKIP() << "this machine has no such thing"; }

TEST(faulty, skips_on_one_rank) {
  if (on_last_rank()) GTEST_SKIP() << "not here";
}

TEST(good, after) { EXPECT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS); }

}  // namespace
