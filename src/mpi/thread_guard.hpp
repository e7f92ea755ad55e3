// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace syncyte::mpi {

/// Gives this thread the right to call MPI, if MPI's thread level allows that now. With level multiple every thread may
/// call at any time. With serialized one thread at a time may. Below that only the thread that initialized MPI may. No
/// thread of a forked child may call MPI, nor one that knows of a rank's death (deaths.hpp). The application's own MPI
/// calls are not seen. Guards nest in a thread.
class try_thread_guard {
 public:
  try_thread_guard();
  ~try_thread_guard();
  try_thread_guard(const try_thread_guard&) = delete;
  try_thread_guard& operator=(const try_thread_guard&) = delete;

  bool may_call() const { return may_call_; }

 private:
  bool holds_ = false;
  bool may_call_ = true;
};

/// A guard that throws where this thread may not call MPI: SYNCYTE_ERR_BUSY if another thread is inside Syncyte (level
/// serialized), SYNCYTE_ERR_UNSUPPORTED on another thread than the one that initialized MPI (lower levels), and
/// SYNCYTE_ERR_UNSUPPORTED in a forked child. After the death of a rank it is SYNCYTE_ERR_PEER_DIED. Operations of one
/// rank `alone` go on in a forked child and after a death: there they do not call MPI (communicator::bypasses_mpi()).
///
/// An operation takes the guard first, so that an error changes nothing. The error is this rank's own: the rank cannot
/// call MPI to pass it to the others.
class thread_guard : public try_thread_guard {
 public:
  explicit thread_guard(const char* operation, bool alone = false);
};

}  // namespace syncyte::mpi
