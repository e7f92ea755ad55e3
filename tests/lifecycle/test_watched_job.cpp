// SPDX-License-Identifier: BSD-3-Clause
// The watchdog of a job: its settings, which the ranks have in common, and the board of each node.

#include "lifecycle/watched_job.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "../memory/processes.hpp"
#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "collectives/reductions.hpp"
#include "collectives/started_collective.hpp"
#include "comm/collective_call.hpp"
#include "comm/departures.hpp"
#include "core_world.hpp"
#include "runtime/roots.hpp"
#include "watchdog/watchdog.hpp"

namespace {

using namespace syncyte;
using namespace std::chrono_literals;
using test::environment_scope;
using test::expect_error;
using test::outcome_of;

/// The roots as the start has made them when it calls watch_job().
class watched_job : public testing::Test {
 protected:
  ~watched_job() override {
    watchdog::stop();
    runtime::free_roots();
  }

  comm::communicator& world_ = runtime::open_roots({});
  const bool is_last_ = world_.rank() == world_.size() - 1;
};

template <class Condition>
bool becomes(Condition&& condition) {
  for (const auto begin = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() < begin + 10s;) {
    if (condition()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST_F(watched_job, each_rank_of_a_node_has_a_record_that_all_read) {
  lifecycle::watch_job(world_);
  const watchdog::board* const board = watchdog::published;
  ASSERT_NE(board, nullptr);
  EXPECT_TRUE(comm::is_world(world_));
  ASSERT_EQ(board->ranks(), world_.node().size);
  EXPECT_EQ(board->mine().world_rank, world_.rank());
  EXPECT_EQ(board->mine().pid, ::getpid());
  std::set<std::int32_t> pids;
  for (int place = 0; place < board->ranks(); ++place) {
    EXPECT_EQ(board->at(place).world_rank, world_.node().world_ranks[static_cast<std::size_t>(place)]);
    EXPECT_EQ(board->find(board->at(place).world_rank), &board->at(place));
    pids.insert(board->at(place).pid);
  }
  EXPECT_EQ(pids.size(), static_cast<std::size_t>(board->ranks()));
}

TEST_F(watched_job, wrong_settings_of_one_rank_are_every_ranks_error) {
  std::optional<environment_scope> wrong;
  if (is_last_) wrong.emplace("SYNCYTE_WATCHDOG", "soon");
  expect_error(outcome_of([&] { lifecycle::watch_job(world_); }), SYNCYTE_ERR_ARGUMENT, "SYNCYTE_WATCHDOG is \"soon\"");
  EXPECT_EQ(watchdog::record_of_scopes.load(), nullptr);
  wrong.reset();
  EXPECT_NO_THROW(lifecycle::watch_job(world_));
}

TEST_F(watched_job, all_are_on_the_board_if_one_of_them_asks_for_a_watchdog) {
  const environment_scope seconds("SYNCYTE_WATCHDOG", is_last_ ? "100" : "0");
  lifecycle::watch_job(world_);
  EXPECT_EQ(watchdog::record_of_scopes.load(), &watchdog::published.load()->mine());
}

TEST_F(watched_job, no_rank_writes_to_the_board_if_none_asks_for_a_watchdog) {
  const environment_scope seconds("SYNCYTE_WATCHDOG", "0");
  lifecycle::watch_job(world_);
  EXPECT_EQ(watchdog::record_of_scopes.load(), nullptr);
  EXPECT_TRUE(comm::is_world(world_)) << "departed ranks are marked there in any case";
}

TEST_F(watched_job, its_thread_writes_collectives_to_the_board) {
  const environment_scope seconds("SYNCYTE_WATCHDOG", "100");
  lifecycle::watch_job(world_);
  const auto& seen = watchdog::published.load()->mine().records[watchdog::threads];
  {
    comm::collective_call call(world_, "test_operation", comm::collective_call::always_agrees);
    EXPECT_TRUE(becomes([&] { return seen.is_inside == 1; }));
    EXPECT_EQ(std::string(seen.name.operation), "test_operation");
    EXPECT_EQ(std::string(seen.name.comm), "world");
    EXPECT_EQ(seen.ranks, world_.size());
    call.agree();
  }
  EXPECT_TRUE(becomes([&] { return seen.is_inside == 0; }));
  EXPECT_EQ(std::string(seen.name.operation), "test_operation") << "the one that was left last";
}

TEST_F(watched_job, its_thread_writes_started_collectives_to_the_board) {
  if (world_.size() == 1) GTEST_SKIP() << "it would end at once";
  const environment_scope seconds("SYNCYTE_WATCHDOG", "100");
  lifecycle::watch_job(world_);
  const auto& listed = watchdog::published.load()->mine().listings[watchdog::listings];
  std::int32_t number = 1;
  const auto buffer = base::make_buffer(&number, SYNCYTE_INT32, {});
  const auto start = [&] {
    return collectives::start<collectives::allreduce>(world_.shared_from_this(), "comm_iallreduce", {}, nullptr,
                                                      SYNCYTE_OP_SUM, &buffer);
  };
  const auto first = is_last_ ? nullptr : start();
  if (!is_last_) {
    EXPECT_TRUE(becomes([&] { return listed.is_shown == 1; }));
    EXPECT_EQ(std::string(listed.name.operation), "comm_iallreduce");
  }
  MPI_Barrier(MPI_COMM_WORLD);  // the last rank starts it when the others have seen theirs
  (first ? first : start())->wait();
  EXPECT_EQ(number, world_.size());
  EXPECT_TRUE(becomes([&] { return listed.is_shown == 0; }));
}

}  // namespace
