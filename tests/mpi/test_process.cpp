// SPDX-License-Identifier: BSD-3-Clause
// The state of a process. The tests run in children, because it never goes back.

#include "mpi/process.hpp"

#include "base/log.hpp"
#include "mpi_world.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::in_child;
using test::outcome_of;

TEST(process, is_not_started_at_first) {
  in_child([] {
    EXPECT_FALSE(mpi::is_started());
    EXPECT_FALSE(mpi::was_finished());
    EXPECT_FALSE(mpi::is_forked_child());
    for (const auto require : {mpi::require_started, mpi::require_started_or_forked})
      expect_error(outcome_of(require), SYNCYTE_ERR_NOT_INITIALIZED, "not initialized; call syncyte_init first");
    EXPECT_NO_THROW(mpi::require_rank_process());
  });
}

TEST(process, is_a_rank_after_the_start) {
  in_child([] {
    mpi::set_started();
    EXPECT_TRUE(mpi::is_started());
    EXPECT_FALSE(mpi::was_finished());
    EXPECT_NO_THROW(mpi::require_started());
    EXPECT_NO_THROW(mpi::require_started_or_forked());
    EXPECT_NO_THROW(mpi::require_rank_process());
  });
}

TEST(process, is_not_started_after_the_end) {
  in_child([] {
    mpi::set_started();
    mpi::set_finished();
    EXPECT_FALSE(mpi::is_started());
    EXPECT_TRUE(mpi::was_finished());
    for (const auto require : {mpi::require_started, mpi::require_started_or_forked})
      expect_error(outcome_of(require), SYNCYTE_ERR_NOT_INITIALIZED, "already finalized");
  });
}

TEST(process, a_child_of_a_rank_is_no_rank) {
  in_child([] {
    base::set_process_rank(5);
    mpi::set_thread_level(MPI_THREAD_MULTIPLE);
    mpi::set_started();
    EXPECT_TRUE(mpi::become_forked_child());
    EXPECT_TRUE(mpi::is_forked_child());
    EXPECT_FALSE(mpi::is_started());
    EXPECT_FALSE(mpi::was_finished());
    EXPECT_EQ(mpi::thread_level(), -1);
    for (const auto require : {mpi::require_started, mpi::require_rank_process})
      expect_error(outcome_of(require), SYNCYTE_ERR_UNSUPPORTED, "forked child of rank 5");
    EXPECT_NO_THROW(mpi::require_started_or_forked());
  });
}

TEST(process, a_child_of_no_rank_is_a_process_as_before) {
  in_child([] {
    mpi::set_thread_level(MPI_THREAD_FUNNELED);
    EXPECT_FALSE(mpi::become_forked_child()) << "before the start";
    mpi::set_started();
    mpi::set_finished();
    EXPECT_FALSE(mpi::become_forked_child()) << "after the end";
    EXPECT_FALSE(mpi::is_forked_child());
    EXPECT_EQ(mpi::thread_level(), 1);
  });
}

TEST(process, thread_levels_are_numbers_from_0_to_3) {
  constexpr int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  for (int number = 0; number < 4; ++number) {
    const test::level_of_threads set(levels[number]);
    EXPECT_EQ(mpi::thread_level(), number);
  }
}

TEST(process, mpi_answers) {
  EXPECT_TRUE(mpi::mpi_is(MPI_Initialized));
  EXPECT_FALSE(mpi::mpi_is(MPI_Finalized));
  EXPECT_TRUE(mpi::mpi_is(MPI_Is_thread_main));
  test::on_another_thread([] { EXPECT_FALSE(mpi::mpi_is(MPI_Is_thread_main)); });
}

// The other ranks go on: the harness would report an end of the job.
TEST(process, a_forked_child_ends_alone) {
  const pid_t child = test::fork_to([] {
    mpi::set_started();
    mpi::become_forked_child();
    mpi::call_before_abort([]() noexcept { _exit(3); });
    mpi::abort_job(42);
  });
  EXPECT_EQ(test::exit_code(child), 42);
}

}  // namespace
