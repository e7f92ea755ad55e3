// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "topology/node_group.hpp"
#include "watchdog/records.hpp"

namespace syncyte::watchdog {

/// The world communicator and its ranks on this node.
struct job_ranks {
  std::uint64_t world_id = 0;  // of the world communicator
  int world_size = 0;
  topology::node_group node;  // of the world
};

/// Shows what each rank of a node is doing: one record for each rank, in memory that the ranks share.
class board {
 public:
  /// `records`: one for each rank of the node, in shared memory that `memory` owns.
  board(std::shared_ptr<void> memory, std::vector<rank_record*> records, job_ranks job)
      : memory_(std::move(memory)), records_(std::move(records)), job_(std::move(job)) {}

  std::uint64_t world_id() const { return job_.world_id; }
  int ranks() const { return job_.node.size; }  // of the node
  rank_record& mine() const { return at(job_.node.rank); }
  /// The record of a rank of the world; null if it is on another node.
  const rank_record* find(int world_rank) const;
  rank_record& at(int node_rank) const { return *records_[static_cast<std::size_t>(node_rank)]; }

  /// Asks all ranks for their source lines. have_answered(): whether all that have a line function have answered.
  void ask_for_lines() const;
  bool have_answered() const;

  /// The report: a line for every rank, and one for each operation that it has started and that is not complete.
  std::string text() const;

 private:
  std::string awaited_text(const thread_record& waiting) const;
  std::string elsewhere_text() const;
  std::string living_text(const rank_record& seen, std::int64_t now) const;

  std::shared_ptr<void> memory_;
  std::vector<rank_record*> records_;
  job_ranks job_;
};

/// The board, once all ranks have a record on it. It lives until the process ends.
inline std::atomic<const board*> published{nullptr};

}  // namespace syncyte::watchdog
