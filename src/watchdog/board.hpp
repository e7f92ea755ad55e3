#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "topology/node_group.hpp"
#include "watchdog/place.hpp"

namespace syncyte::watchdog {

/// The world communicator and its ranks on this node.
struct job_ranks {
  std::uint64_t world_id = 0;  // of the world communicator
  int world_size = 0;
  topology::node_group node;  // of the world
};

/// Shows what each rank of a node is doing: one place per rank, in memory that the ranks share.
class board {
 public:
  /// `places`: one for each rank of the node, in shared memory that `memory` owns.
  board(std::shared_ptr<void> memory, std::vector<place*> places, const job_ranks& ranks);

  std::uint64_t world_id() const { return world_id_; }
  int ranks() const { return node_.size; }  // of the node
  place& mine() const { return at(node_.rank); }
  /// The place of a rank of the world; null if it is on another node.
  const place* find(int world_rank) const;
  place& at(int node_rank) const { return *places_[static_cast<std::size_t>(node_rank)]; }

  /// Asks all ranks for their source lines. have_answered(): whether all that have a line function have answered.
  void ask_for_lines() const;
  bool have_answered() const;

  /// The report: a line for every rank, and one for each operation that it has started and that is not complete.
  std::string text() const;

 private:
  std::string awaited_text(const lane& waiting) const;
  std::string living_text(const place& place, std::int64_t now) const;

  std::shared_ptr<void> memory_;
  std::vector<place*> places_;
  std::uint64_t world_id_;
  int world_size_;
  topology::node_group node_;
};

/// The board, once all ranks have a place on it. It lives until the process ends.
const board* published();
void publish(const board& board);

}  // namespace syncyte::watchdog
