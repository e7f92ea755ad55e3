// SPDX-License-Identifier: BSD-3-Clause
// The environment of a test: all ranks in MPI_COMM_WORLD, MPI with threads, a private working folder.

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

TEST(world, all_ranks_take_part) {
  int rank = -1;
  int size = 0;
  int sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sum, size * (size - 1) / 2);
}

TEST(world, threads_may_call_mpi) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  EXPECT_EQ(provided, MPI_THREAD_MULTIPLE);
}

TEST(world, works_in_a_folder_of_its_own) {
  const char* expected = std::getenv("SYNCYTE_TEST_FOLDER");
  if (expected == nullptr) GTEST_SKIP() << "run without the launcher";
  char folder[4096];
  ASSERT_NE(getcwd(folder, sizeof(folder)), nullptr);
  EXPECT_EQ(std::string(folder), expected);
}

class harness_numbers : public testing::TestWithParam<int> {};

TEST_P(harness_numbers, have_their_own_entries) { EXPECT_GT(GetParam(), 0); }

INSTANTIATE_TEST_SUITE_P(small, harness_numbers, testing::Values(1, 2, 3));

}  // namespace
