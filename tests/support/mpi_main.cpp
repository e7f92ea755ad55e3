// SPDX-License-Identifier: BSD-3-Clause
// main() of GoogleTest programs under mpirun; see cmake/SyncyteTest.cmake for how they are run.

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "board.hpp"
#include "mpi_listener.hpp"

namespace {

syncyte::test::board* board_of_run = nullptr;

// Reads the names of the tests to run from a file, one a line; a command line could be too short for them.
void select_tests() {
  const char* path = std::getenv("SYNCYTE_TEST_SELECT");
  if (path == nullptr) return;
  std::ifstream file(path);
  std::string filter;
  for (std::string name; std::getline(file, name);) filter += (filter.empty() ? "" : ":") + name;
  testing::GTEST_FLAG(filter) = filter;
}

int run_tests() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  syncyte::test::board board(rank);
  board.watch_signals();
  board_of_run = &board;
  auto* listener = new syncyte::test::mpi_listener(MPI_COMM_WORLD, board);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(listener);  // GoogleTest owns it

  const int result = RUN_ALL_TESTS();
  const bool outside = listener->failed_outside();
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) {
    listener->free();
    MPI_Finalize();
  }
  board.end();
  board_of_run = nullptr;
  // Under the launcher verdicts are in the results file; the exit status covers only failures outside of tests.
  if (std::getenv("SYNCYTE_TEST_BOARD") != nullptr) return outside ? 3 : 0;
  return result;
}

}  // namespace

// Replaces MPI_Abort by MPI's profiling interface, because mpirun sometimes does not say which rank aborted.
extern "C" int MPI_Abort(MPI_Comm comm, int code) {
  if (board_of_run != nullptr) board_of_run->abort(code);
  return PMPI_Abort(comm, code);
}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  select_tests();
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) std::fprintf(stderr, "this MPI grants thread level %d only\n", provided);
  return run_tests();
}
