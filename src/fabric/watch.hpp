// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "fabric/known_peers.hpp"
#include "fabric/transport.hpp"

namespace syncyte::fabric {

/// Watches other processes and passes on the news of deaths. The processes of each communicator form a ring: each sends
/// heartbeats to both neighbours, and takes a neighbour for dead after the deadline without one. A process that learns
/// of a death sends the news to the processes at distances 1, 2, 4, ... in both directions of its rings, so that all
/// learn of it after O(log P) steps. Heartbeats name the dead in turn, for those whose news were lost. The serving
/// thread uses it, except where a function says otherwise.
class watch final : public receiver {
 public:
  /// declare_dead(process) makes a process dead for good, and calls report() the first time. `peers` outlives it.
  watch(std::uint64_t process, time_limits limits, known_peers& peers, std::function<void(std::uint64_t)> declare_dead)
      : process_(process), limits_(limits), peers_(peers), declare_dead_(std::move(declare_dead)) {}

  /// Sets the worker by which it sends, before other functions are called.
  void use(worker& by) { worker_ = &by; }
  /// Closes all links.
  void close();

  /// Any thread. The processes of a communicator in order of ranks, of which this process is one.
  void add_ring(std::uint64_t communicator, std::shared_ptr<const process_table> members);
  void remove_ring(std::uint64_t communicator);
  /// Any thread. Passes on the news that the process is dead.
  void report(std::uint64_t process);

  /// Messages of kinds heartbeat and death.
  void on_message(const message_header& header, std::span<const std::byte> payload) override;
  void on_broken(std::uint64_t tag) override;

  /// Sends what is due; true if it did something.
  bool progress(std::chrono::nanoseconds time);
  /// Time until progress() has something to do; negative: never.
  std::chrono::nanoseconds time_left(std::chrono::nanoseconds time);

 private:
  struct ring {
    std::shared_ptr<const process_table> members;
    std::size_t self;
  };

  peer* neighbour(const ring& in, int step);
  void send(peer& to, message_header header);
  void send_news(const ring& to, std::uint64_t dead);
  void send_heartbeats();
  std::set<peer*> neighbours();
  void look_at_neighbours(std::chrono::nanoseconds time);

  const std::uint64_t process_;
  const time_limits limits_;
  known_peers& peers_;
  const std::function<void(std::uint64_t)> declare_dead_;
  worker* worker_ = nullptr;

  std::mutex mutex_;  // guards the members up to the next empty line; not held while declare_dead_() is called
  std::map<std::uint64_t, ring> rings_;  // by communicator
  std::vector<std::uint64_t> news_;      // dead processes whose news are to be sent

  std::vector<std::uint64_t> dead_;                       // processes whose news have been sent
  std::size_t named_ = 0;                                 // counts heartbeats, which name one of dead_ each
  std::map<std::uint64_t, std::unique_ptr<link>> links_;  // by the process, which is the tag
  std::vector<std::unique_ptr<link>> broken_;             // destroyed outside of worker::progress()
  // When each process was last a neighbour. It gets heartbeats for a while after that: it may still have the ring.
  std::map<peer*, std::chrono::nanoseconds> was_neighbour_;
  std::map<peer*, std::chrono::nanoseconds> heard_;  // when each neighbour was heard last
  std::chrono::nanoseconds sent_{};                  // when the last heartbeats went
  std::chrono::nanoseconds looked_{};                // when look_at_neighbours() was last called
};

}  // namespace syncyte::fabric
