#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "comm/collective_call.hpp"
#include "comm/communicator.hpp"
#include "memory/shared_segment.hpp"

namespace syncyte::comm {

/// Zeroed memory of a node's ranks in one address range: each rank's part follows the one before without a gap. A
/// shared_ptr to it keeps the mapping, also after finalize.
class node_memory {
 public:
  /// Allocates `bytes` for this rank. Collective; every rank of call's communicator calls it after a successful
  /// agree(). Ends with an agreement, so that it succeeds or throws on all ranks (SYNCYTE_ERR_MEMORY where a node has
  /// too little). With `touch`, each rank touches its own pages first and asks for huge ones.
  static std::shared_ptr<node_memory> allocate(collective_call& call, std::size_t bytes, const char* what,
                                               bool touch = true);

  /// This rank's part, and the part of any rank of the node, by rank within the node.
  std::span<std::byte> local() const { return part(rank_); }
  std::span<std::byte> part(int node_rank) const;
  /// The parts of all of the node's ranks.
  std::span<std::byte> all() const;

 private:
  node_memory(memory::segment segment, std::vector<std::size_t> offsets, int rank);

  memory::segment segment_;
  std::vector<std::size_t> offsets_;  // ranks + 1
  int rank_;
};

}  // namespace syncyte::comm
