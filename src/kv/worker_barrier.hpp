// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace syncyte::kv {

/// A barrier of the workers (threads) of one process before a collective: one worker then enters the collective for
/// all, because a communicator is for one thread at a time.
class worker_barrier {
 public:
  /// `name`: the store's name, for the watchdog; it must outlive this.
  worker_barrier(std::int32_t workers, const std::string& name);

  /// Adds worker `number`. Throws SYNCYTE_ERR_ARGUMENT for a number that is out of range or in use.
  void join(std::int32_t number);
  /// Removes worker `number`: others no longer wait for it, until it joins again.
  void leave(std::int32_t number);

  /// Waits, as worker `number`, for all workers that have not left; also for workers that have not joined yet. One
  /// worker runs the collective `step` for all; if it throws, all workers throw its exception. `operation` is the name
  /// that the watchdog shows. Throws watchdog::interrupted; the others then still wait for this worker, unless its
  /// step was running.
  void run_once(std::int32_t number, const char* operation, const std::function<void()>& step);

 private:
  enum class state { absent, working, waiting, left };

  bool is_complete() const { return arrived_ == expected_ && !is_running_; }
  std::string missing_text() const;
  void wait(std::unique_lock<std::mutex>& lock, const char* operation, std::uint64_t round);
  template <class Step>
  std::exception_ptr run_unlocked(std::unique_lock<std::mutex>& lock, Step&& step);
  void run(std::unique_lock<std::mutex>& lock, const std::function<void()>& step);

  const std::string& name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<state> states_;
  std::int32_t expected_;
  std::int32_t arrived_ = 0;
  bool is_running_ = false;
  std::uint64_t round_ = 0;
  std::exception_ptr last_;  // exception of the last round's step
};

}  // namespace syncyte::kv
