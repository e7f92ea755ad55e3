// SPDX-License-Identifier: BSD-3-Clause
#include "access/started.hpp"

#include "mpi/process.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::access {

/// A forked child leaves its copy of an operation as it is: the rank's threads may have held its locks at the fork.
started::~started() {
  if (mpi::is_forked_child()) (void)in_flight_.release();
}

/// Keeps the error that a transfer throws once it has ended, and destroys the transfer.
bool started::poll() {
  if (!in_flight_) return true;
  bool ended = true;
  error_ = base::error_of([&] { ended = in_flight_->test(); });
  if (ended) in_flight_.reset();
  return ended;
}

bool started::has_ended() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && poll();
}

bool started::test() {
  if (!has_ended()) return false;
  if (error_) throw *error_;
  return true;
}

void started::await_end() {
  const std::lock_guard lock(mutex_);
  if (!in_flight_) return;
  try {
    in_flight_->wait();
  } catch (const watchdog::interrupted&) {
    throw;
  } catch (...) {
    if (!poll()) throw;
    return;
  }
  in_flight_.reset();
}

void started::wait() {
  await_end();
  if (error_) throw *error_;
}

}  // namespace syncyte::access
