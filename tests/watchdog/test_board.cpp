// SPDX-License-Identifier: BSD-3-Clause
// The report of the watchdog: one line for each rank of a node, made from records in this process's memory.

#include "watchdog/board.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "mpi/process_id.hpp"

namespace {

using namespace syncyte;

/// A node of a world of `world` ranks: its ranks are `members`, all of this process.
class watchdog_board : public testing::Test {
 protected:
  void make(int world, const std::vector<int>& members) {
    job_.world_id = 1;
    job_.world_size = world;
    job_.node.size = static_cast<int>(members.size());
    job_.node.members = job_.node.world_ranks = members;
    job_.node.processes.assign(members.size(), mpi::this_process());
    for (const int member : members) {
      auto& made = owned_.emplace_back(std::make_unique<watchdog::rank_record>());
      made->world_rank = member;
      made->pid = 100 + member;
      records_.push_back(made.get());
    }
  }

  /// A rank's first thread is inside an operation that `ranks` ranks enter, or has left it.
  void set(int node_rank, const char* operation, std::uint64_t sequence, int ranks, bool is_inside = true) {
    auto& record = records_[static_cast<std::size_t>(node_rank)]->records[0];
    record.name.set(operation, "world", sequence);
    record.ranks = ranks;
    record.since_ns = watchdog::now_ns();
    record.is_inside = is_inside ? 1 : 0;
  }

  void start(int node_rank, const char* operation, std::uint64_t sequence) {
    auto& listed = records_[static_cast<std::size_t>(node_rank)]->listings[0];
    listed.name.set(operation, "world", sequence);
    listed.since_ns = watchdog::now_ns();
    listed.is_shown = 1;
  }

  std::string text() const { return watchdog::board(nullptr, records_, job_).text(); }
  void expect(const std::string& part) const { EXPECT_NE(text().find(part), std::string::npos) << text(); }

  watchdog::job_ranks job_;
  std::vector<std::unique_ptr<watchdog::rank_record>> owned_;
  std::vector<watchdog::rank_record*> records_;
};

TEST_F(watchdog_board, names_the_ranks_that_are_not_inside) {
  make(3, {0, 1, 2});
  set(0, "comm_barrier", 4, 3);
  set(1, "comm_bcast", 3, 3, false);
  expect("rank 0 (pid 100): inside comm_barrier");
  expect("; waits for ranks 1, 2");
  expect("rank 1 (pid 101): in no operation; left comm_bcast");
  expect("rank 2 (pid 102): in no operation yet");
}

TEST_F(watchdog_board, says_nothing_of_a_wait_for_all_that_are_inside) {
  make(2, {0, 1});
  set(0, "comm_barrier", 4, 2);
  set(1, "comm_barrier", 4, 2);
  EXPECT_EQ(text().find("waits for"), std::string::npos) << text();
}

TEST_F(watchdog_board, another_number_of_the_same_operation_is_another_operation) {
  make(2, {0, 1});
  set(0, "comm_barrier", 4, 2);
  set(1, "comm_barrier", 5, 2);
  expect("waits for rank 1");
  expect("waits for rank 0");
}

TEST_F(watchdog_board, a_started_operation_takes_part) {
  make(2, {0, 1});
  set(0, "comm_iallreduce", 4, 2);
  start(1, "comm_iallreduce", 4);
  EXPECT_EQ(text().find("waits for"), std::string::npos) << text();
  expect("    started 0.0 s ago, not completed: comm_iallreduce");
}

TEST_F(watchdog_board, ranks_of_other_nodes_are_not_known) {
  make(4, {0, 2});
  set(0, "comm_barrier", 4, 4);
  set(1, "comm_barrier", 4, 4);
  expect("; waits for some of the ranks 1, 3, on other nodes");
}

TEST_F(watchdog_board, of_a_smaller_communicator_it_knows_the_number_of_its_ranks) {
  make(3, {0, 1, 2});
  set(0, "comm_barrier", 4, 2);
  expect("; 1 of its 2 ranks are inside on this node");
}

TEST_F(watchdog_board, knows_a_process_that_has_ended) {
  make(2, {0, 1});
  set(0, "comm_barrier", 4, 2);
  set(1, "comm_bcast", 3, 2);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  job_.node.processes[1].pid = child;
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  expect("rank 1 (pid 101): gone: its process has ended; it was inside comm_bcast");
  expect("waits for rank 1");
}

TEST_F(watchdog_board, shows_the_thread_that_is_inside) {
  make(1, {0});
  set(0, "comm_bcast", 3, 1, false);
  auto& other = records_[0]->records[1];
  other.name.set("tensor_wait", "counters", 0);
  other.since_ns = watchdog::now_ns();
  other.is_inside = 1;
  records_[0]->unlisted = 2;
  expect("inside tensor_wait");
  expect("and 2 more that were started");
}

}  // namespace
