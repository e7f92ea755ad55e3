// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

#include "board.hpp"

namespace syncyte::test {

// After each test the ranks agree on its verdict; rank 0 writes it, with the failures of all ranks, to the file that
// SYNCYTE_TEST_RESULTS names (one JSON object a line). A test fails if it leaves a message on MPI_COMM_WORLD that no
// rank has received.
class mpi_listener : public testing::EmptyTestEventListener {
 public:
  // Collective over world, which it duplicates.
  mpi_listener(MPI_Comm world, board& where);

  // Collective; before MPI_Finalize.
  void free();

  // True if something failed outside of any test, for example in a suite's set-up.
  bool failed_outside() const { return failed_outside_; }

 private:
  void OnTestStart(const testing::TestInfo& info) override;
  void OnTestPartResult(const testing::TestPartResult& result) override;
  void OnTestEnd(const testing::TestInfo& info) override;

  int largest(int value) const;
  void drain_messages();
  std::string gather_failures() const;
  void write(const std::string& test, int verdict, double seconds, const std::string& message) const;

  board& board_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  bool in_test_ = false;
  bool agreeing_ = false;
  bool failed_outside_ = false;
  double start_ = 0;
  std::string failures_;
  std::string skip_reason_;
};

}  // namespace syncyte::test
