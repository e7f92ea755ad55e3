// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Helpers of the tests of src/mpi. These do not start Syncyte: they set the process's state and MPI's thread level.

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "core_world.hpp"
#include "mpi/communicators.hpp"
#include "mpi/process.hpp"
#include "mpi/small_collectives.hpp"
#include "shared_bytes.hpp"

namespace syncyte::test {

inline int world_rank() { return mpi::rank_in(MPI_COMM_WORLD); }
inline int world_size() { return mpi::size_of(MPI_COMM_WORLD); }

/// A communicator that is freed at the end: by default one of all ranks, whose errors are returned. Collective.
class own_comm {
 public:
  explicit own_comm(MPI_Comm made = mpi::duplicate(MPI_COMM_WORLD)) : comm_(made) {}
  ~own_comm() { mpi::free(comm_); }
  own_comm(const own_comm&) = delete;
  own_comm& operator=(const own_comm&) = delete;

  operator MPI_Comm() const { return comm_; }

 private:
  MPI_Comm comm_;
};

/// Sets the thread level that src/mpi knows of, during the object's lifetime.
class level_of_threads {
 public:
  explicit level_of_threads(int level) { mpi::set_thread_level(level); }
  ~level_of_threads() { mpi::set_thread_level(MPI_THREAD_SINGLE); }
  level_of_threads(const level_of_threads&) = delete;
  level_of_threads& operator=(const level_of_threads&) = delete;
};

template <class Work>
void on_another_thread(Work&& work) {
  std::thread(std::forward<Work>(work)).join();
}

/// Runs a test's body in a child process: what it sets cannot be unset. It must not wait in MPI.
template <class Body>
void in_child(Body&& body) {
  constexpr std::size_t most = 4096;
  const shared_bytes text(most);
  const pid_t child = fork_to([&] {
    testing::TestPartResultArray failures;
    {
      using reporter = testing::ScopedFakeTestPartResultReporter;
      const reporter intercepting(reporter::INTERCEPT_ALL_THREADS, &failures);
      body();
    }
    std::string all;
    for (int i = 0; i < failures.size(); ++i) {
      const testing::TestPartResult& each = failures.GetTestPartResult(i);
      all += std::to_string(each.line_number()) + ": " + each.message() + "\n";
    }
    all.copy(text.as<char>(), most - 1);
    if (failures.size() > 0) throw std::runtime_error("the test has failed");
  });
  EXPECT_EQ(exit_code(child), 0) << "in the child, line " << text.as<char>();
}

}  // namespace syncyte::test
