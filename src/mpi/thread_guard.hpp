#pragma once

namespace syncyte::mpi {

/// Gives this thread the right to call MPI, as MPI's thread level allows. With level multiple every thread may call at
/// any time. With serialized one thread at a time may: a second one inside Syncyte gets SYNCYTE_ERR_BUSY. Below that
/// only the thread that initialised MPI may; others get SYNCYTE_ERR_UNSUPPORTED. The application's own MPI calls are
/// not seen.
///
/// No thread of a forked child may call MPI: SYNCYTE_ERR_UNSUPPORTED, except for operations that are `alone`, which do
/// not call it (communicator::is_alone()).
///
/// An operation takes the guard first, so that an error changes nothing. The error is this rank's own: it cannot call
/// MPI to tell the others. Guards nest in a thread.
class thread_guard {
 public:
  explicit thread_guard(const char* operation, bool alone = false);
  ~thread_guard();
  thread_guard(const thread_guard&) = delete;
  thread_guard& operator=(const thread_guard&) = delete;

 private:
  bool holds_ = false;
};

/// thread_guard for work that can be left out: false if this thread may not call MPI now.
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
