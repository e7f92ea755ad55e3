#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace syncyte::comm {

class started_collective;

/// The non-blocking collectives of one communicator that have not ended. Their data operations are posted strictly in
/// the order of the starts, on all ranks, each when its agreement is complete: nothing waits for that, but whoever
/// tests, waits, or calls a blocking collective looks for it. Thread-safe; a started_collective is only touched with
/// the lock.
class start_queue {
 public:
  /// Starts an operation; `sequence` is its number on the communicator. One that this rank's own error has ended for
  /// the caller takes part in its agreement all the same: the queue keeps it.
  void add(std::shared_ptr<started_collective> operation, std::uint64_t sequence);

  /// Posts what can be posted, and tells whether `operation` has been, or has ended.
  bool is_posted(const started_collective& operation);
  bool has_ended(started_collective& operation);

  /// Waits until all is posted.
  void post_all();

  /// As far as possible without waiting.
  void progress();

  /// Completes all, for the end of the communicator, where all ranks are. False if another rank has never started what
  /// this one has: that can never end, and MPI keeps its memory.
  bool settle() noexcept;

 private:
  using entry = std::shared_ptr<started_collective>;
  void post_some();
  void end_orphans(std::vector<entry>& ended);
  void give_up();

  std::mutex mutex_;
  std::deque<entry> unposted_;
  std::unordered_map<const started_collective*, entry> active_;  // all that have not ended
  std::vector<entry> orphans_;                                   // of them those that nobody waits for
};

/// Whether some communicator's queue waits to be posted. Blocking waits look, and then poll instead of blocking: other
/// ranks may wait for what this one has to post.
bool any_unposted();

/// progress() of all communicators that have something to post.
void progress_starts();

/// Lets other threads and processes run.
void pause_polling();

/// Polls until `is_done()`, while all communicators' non-blocking collectives go on.
template <class Condition>
void poll_until(Condition&& is_done) {
  while (!is_done()) {
    if (any_unposted()) progress_starts();
    pause_polling();
  }
}

/// While it lives another thread goes on with what is not posted yet, if there is something and MPI may be called by
/// any thread: for blocking calls of MPI's, which other ranks may enter only after what they wait for.
class background_progress {
 public:
  background_progress();
  ~background_progress();
  background_progress(const background_progress&) = delete;
  background_progress& operator=(const background_progress&) = delete;

 private:
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace syncyte::comm
