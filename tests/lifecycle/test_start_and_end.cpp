// SPDX-License-Identifier: BSD-3-Clause
// The start, and the end that all ranks reach. The tests run in this order: a process starts and ends once.

#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "core_world.hpp"
#include "lifecycle/end.hpp"
#include "lifecycle/lifecycle.hpp"
#include "mpi/communicators.hpp"
#include "mpi/process.hpp"
#include "mpi/small_collectives.hpp"
#include "runtime/roots.hpp"
#include "watchdog/scope.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::outcome_of;

int rank() { return mpi::rank_in(MPI_COMM_WORLD); }
bool is_last() { return rank() == mpi::size_of(MPI_COMM_WORLD) - 1; }

/// The state of the process whenever end_requests() was called, the step in which libraries on top end their requests.
struct {
  int calls = 0;
  bool were_all_here_at_first = false;
  bool has_ended = false;
  bool is_called_again = false;
  bool has_core = true;
} seen;

bool end_requests(bool are_all_here) noexcept {
  if (seen.calls++ == 0) seen.were_all_here_at_first = are_all_here;
  seen.is_called_again = seen.is_called_again || seen.has_ended;
  seen.has_core = seen.has_core && mpi::is_started() && runtime::world()->rank() == rank();
  return seen.has_ended = are_all_here;
}

TEST(lifecycle, an_error_of_one_rank_starts_nothing_on_any) {
  std::optional<base::error> error;
  if (rank() == 0) error.emplace(SYNCYTE_ERR_SHAPE, "a test's error");
  expect_error(outcome_of([&] { lifecycle::start(3, error); }), SYNCYTE_ERR_SHAPE, "a test's error");
  EXPECT_FALSE(mpi::is_started());
  expect_error(outcome_of([] { runtime::world(); }), SYNCYTE_ERR_NOT_INITIALIZED, "not initialized");
  for (const int wrong : {-1, 4})
    expect_error(outcome_of([&] { lifecycle::start(is_last() ? wrong : 3); }), SYNCYTE_ERR_ARGUMENT,
                 "options->thread_level is " + std::to_string(wrong));
  EXPECT_FALSE(mpi::is_started());
}

TEST(lifecycle, an_end_before_the_start_does_nothing) {
  EXPECT_NO_THROW(lifecycle::end_library_requests(end_requests));
  EXPECT_NO_THROW(lifecycle::finish());
  EXPECT_EQ(seen.calls, 0);
  EXPECT_FALSE(mpi::was_finished());
}

TEST(lifecycle, the_first_of_several_starts_counts) {
  EXPECT_TRUE(lifecycle::start(3, std::nullopt, end_requests));
  EXPECT_TRUE(mpi::is_started());
  EXPECT_EQ(runtime::world()->rank(), rank());
  EXPECT_FALSE(lifecycle::start(3, std::nullopt, nullptr)) << "the end calls end_requests all the same";
  const auto wrong = outcome_of([] { lifecycle::start(is_last() ? 17 : 3); });
  EXPECT_EQ(wrong.status, is_last() ? SYNCYTE_ERR_ARGUMENT : SYNCYTE_SUCCESS) << "an error of one rank alone";
  EXPECT_TRUE(mpi::is_started());
}

TEST(lifecycle, several_threads_end_it_once_and_after_the_libraries_on_top) {
  if (is_last()) std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the others wait for this rank
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([] {
      lifecycle::finish();
      EXPECT_TRUE(seen.has_ended) << "later threads wait for the first";
      EXPECT_TRUE(mpi::was_finished());
    });
  for (std::thread& each : threads) each.join();
  EXPECT_FALSE(seen.is_called_again);
  EXPECT_TRUE(seen.has_core) << "all works until the step has ended";
  EXPECT_TRUE(is_last() || !seen.were_all_here_at_first) << "it is called while others are awaited";
  EXPECT_FALSE(mpi::is_started());
  expect_error(outcome_of([] { runtime::world(); }), SYNCYTE_ERR_NOT_INITIALIZED, "already finalized");
  EXPECT_EQ(watchdog::record_of_scopes.load(), nullptr) << "the watchdog is stopped";
}

TEST(lifecycle, further_ends_do_nothing_and_mpi_stays_the_applications) {
  const int calls = seen.calls;
  EXPECT_NO_THROW(lifecycle::finish());
  EXPECT_NO_THROW(lifecycle::end_library_requests(end_requests));
  EXPECT_EQ(seen.calls, calls);
  EXPECT_FALSE(mpi::mpi_is(MPI_Finalized));
  EXPECT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
}

TEST(lifecycle, there_is_no_second_start) {
  expect_error(outcome_of([] { lifecycle::start(3); }), SYNCYTE_ERR_NOT_INITIALIZED, "cannot start again");
}

}  // namespace
