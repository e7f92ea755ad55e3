// SPDX-License-Identifier: BSD-3-Clause
// The right of a thread to call MPI, at each thread level.

#include "mpi/thread_guard.hpp"

#include <optional>

#include "mpi/deaths.hpp"
#include "mpi_world.hpp"

namespace {

using namespace syncyte;
using mpi::thread_guard;
using mpi::try_thread_guard;
using test::expect_error;
using test::in_child;
using test::level_of_threads;
using test::on_another_thread;
using test::outcome_of;

bool may_call() { return try_thread_guard().may_call(); }

test::outcome guarded(bool alone = false) {
  return outcome_of([=] { const thread_guard guard("test_operation", alone); });
}

void expect_free() {
  EXPECT_TRUE(may_call());
  EXPECT_EQ(guarded().status, SYNCYTE_SUCCESS);
}

/// The error of a guard, and of one of an operation that would go on without MPI in a forked child.
void expect_refused(syncyte_status_t status, const std::string& text) {
  EXPECT_FALSE(may_call());
  for (const bool alone : {false, true}) expect_error(guarded(alone), status, text);
}

TEST(thread_guard, multiple_lets_every_thread_call) {
  const level_of_threads set(MPI_THREAD_MULTIPLE);
  const thread_guard here("test_operation");
  expect_free();
  on_another_thread(expect_free);
}

TEST(thread_guard, serialized_lets_one_thread_call_at_a_time) {
  const level_of_threads set(MPI_THREAD_SERIALIZED);
  const auto expect_busy = [] { expect_refused(SYNCYTE_ERR_BUSY, "test_operation: another thread is inside of MPI"); };
  on_another_thread(expect_free);
  std::optional<thread_guard> here("test_operation");
  on_another_thread(expect_busy);
  here.reset();
  on_another_thread(expect_free);
  on_another_thread([&] {
    const try_thread_guard there;
    on_another_thread(expect_busy);
  });
  expect_free();
}

TEST(thread_guard, guards_nest_in_a_thread) {
  const level_of_threads set(MPI_THREAD_SERIALIZED);
  const try_thread_guard outer;
  {
    const thread_guard inner("test_operation");
    EXPECT_TRUE(inner.may_call());
  }
  on_another_thread([] { EXPECT_FALSE(may_call()) << "the outer guard still holds"; });
}

TEST(thread_guard, a_refused_guard_gives_nothing_back) {
  const level_of_threads set(MPI_THREAD_SERIALIZED);
  const try_thread_guard here;
  on_another_thread([] { EXPECT_EQ(guarded().status, SYNCYTE_ERR_BUSY); });
  on_another_thread([] { EXPECT_FALSE(may_call()); });
  expect_free();
}

TEST(thread_guard, lower_levels_let_the_thread_call_that_initialized_mpi) {
  for (const auto& [level, name] : {std::pair{MPI_THREAD_SINGLE, "single"}, {MPI_THREAD_FUNNELED, "funneled"}}) {
    const level_of_threads set(level);
    const thread_guard here("test_operation");
    expect_free();
    on_another_thread([&] {
      expect_refused(SYNCYTE_ERR_UNSUPPORTED,
                     std::string("test_operation: this thread may not call MPI, whose thread level is ") + name);
    });
  }
}

TEST(thread_guard, a_forked_child_goes_on_alone) {
  for (const int level : {MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE})
    in_child([=] {
      mpi::set_thread_level(level);
      mpi::set_started();
      mpi::become_forked_child();
      EXPECT_FALSE(may_call());
      expect_error(guarded(), SYNCYTE_ERR_UNSUPPORTED, "forked child");
      EXPECT_EQ(guarded(true).status, SYNCYTE_SUCCESS);
    });
}

TEST(thread_guard, after_a_death_only_operations_without_mpi_go_on) {
  for (const int level : {MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE})
    in_child([=] {
      mpi::set_thread_level(level);
      mpi::declare_dead(1000);
      EXPECT_FALSE(may_call());
      expect_error(guarded(), SYNCYTE_ERR_PEER_DIED, "rank 1000");
      EXPECT_EQ(guarded(true).status, SYNCYTE_SUCCESS);
    });
}

}  // namespace
