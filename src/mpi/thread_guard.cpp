// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/thread_guard.hpp"

#include <mpi.h>

#include <atomic>

#include "base/error.hpp"
#include "mpi/deaths.hpp"
#include "mpi/process.hpp"

namespace syncyte::mpi {
namespace {

/// The thread whose turn it is, with level serialized: the address of something of its own.
std::atomic<const char*> holder{nullptr};

const char* this_thread() {
  thread_local char mark = 0;
  return &mark;
}

bool is_mine() { return holder.load(std::memory_order_relaxed) == this_thread(); }

bool take() {
  const char* none = nullptr;
  return holder.compare_exchange_strong(none, this_thread(), std::memory_order_acquire);
}

void give_back() { holder.store(nullptr, std::memory_order_release); }

/// Whether this is the thread that initialized MPI, or MPI cannot be called.
bool is_main() { return !mpi_is(MPI_Initialized) || mpi_is(MPI_Finalized) || mpi_is(MPI_Is_thread_main); }

}  // namespace

try_thread_guard::try_thread_guard() {
  if (knows_death()) [[unlikely]] {
    may_call_ = false;
    return;
  }
  const int level = thread_level();
  if (level == multiple) [[likely]]
    return;
  if (level < serialized)
    may_call_ = !is_forked_child() && is_main();
  else if (!is_mine())
    holds_ = may_call_ = take();
}

try_thread_guard::~try_thread_guard() {
  if (holds_) give_back();
}

thread_guard::thread_guard(const char* operation, bool alone) {
  if (may_call()) [[likely]]
    return;
  if (alone && (is_forked_child() || knows_death())) return;
  require_rank_process();
  require_no_death();
  const int level = thread_level();
  base::require(level >= serialized, SYNCYTE_ERR_UNSUPPORTED,
                "{}: this thread may not call MPI, whose thread level is {}; expected the thread that initialized "
                "MPI, or MPI initialized with MPI_THREAD_SERIALIZED or more (syncyte_init asks for multiple)",
                operation, level == 0 ? "single" : "funneled");
  base::fail(SYNCYTE_ERR_BUSY,
             "{}: another thread is inside of MPI, whose thread level is serialized; expected one thread at a time, "
             "or MPI initialized with MPI_THREAD_MULTIPLE",
             operation);
}

}  // namespace syncyte::mpi
