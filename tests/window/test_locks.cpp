// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>

#include "long_waits.hpp"
#include "window_world.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::get;
using test::make_window;
using test::outcome_of;
using test::put;
using test::rank;
using test::ranks;

TEST(window_lock, excludes_others) {
  const int turns = test::goes_through_mpi() ? 20 : 200;
  const auto memory = make_window(8);
  const int owner = ranks() - 1;
  for (int turn = 0; turn < turns; ++turn) {
    memory->lock(owner, SYNCYTE_LOCK_EXCLUSIVE);
    put(*memory, owner, 0, get<std::int64_t>(*memory, owner, 0) + 1);  // not atomic
    memory->unlock(owner);
  }
  memory->fence();
  EXPECT_EQ(get<std::int64_t>(*memory, owner, 0), turns * ranks());
  memory->fence();
}

TEST(window_lock, of_one_rank_leaves_others_free) {
  const auto memory = make_window(8);
  memory->lock(rank(), SYNCYTE_LOCK_EXCLUSIVE);  // all at once
  MPI_Barrier(MPI_COMM_WORLD);
  memory->unlock(rank());
}

TEST(window_lock, is_shared_by_readers) {
  const auto memory = make_window(8);
  memory->lock(0, SYNCYTE_LOCK_SHARED);
  MPI_Barrier(MPI_COMM_WORLD);  // all ranks hold it here
  memory->unlock(0);
  memory->fence();
}

TEST(window_lock, keeps_readers_from_half_written_data) {
  const auto memory = make_window(16);
  memory->fence();
  for (int turn = 0; turn < (test::goes_through_mpi() ? 15 : 60); ++turn) {
    if ((turn + rank()) % 3 == 0) {
      memory->lock(0, SYNCYTE_LOCK_EXCLUSIVE);
      const auto value = get<std::int64_t>(*memory, 0, 0) + 1;
      put(*memory, 0, 0, value);
      put(*memory, 0, 1, value);
      memory->unlock(0);
    } else {
      memory->lock(0, SYNCYTE_LOCK_SHARED);
      const auto first = get<std::int64_t>(*memory, 0, 0);
      const auto second = get<std::int64_t>(*memory, 0, 1);
      memory->unlock(0);
      ASSERT_EQ(first, second);
    }
  }
  memory->fence();
}

TEST(window_lock, makes_others_wait) {
  if (ranks() < 2) GTEST_SKIP() << "needs two ranks";
  const auto memory = make_window(8);
  if (rank() == 0) memory->lock(1, SYNCYTE_LOCK_EXCLUSIVE);
  memory->fence();
  if (rank() == 0) {
    usleep(30000);
    put<std::int64_t>(*memory, 1, 0, 42);
    memory->unlock(1);
  } else {
    memory->lock(1, rank() % 2 == 0 ? SYNCYTE_LOCK_EXCLUSIVE : SYNCYTE_LOCK_SHARED);
    EXPECT_EQ(get<std::int64_t>(*memory, 1, 0), 42);
    memory->unlock(1);
  }
  memory->fence();
}

TEST(window_lock, waits_for_other_nodes_with_few_messages) {
  if (ranks() < 2) GTEST_SKIP() << "needs two ranks";
  const auto memory = make_window(8);
  if (rank() == 0) memory->lock(0, SYNCYTE_LOCK_EXCLUSIVE);
  memory->fence();
  if (rank() == 0) {
    usleep(200000);
    memory->unlock(0);
  } else {
    test::expect_few_messages([&] { memory->lock(0, SYNCYTE_LOCK_SHARED); });
    memory->unlock(0);
  }
  memory->fence();
}

TEST(window_lock, can_be_interrupted_while_it_waits) {
  if (ranks() < 2) GTEST_SKIP() << "needs two ranks";
  const auto memory = make_window(8);
  if (rank() == 0) memory->lock(1, SYNCYTE_LOCK_EXCLUSIVE);
  memory->fence();
  const auto kind = rank() % 2 == 0 ? SYNCYTE_LOCK_EXCLUSIVE : SYNCYTE_LOCK_SHARED;
  if (rank() > 0) test::expect_interruptible([&] { memory->lock(1, kind); });
  memory->fence();
  if (rank() == 0) memory->unlock(1);
  memory->lock(1, kind);  // the interrupted ones neither hold it nor wait for it
  memory->unlock(1);
  memory->fence();
}

TEST(window_lock, of_a_slow_owner_is_taken_and_given_back_in_spite_of_an_interrupt) {
  if (!test::goes_through_mpi()) GTEST_SKIP() << "the owner of mapped memory need not answer";
  const auto memory = make_window(8);
  const int owner = ranks() - 1;
  for (const auto kind : {SYNCYTE_LOCK_EXCLUSIVE, SYNCYTE_LOCK_SHARED}) {
    test::expect_uninterruptible(owner, [&] { memory->lock(owner, kind); });
    test::expect_uninterruptible(owner, [&] { memory->unlock(owner); });
    memory->lock(owner, SYNCYTE_LOCK_EXCLUSIVE);  // nobody holds it
    memory->unlock(owner);
    memory->fence();
  }
}

TEST(window_lock, is_not_recursive) {
  const auto memory = make_window(8);
  const int to = (rank() + 1) % ranks();
  for (const bool is_exclusive : {true, false}) {
    memory->lock(to, is_exclusive ? SYNCYTE_LOCK_EXCLUSIVE : SYNCYTE_LOCK_SHARED);
    expect_error(outcome_of([&] { memory->lock(to, SYNCYTE_LOCK_EXCLUSIVE); }), SYNCYTE_ERR_BUSY, "already");
    expect_error(outcome_of([&] { memory->lock(to, SYNCYTE_LOCK_SHARED); }), SYNCYTE_ERR_BUSY, "already");
    memory->unlock(to);
  }
  memory->fence();
}

TEST(window_lock, must_be_held_to_be_given_back) {
  const auto memory = make_window(8);
  expect_error(outcome_of([&] { memory->unlock(0); }), SYNCYTE_ERR_ARGUMENT,
               "rank is 0; expected a rank whose lock this rank holds");
  expect_error(outcome_of([&] { memory->unlock(-1); }), SYNCYTE_ERR_ARGUMENT, "rank is -1");
  expect_error(outcome_of([&] { memory->lock(ranks(), SYNCYTE_LOCK_EXCLUSIVE); }), SYNCYTE_ERR_ARGUMENT, "rank is");
  memory->lock(0, SYNCYTE_LOCK_EXCLUSIVE);
  memory->unlock(0);
  expect_error(outcome_of([&] { memory->unlock(0); }), SYNCYTE_ERR_ARGUMENT,
               "rank is 0; expected a rank whose lock this rank holds");
  memory->fence();
}

}  // namespace
