#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "topology/node_group.hpp"
#include "watchdog/place.hpp"

namespace syncyte::watchdog {

/// The job, for its board.
struct job_ranks {
  std::uint64_t world_id = 0;  // of the world communicator
  int world_size = 0;
  topology::node_group node;  // of the world
};

/// The places of a node's ranks, in memory that they share.
class board {
 public:
  /// `places`: one for each rank of the node, in memory that they share and that `memory` keeps.
  board(std::shared_ptr<void> memory, std::vector<place*> places, const job_ranks& ranks);

  std::uint64_t world_id() const { return world_id_; }
  int ranks() const { return node_.size; }  // of the node
  place& mine() const { return at(node_.rank); }
  /// The place of a rank of the world; null if it is on another node.
  const place* find(int world_rank) const;
  place& at(int node_rank) const { return *places_[static_cast<std::size_t>(node_rank)]; }

  /// Asks all ranks for the lines of their programs; whether all have answered that can.
  void ask_for_lines() const;
  bool have_answered() const;

  /// A line for every rank, and for everything that it has started and that has not ended.
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

/// The board of this process, once all ranks have a place on it: it stays until the process ends.
const board* published();
void publish(const board& board);

}  // namespace syncyte::watchdog
