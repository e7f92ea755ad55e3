#include "kv/worker_meeting.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "watchdog/interrupts.hpp"
#include "watchdog/scope.hpp"

namespace syncyte::kv {

worker_meeting::worker_meeting(std::int32_t workers, const std::string& name)
    : name_(name), places_(static_cast<std::size_t>(workers), place::awaited), expected_(workers) {}

void worker_meeting::join(std::int32_t number) {
  const std::lock_guard lock(mutex_);
  const auto workers = static_cast<std::int32_t>(places_.size());
  if (number < 0 || number >= workers)
    base::refuse(SYNCYTE_ERR_ARGUMENT, {.object = name_,
                                        .argument = "number",
                                        .value = fmt::format("{}", number),
                                        .expected = fmt::format("0 to {} ({} workers)", workers - 1, workers)});
  place& mine = places_[static_cast<std::size_t>(number)];
  if (mine == place::here || mine == place::meets)
    base::refuse(SYNCYTE_ERR_ARGUMENT, {.object = name_,
                                        .argument = "number",
                                        .value = fmt::format("{}, which is a worker already", number),
                                        .expected = "another"});
  if (mine == place::left) ++expected_;
  mine = place::here;
}

void worker_meeting::leave(std::int32_t number) {
  const std::lock_guard lock(mutex_);
  places_[static_cast<std::size_t>(number)] = place::left;
  --expected_;
  changed_.notify_all();
}

void worker_meeting::meet(std::int32_t number, const char* operation, const step& what) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !is_running_; });  // a worker that has just joined enters the next round
  const std::uint64_t round = round_;
  place& mine = places_[static_cast<std::size_t>(number)];
  mine = place::meets;
  if (arrived_++ == 0) operation_ = operation;
  if (std::strcmp(operation, operation_) != 0 && !wrong_)
    wrong_.emplace(SYNCYTE_ERR_MISMATCH,
                   fmt::format("{}: workers of this process meet in {} and in {}; expected one of "
                               "them",
                               name_, operation_, operation));
  try {
    if (!is_complete()) wait(lock, operation, round);
  } catch (...) {
    mine = place::here;
    if (--arrived_ == 0) wrong_.reset();
    throw;
  }
  if (round == round_) run(lock, what);
  mine = place::here;
  if (last_) std::rethrow_exception(last_);
}

/// Text for the watchdog: the store's name and the workers that have not arrived.
std::string worker_meeting::awaited() const {
  std::string missing;
  for (std::size_t number = 0; number < places_.size(); ++number) {
    if (places_[number] == place::awaited) missing += fmt::format(", {} (never made)", number);
    if (places_[number] == place::here) missing += fmt::format(", {}", number);
  }
  return missing.empty() ? name_ : fmt::format("{}, waits for worker {}", name_, missing.substr(2));
}

/// Makes progress and checks for interrupts during a long wait. The lock is released meanwhile, because the
/// application's signal handler may use the store.
void worker_meeting::look_around(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  std::exception_ptr found;
  try {
    require_started();
    mpi::let_progress();  // detects that mpirun has ended
    watchdog::ask_for_interrupt();
  } catch (...) {
    found = std::current_exception();
  }
  lock.lock();
  if (found) std::rethrow_exception(found);
}

void worker_meeting::require_started() const {
  base::require(mpi::is_started(), SYNCYTE_ERR_NOT_INITIALISED,
                "{}: Syncyte was finalized while workers waited for each other", name_);
}

/// Waits until the round is over, or all workers of it have arrived.
void worker_meeting::wait(std::unique_lock<std::mutex>& lock, const char* operation, std::uint64_t round) {
  std::optional<watchdog::scope> shown;
  std::string text;
  constexpr auto pause = std::chrono::milliseconds(100);
  while (!changed_.wait_for(lock, pause, [&] { return round != round_ || is_complete(); })) {
    if (std::string now = awaited(); now != text) {
      text = std::move(now);
      shown.emplace(operation, text, 0);
    }
    look_around(lock);
  }
}

void worker_meeting::run(std::unique_lock<std::mutex>& lock, const step& what) {
  is_running_ = true;
  lock.unlock();
  std::exception_ptr result;
  try {
    require_started();
    what(wrong_);
  } catch (...) {
    result = std::current_exception();
  }
  lock.lock();
  last_ = result;
  wrong_.reset();
  is_running_ = false;
  arrived_ = 0;
  ++round_;
  changed_.notify_all();
}

}  // namespace syncyte::kv
