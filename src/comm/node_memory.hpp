// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "comm/collective_call.hpp"
#include "comm/communicator.hpp"
#include "memory/host_registration.hpp"
#include "memory/shared_segment.hpp"

namespace syncyte::comm {

/// Zeroed memory of a node's ranks in one address range: each rank's part follows the one before without a gap. Behind
/// them is a table, such as one with an entry for each rank of the communicator, of which the node so keeps one copy. A
/// shared_ptr to it keeps the mapping, also after finalize.
class node_memory {
 public:
  /// Allocates `bytes` for this rank. Collective; every rank of call's communicator calls it after a successful
  /// agree(). Ends with an agreement, so that it succeeds or throws on all ranks (SYNCYTE_ERR_MEMORY where a node has
  /// too little). `table` is equal on all ranks. With `touch`, each rank touches its own pages first and asks for huge
  /// ones.
  static std::shared_ptr<node_memory> allocate(collective_call& call, std::size_t bytes, const char* what,
                                               std::span<const std::byte> table = {}, bool touch = true);

  /// This rank's part, and the part of any rank of the node, by rank within the node.
  std::span<std::byte> local() const { return part(rank_); }
  std::span<std::byte> part(int node_rank) const;
  /// The parts of all of the node's ranks.
  std::span<std::byte> all() const;
  /// Lets a device of this process read and write all parts, at the same addresses. Local; throws as
  /// memory::host_registration::allow().
  void allow(int device) { registration_.allow(device); }
  /// Aligned to 8 bytes.
  const std::byte* table() const { return reinterpret_cast<const std::byte*>(offsets() + node_ranks_ + 1); }

 private:
  node_memory(memory::segment segment, std::size_t bytes, const topology::node_group& node);
  void write(std::span<const std::size_t> offsets, std::span<const std::byte> table);

  /// Offsets of the parts, and of their end. They lie between the parts and the table.
  const std::size_t* offsets() const { return reinterpret_cast<const std::size_t*>(segment_.data() + offsets_at_); }

  memory::segment segment_;
  std::size_t bytes_;  // of all parts
  std::size_t offsets_at_;
  int node_ranks_;
  int rank_;
  memory::host_registration registration_;  // ends before the segment
};

template <class T>
std::shared_ptr<const T[]> table_of(const std::shared_ptr<node_memory>& memory) {
  return {memory, reinterpret_cast<const T*>(memory->table())};
}

/// A copy of a table that is equal on all ranks: one for each node, or for each rank if a node's would fit into a page.
/// Collective as allocate().
std::shared_ptr<const std::byte[]> share_table(collective_call& call, std::span<const std::byte> table,
                                               const char* what);

template <class T>
std::shared_ptr<const T[]> share_table(collective_call& call, std::span<const T> table, const char* what) {
  const auto bytes = share_table(call, std::as_bytes(table), what);
  return {bytes, reinterpret_cast<const T*>(bytes.get())};
}

}  // namespace syncyte::comm
