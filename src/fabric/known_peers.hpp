// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "fabric/peer.hpp"

namespace syncyte::fabric {

/// The processes that this one knows: those of the communicators that use the fabric. A peer is made when it is first
/// asked for, because a process of a large job exchanges messages with few others. Thread-safe.
class known_peers {
 public:
  /// Adds the processes of a communicator.
  void add(std::uint64_t communicator, std::shared_ptr<const process_table> members);
  /// Peers that have been made stay.
  void remove(std::uint64_t communicator);

  /// The peer of a rank; it lives as long as this object.
  peer& at(const process_table& members, std::size_t rank);
  /// The peer with a number; null if it is of no communicator.
  peer* find(std::uint64_t process);
  /// Numbers of the processes whose ranks have died (mpi/deaths.hpp).
  std::vector<std::uint64_t> dead() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, peer> peers_;                                   // by process
  std::map<std::uint64_t, std::shared_ptr<const process_table>> tables_;  // by communicator
};

}  // namespace syncyte::fabric
