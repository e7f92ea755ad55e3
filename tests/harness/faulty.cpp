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

TEST(Good, Before) { EXPECT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS); }

TEST(Faulty, FailsOnOneRank) { EXPECT_FALSE(on_last_rank()) << "only here"; }

TEST(Faulty, HangsOnOneRank) {
  if (on_last_rank()) std::this_thread::sleep_for(std::chrono::hours(1));
}

TEST(Faulty, HangsInsideMpi) {
  if (on_last_rank()) return;
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Faulty, FailsWhileOthersWait) {
  ASSERT_FALSE(on_last_rank()) << "left early";
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Faulty, Segfaults) {
  if (on_last_rank()) std::raise(SIGSEGV);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Faulty, IsKilled) {
  if (on_last_rank()) std::raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Faulty, ThrowsNothingButExits) {
  if (on_last_rank()) std::_Exit(9);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Faulty, Aborts) {
  if (on_last_rank()) MPI_Abort(MPI_COMM_WORLD, 5);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Faulty, LeavesAMessage) {
  const int number = 42;
  if (on_last_rank()) MPI_Send(&number, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
}

TEST(Faulty, SkipsEverywhere) { GTEST_SKIP() << "this machine has no such thing"; }

TEST(Faulty, SkipsOnOneRank) {
  if (on_last_rank()) GTEST_SKIP() << "not here";
}

TEST(Good, After) { EXPECT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS); }

}  // namespace
