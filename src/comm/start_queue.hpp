// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "mpi/progress.hpp"
#include "watchdog/long_wait.hpp"

namespace syncyte::comm {

/// A non-blocking collective as its queue sees it: first an agreement, then the data.
class pending_operation {
 public:
  virtual ~pending_operation() = default;

  /// Posts the agreement, or the data if SYNCYTE_CHECK=off; returns whether it has posted the data. `sequence` is the
  /// operation's number on its communicator.
  virtual bool begin(std::uint64_t sequence) = 0;
  /// Makes progress as far as possible; true once everything is posted.
  virtual bool advance() = 0;
  virtual bool is_posted() const = 0;
  /// Whether it is known that all ranks have started it.
  virtual bool has_agreed() const = 0;
  virtual bool end_if_done() = 0;
  /// Gives the operation up: it cannot end, because another rank has never started it.
  virtual void give_up() = 0;

  /// Keeps the queue alive.
  virtual std::shared_ptr<void> owner() const = 0;

  /// Operation, number and time of the first test or wait, for the watchdog.
  virtual const char* name() const = 0;
  virtual std::uint64_t sequence() const = 0;
  virtual std::int64_t seen_since(std::int64_t now) = 0;
};

/// The non-blocking collectives of one communicator that have not ended. Their data operations are posted strictly in
/// the order of the starts, on all ranks, each when its agreement is complete: test, wait and blocking collectives look
/// for that, and none of them waits for it. Thread-safe; operations are only touched with the lock.
class start_queue : public mpi::progressing {
 public:
  /// Starts an operation; `sequence` is its number on the communicator.
  void add(std::shared_ptr<pending_operation> operation, std::uint64_t sequence);

  /// The caller has dropped the operation, or has got this rank's own error: it still takes part, and is freed when it
  /// has ended. Does not call MPI.
  void orphan(const std::shared_ptr<pending_operation>& operation) noexcept;

  /// Post what can be posted, and tell whether `operation` is posted, or has ended.
  bool is_posted(const pending_operation& operation);
  bool has_ended(pending_operation& operation);

  /// Waits until all is posted.
  void post_all(watchdog::long_wait& wait);

  /// Calls `visit` with all that have not ended, unless another thread holds the lock for 100 ms: it may be stuck in
  /// MPI.
  void visit(const std::function<void(pending_operation&)>& visit);

  void progress() override;

  /// Completes all operations before the communicator is freed. False if another rank has never started one of them: it
  /// can never end, and MPI keeps its memory.
  bool settle() noexcept;

 private:
  using entry = std::shared_ptr<pending_operation>;
  bool is_all_posted();
  void post_some();
  void end_orphans(std::vector<entry>& ended);
  void enter(const pending_operation& added);
  void leave_if_idle() noexcept;
  bool have_ended_or_never_will(std::chrono::steady_clock::time_point begin);
  void give_up();

  std::timed_mutex mutex_;
  std::deque<entry> unposted_;
  std::unordered_map<const pending_operation*, entry> active_;  // all operations that have not ended
  std::vector<entry> orphans_;                                  // operations of active_ that have no request
  bool has_entered_progress_ = false;                           // in the table of enter_progress()
};

}  // namespace syncyte::comm
