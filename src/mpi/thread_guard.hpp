#pragma once

namespace syncyte::mpi {

/// Whether this thread may call MPI, as MPI's thread level says. With level multiple any thread may at any time. With
/// serialized one at a time may: a second one that is inside of Syncyte at the same time gets SYNCYTE_ERR_BUSY. Below
/// that only the thread that initialised MPI may, and others get SYNCYTE_ERR_UNSUPPORTED. What the application's own
/// MPI calls do nobody sees.
///
/// In a forked child of a rank no thread may: SYNCYTE_ERR_UNSUPPORTED, except for what is `alone`, which does not call
/// MPI there (communicator::is_alone()).
///
/// A turn begins before anything has happened, so that what it throws changes nothing; it is this rank's own error,
/// which no call of MPI may tell the others. Turns nest in a thread.
class thread_guard {
 public:
  explicit thread_guard(const char* operation, bool alone = false);
  ~thread_guard();
  thread_guard(const thread_guard&) = delete;
  thread_guard& operator=(const thread_guard&) = delete;

 private:
  bool holds_ = false;
};

/// As thread_guard, for what need not be done now: false where this thread may not call MPI at the moment.
class try_thread_guard {
 public:
  try_thread_guard();
  ~try_thread_guard();
  try_thread_guard(const try_thread_guard&) = delete;
  try_thread_guard& operator=(const try_thread_guard&) = delete;

  explicit operator bool() const { return may_call_; }

 private:
  bool holds_ = false;
  bool may_call_ = true;
};

}  // namespace syncyte::mpi
