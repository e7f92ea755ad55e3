#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "comm/progress.hpp"

namespace syncyte::comm {

class communicator;
class started_collective;

/// The non-blocking collectives of one communicator that have not ended. Their data operations are posted strictly in
/// the order of the starts, on all ranks, each when its agreement is complete: nothing waits for that, but whoever
/// tests, waits, or calls a blocking collective looks for it. Thread-safe; a started_collective is only touched with
/// the lock.
class start_queue : public progressing {
 public:
  /// Starts an operation; `sequence` is its number on the communicator.
  void add(std::shared_ptr<started_collective> operation, std::uint64_t sequence);

  /// Nobody will ask for the operation's end: the caller has dropped it, or this rank's own error has ended it for the
  /// caller. It takes part all the same, and is freed when it has ended. Without MPI.
  void orphan(const std::shared_ptr<started_collective>& operation) noexcept;

  /// Posts what can be posted, and tells whether `operation` has been, or has ended.
  bool is_posted(const started_collective& operation);
  bool has_ended(started_collective& operation);

  /// Waits until all is posted, for `operation`, which comes next.
  void post_all(const char* operation);

  /// Calls `visit` with all that have not ended, unless another thread is at it for 100 ms: it may be stuck in MPI.
  void visit(const std::function<void(started_collective&)>& visit);

  void progress() override;

  /// Completes all, for the end of the communicator, where all ranks are. False if another rank has never started what
  /// this one has: that can never end, and MPI keeps its memory.
  bool settle() noexcept;

 private:
  using entry = std::shared_ptr<started_collective>;
  std::shared_ptr<communicator> comm_of_unposted();
  void post_some();
  void end_orphans(std::vector<entry>& ended);
  void look_after(const started_collective& added);
  void leave_if_idle() noexcept;
  bool have_ended_or_never_will(std::chrono::steady_clock::time_point begin);
  void give_up();

  std::timed_mutex mutex_;
  std::deque<entry> unposted_;
  std::unordered_map<const started_collective*, entry> active_;  // all that have not ended
  std::vector<entry> orphans_;                                   // of them those that nobody waits for
  bool is_looked_after_ = false;                                 // in the table of what goes on
};

}  // namespace syncyte::comm
