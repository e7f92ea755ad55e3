// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The board of a test run: one page of shared memory per rank, into which the rank writes its state. From it the
// launcher can name the ranks that hang or have died, even a rank that is blocked inside MPI.
// python/mpi_harness/board.py has the same layout.

#include <cstdint>
#include <string>

namespace syncyte::test {

enum class rank_state : std::uint32_t {
  absent = 0,   // not yet started
  idle = 1,     // between tests
  running = 2,  // inside a test
  arrived = 3,  // has finished the test, waits for the other ranks' verdict
  ended = 4     // has finalized MPI
};

struct board_slot {
  std::uint32_t pid;
  rank_state state;
  std::uint32_t failed;   // 1: this rank's test has failed
  std::uint32_t signal;   // signal that ended the process, 0 if none
  std::int64_t since_ns;  // CLOCK_MONOTONIC when the test or the pause before it began
  std::uint32_t aborted;  // 1: this rank called MPI_Abort
  std::int32_t abort_code;
  char test[992];      // zero-terminated
  char message[3072];  // first failure, zero-terminated
};
static_assert(sizeof(board_slot) == 4096, "python/mpi_harness/board.py knows this size");

// This rank's slot in the file that SYNCYTE_TEST_BOARD names; without the variable, a private slot that is not read.
class board {
 public:
  explicit board(int rank);
  ~board();
  board(const board&) = delete;
  board& operator=(const board&) = delete;

  void begin(const std::string& test);
  void fail(const std::string& message);
  void arrive();
  void idle();
  void end();
  void abort(int code);

  // Installs handlers: a fatal signal is recorded on the board before the process dies; SIGUSR2 prints the stack.
  void watch_signals();

 private:
  void enter(rank_state state);

  board_slot private_slot_{};
  board_slot* slot_ = &private_slot_;
  void* mapping_ = nullptr;
};

}  // namespace syncyte::test
