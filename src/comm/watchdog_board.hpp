#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "comm/application_line.hpp"
#include "comm/node_memory.hpp"

namespace syncyte::comm::watchdog {

constexpr int lanes = 4;        // long waits of a rank's threads at the same time; further ones are not watched
constexpr int collectives = 4;  // communicators in whose collectives threads of a rank are at the same time
constexpr int listings = 16;    // requests of a rank that are named; further ones are counted
constexpr int starts = 16;      // non-blocking collectives, likewise

std::int64_t now_ns();

/// An operation on a communicator. Written by one thread, read by everybody: a torn text only blurs a message.
struct operation_name {
  std::atomic<std::uint64_t> sequence;
  char operation[48];
  char comm[48];

  void set(const char* new_operation, const std::string& new_comm, std::uint64_t new_sequence);
  bool is(const operation_name& other) const;
  std::string text() const;
};

/// What one thread is doing or did last.
struct lane {
  std::atomic<std::int32_t> is_taken;
  std::atomic<std::int32_t> is_inside;
  std::atomic<std::int32_t> kind;  // watchdog_scope::kind
  std::atomic<std::int64_t> since_ns;
  std::atomic<std::int64_t> begun_ns;  // of the last that was not limited
  std::atomic<std::int32_t> ranks;     // that enter the operation; 0: not one of a whole communicator
  operation_name name;
};

/// An operation that was started and has not ended.
struct listing {
  std::atomic<std::int32_t> is_taken;
  std::atomic<std::int32_t> is_shown;
  std::atomic<std::int64_t> since_ns;
  operation_name name;
};

/// One rank's place on the board.
struct place {
  std::int32_t world_rank;
  std::int32_t pid;
  std::atomic<std::int64_t> last_report_ns;  // only the node's first place is used
  std::atomic<std::int32_t> has_told_open;   // likewise: a wait that may be open-ended was reported
  std::atomic<std::int64_t> departed_ns;     // when this rank had come to finalize; 0: not yet
  std::atomic<std::int32_t> has_lines;       // whether this rank can say at which line of its program it is
  std::atomic<std::int64_t> asked_ns;        // when a rank that reports has asked for it last
  std::atomic<std::int64_t> answered_ns;     // the question that `line` answers
  char line[line_bytes];
  lane lanes[watchdog::lanes + watchdog::collectives];  // the first ones are taken by threads, the others by the thread
                                                        // that looks at communicators
  listing listings[watchdog::listings + watchdog::starts];  // likewise
  std::atomic<std::int32_t> unlisted;                       // of the first ones
};

/// The places of a node's ranks, in memory that they share.
class board {
 public:
  board(std::shared_ptr<node_memory> memory, const communicator& world);

  std::uint64_t world_id() const { return world_id_; }
  int ranks() const { return node_.size; }  // of the node
  place& mine() const { return at(node_.rank); }
  /// Of a rank of the world; null if it is on another node.
  const place* find(int world_rank) const;
  place& at(int node_rank) const { return *reinterpret_cast<place*>(memory_->part(node_rank).data()); }

  /// Asks all ranks for the lines of their programs; whether all have answered that can.
  void ask_for_lines() const;
  bool have_answered() const;

  /// A line for every rank, and for everything that it has started and that has not ended.
  std::string text() const;

 private:
  std::string awaited_text(const lane& waiting) const;
  std::string living_text(const place& place, std::int64_t now) const;

  std::shared_ptr<node_memory> memory_;
  std::uint64_t world_id_;
  int world_size_;
  node_group node_;
};

/// The board of this process, once all ranks have a place on it: it stays until the process ends.
const board* published();
void publish(const board& board);

}  // namespace syncyte::comm::watchdog
