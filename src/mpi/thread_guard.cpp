#include "mpi/thread_guard.hpp"

#include <mpi.h>

#include <atomic>

#include "base/error.hpp"
#include "mpi/process.hpp"

namespace syncyte::mpi {
namespace {

constexpr int serialized = 2, multiple = 3;

/// The thread whose turn it is, with level serialized: the address of something of its own.
std::atomic<const char*> holder{nullptr};

const char* this_thread() {
  thread_local char mark = 0;
  return &mark;
}

bool is_mine() { return holder.load(std::memory_order_relaxed) == this_thread(); }

bool take() {
  const char* nobody = nullptr;
  return holder.compare_exchange_strong(nobody, this_thread(), std::memory_order_acquire);
}

void give_back() { holder.store(nullptr, std::memory_order_release); }

/// Or there is no MPI that could be called.
bool is_main() {
  int has_begun = 0, has_ended = 0, flag = 0;
  MPI_Initialized(&has_begun);
  MPI_Finalized(&has_ended);
  if (has_begun == 0 || has_ended != 0) return true;
  MPI_Is_thread_main(&flag);
  return flag != 0;
}

}  // namespace

thread_guard::thread_guard(const char* operation, bool alone) {
  const int level = thread_level();
  if (level == multiple) [[likely]]
    return;
  if (level < serialized) {
    if (alone && is_forked_child()) return;
    require_rank_process();
    base::require(is_main(), SYNCYTE_ERR_UNSUPPORTED,
                  "{}: this thread may not call MPI, whose thread level is {}; expected the thread that initialised "
                  "MPI, or MPI initialised with MPI_THREAD_SERIALIZED or more (syncyte_init asks for multiple)",
                  operation, level == 0 ? "single" : "funneled");
    return;
  }
  if (is_mine()) return;
  base::require(take(), SYNCYTE_ERR_BUSY,
                "{}: another thread is inside of MPI, whose thread level is serialized; expected one thread at a time, "
                "or MPI initialised with MPI_THREAD_MULTIPLE",
                operation);
  holds_ = true;
}

thread_guard::~thread_guard() {
  if (holds_) give_back();
}

try_thread_guard::try_thread_guard() {
  const int level = thread_level();
  if (level == multiple) [[likely]]
    return;
  if (level < serialized) {
    may_call_ = !is_forked_child() && is_main();
    return;
  }
  if (is_mine()) return;
  holds_ = may_call_ = take();
}

try_thread_guard::~try_thread_guard() {
  if (holds_) give_back();
}

}  // namespace syncyte::mpi
