// SPDX-License-Identifier: BSD-3-Clause
#include "kv/worker_barrier.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "base/error.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "watchdog/interrupts.hpp"
#include "watchdog/scope.hpp"

namespace syncyte::kv {

worker_barrier::worker_barrier(std::int32_t workers, const std::string& name)
    : name_(name), states_(static_cast<std::size_t>(workers), state::absent), expected_(workers) {}

void worker_barrier::join(std::int32_t number) {
  const std::lock_guard lock(mutex_);
  const auto workers = static_cast<std::int32_t>(states_.size());
  if (number < 0 || number >= workers)
    base::refuse(SYNCYTE_ERR_ARGUMENT, {.object = name_,
                                        .argument = "number",
                                        .value = fmt::format("{}", number),
                                        .expected = fmt::format("0 to {} ({} workers)", workers - 1, workers)});
  state& mine = states_[static_cast<std::size_t>(number)];
  if (mine == state::working || mine == state::waiting)
    base::refuse(SYNCYTE_ERR_ARGUMENT, {.object = name_,
                                        .argument = "number",
                                        .value = fmt::format("{}, which is a worker already", number),
                                        .expected = "another"});
  if (mine == state::left) ++expected_;
  mine = state::working;
}

void worker_barrier::leave(std::int32_t number) {
  const std::lock_guard lock(mutex_);
  states_[static_cast<std::size_t>(number)] = state::left;
  --expected_;
  changed_.notify_all();
}

void worker_barrier::run_once(std::int32_t number, const char* operation, const std::function<void()>& step) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !is_running_; });  // a worker that has just joined enters the next round
  const std::uint64_t round = round_;
  state& mine = states_[static_cast<std::size_t>(number)];
  mine = state::waiting;
  ++arrived_;
  try {
    if (!is_complete()) wait(lock, operation, round);
  } catch (...) {
    mine = state::working;
    if (!is_running_) --arrived_;  // run() counts from 0 again
    throw;
  }
  if (round == round_) run(lock, step);
  mine = state::working;
  if (last_) std::rethrow_exception(last_);
}

/// Text for the watchdog: the store's name and the workers that have not arrived.
std::string worker_barrier::missing_text() const {
  std::string missing;
  for (std::size_t number = 0; number < states_.size(); ++number) {
    if (states_[number] == state::absent) missing += fmt::format(", {} (never made)", number);
    if (states_[number] == state::working) missing += fmt::format(", {}", number);
  }
  return missing.empty() ? name_ : fmt::format("{}, waits for worker {}", name_, missing.substr(2));
}

/// Runs a step without the lock; returns its exception, or null.
template <class Step>
std::exception_ptr worker_barrier::run_unlocked(std::unique_lock<std::mutex>& lock, Step&& step) {
  lock.unlock();
  std::exception_ptr thrown;
  try {
    base::require(mpi::is_started(), SYNCYTE_ERR_NOT_INITIALIZED,
                  "{}: Syncyte was finalized while workers waited for each other", name_);
    step();
  } catch (...) {
    thrown = std::current_exception();
  }
  lock.lock();
  return thrown;
}

/// Waits until the round is over, or all workers of it have arrived.
void worker_barrier::wait(std::unique_lock<std::mutex>& lock, const char* operation, std::uint64_t round) {
  std::optional<watchdog::scope> shown;
  std::string text;
  constexpr auto pause = std::chrono::milliseconds(100);
  while (!changed_.wait_for(lock, pause, [&] { return round != round_ || is_complete(); })) {
    if (std::string now = missing_text(); now != text) {
      text = std::move(now);
      shown.emplace(operation, text, 0);
    }
    // Without the lock: the application's signal handler may use the store.
    bool is_interrupted = false;
    const std::exception_ptr thrown = run_unlocked(lock, [&] {
      mpi::let_progress();  // detects that mpirun has ended
      mpi::look_for_deaths();
      mpi::require_no_death();
      is_interrupted = watchdog::is_asked_to_end();
    });
    if (round != round_) {  // the last worker arrived meanwhile
      if (is_interrupted) watchdog::postpone_interrupt();
      return;
    }
    if (thrown) std::rethrow_exception(thrown);
    if (is_interrupted) throw watchdog::interrupted();
  }
}

void worker_barrier::run(std::unique_lock<std::mutex>& lock, const std::function<void()>& step) {
  is_running_ = true;
  last_ = run_unlocked(lock, step);
  is_running_ = false;
  arrived_ = 0;
  ++round_;
  changed_.notify_all();
}

}  // namespace syncyte::kv
