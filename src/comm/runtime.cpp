#include "comm/runtime.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "base/log.hpp"
#include "comm/collective.hpp"
#include "comm/departures.hpp"
#include "comm/errors_returned.hpp"
#include "comm/long_wait.hpp"
#include "comm/mpi.hpp"
#include "comm/mpi_turn.hpp"
#include "comm/ordering.hpp"
#include "comm/progress.hpp"
#include "comm/watchdog.hpp"

namespace syncyte::comm {
namespace {

struct runtime_state {
  std::mutex mutex;
  std::atomic<bool> is_started{false};
  std::atomic<bool> was_finished{false};
  std::atomic<bool> is_forked_child{false};
  bool owns_mpi = false;
  std::mutex end_mutex;                         // locked before `mutex`
  bool end_has_begun = false;                   // end_mutex
  MPI_Request all_are_here = MPI_REQUEST_NULL;  // a barrier that every rank enters when it comes to the end
  std::atomic<int> thread_level{0};
  std::shared_ptr<communicator> world;
  std::shared_ptr<communicator> self;
  std::vector<std::shared_ptr<communicator>> adopted;  // in this rank's order of creation
};

runtime_state& state() {
  static auto* const the_state =
      new runtime_state;  // leaked: handles may be dropped while static objects are destroyed
  return *the_state;
}

constexpr int forked_level = -1;  // none of MPI's: checks of the thread level find forked children too

/// In a forked child, right after the fork: other threads and their locks are gone, so only atomics are touched.
void leave_the_ranks() {
  runtime_state& runtime = state();
  if (!runtime.is_started) return;
  runtime.is_forked_child = true;
  runtime.is_started = false;
  runtime.thread_level = forked_level;
  forget_watchdog();
  stop_needing_progress();
}

void watch_forks() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, leave_the_ranks);
  base::require(registered == 0, SYNCYTE_ERR_MEMORY, "pthread_atfork has no memory for another handler");
}

bool mpi_is(int (*question)(int*)) {
  int flag = 0;
  question(&flag);
  return flag != 0;
}

/// Frees all communicators and what was made on them; MPI still works.
void free_roots(runtime_state& runtime) {
  close_probe();
  if (runtime.world) runtime.world->free_now();
  if (runtime.self) runtime.self->free_now();
  // Threads that adopt at once may come here in another order on each rank; the ids are the same on all.
  std::sort(runtime.adopted.begin(), runtime.adopted.end(),
            [](const auto& a, const auto& b) { return a->id() < b->id(); });
  for (const auto& root : runtime.adopted) root->free_now();
  runtime.world.reset();
  runtime.self.reset();
  runtime.adopted.clear();
  free_ordering_ops();
}

/// All ranks come to the end together. A rank that is in another operation of the world learns there that the ranks
/// called different ones, and is waited for until it comes; so is another thread of this rank. MPI ends the wait where
/// it fails, and a rank whose process has ended: SYNCYTE_ERR_PEER_DIED.
void meet_all(communicator& world) {
  for (bool is_told = false;;) {
    try {
      return collective_call(world, "finalize", collective_call::last).agree();
    } catch (const agreed_error& others) {
      if (!std::exchange(is_told, true))
        base::log(SYNCYTE_LOG_ERROR, "{}; waiting for the others to come to finalize", others.what());
    } catch (const base::error& own) {
      if (own.status() == SYNCYTE_ERR_PEER_DIED) throw;
      if (own.status() != SYNCYTE_ERR_BUSY) return base::log(SYNCYTE_LOG_ERROR, "finalize: {}", own.what());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

/// A wait for all ranks to come to the end; SYNCYTE_ERR_PEER_DIED where the process of one of this node has ended.
class end_wait final : public long_wait {
 public:
  explicit end_wait(const communicator& world) : world_(world) {}

 private:
  void examine(std::optional<watchdog_scope>&) override { world_.node().require_all_alive(); }

  const communicator& world_;
};

/// Until all ranks have come here this one goes on with what it has started and not waited for: they may wait for it.
/// What all have started then ends while the communicators are freed.
void finish_starts(runtime_state& runtime) {
  int are_here = 0;
  end_wait wait(*runtime.world);
  poll_until(
      [&] {
        if (needs_progress()) MPI_Test(&runtime.all_are_here, &are_here, MPI_STATUS_IGNORE);
        return are_here != 0 || !needs_progress();
      },
      wait);
}

/// Why this rank cannot come to the end together with all others; empty if it can.
std::string reason_to_give_up(const communicator& world) {
  try {
    world.node().require_all_alive();
  } catch (const base::error& error) {
    return error.what();
  }
  return world.is_out_of_step() ? "a collective of the world was interrupted on this rank" : "";
}

/// Frees nothing, and leaves MPI as it is: both would wait for the other ranks for ever.
void give_up(runtime_state& runtime, const std::string& reason) {
  base::log(SYNCYTE_LOG_ERROR, "finalize: {}; nothing is freed, and MPI is not finalised", reason);
  runtime.is_started = false;
  runtime.was_finished = true;
  runtime.owns_mpi = false;
  forget_progress();
}

std::atomic<bool (*)(bool) noexcept> before_end{nullptr};

/// The first part of the end, in which Syncyte can still be called: by what libraries have started, too. Other threads
/// that come to the end wait for it.
void begin_end(runtime_state& runtime) {
  const std::lock_guard lock(runtime.end_mutex);
  if (!runtime.is_started || std::exchange(runtime.end_has_begun, true)) return;
  if (!reason_to_give_up(*runtime.world).empty()) return;
  const watchdog_scope watched("finalize", runtime.world->name(), 0, runtime.world->size());
  runtime.all_are_here = start_probe_barrier();
  const auto step = before_end.load();
  int are_here = 0;
  if (step == nullptr) return;
  end_wait wait(*runtime.world);
  const auto has_ended = [&] {
    if (are_here == 0) MPI_Test(&runtime.all_are_here, &are_here, MPI_STATUS_IGNORE);
    return step(are_here != 0);
  };
  try {
    poll_until(has_ended, wait);
  } catch (const base::error&) {  // tear_down() finds it too
  }
}

/// Waits for all ranks, so that one that never comes is waited for here, where the watchdog sees it, and not inside
/// MPI_Finalize, where nobody can; then frees all.
void tear_down(runtime_state& runtime) {
  if (const std::string reason = reason_to_give_up(*runtime.world); !reason.empty()) return give_up(runtime, reason);
  const watchdog_scope watched("finalize", runtime.world->name(), 0, runtime.world->size());
  runtime.is_started = false;
  runtime.was_finished = true;
  try {
    finish_starts(runtime);
    mark_departed();
    meet_all(*runtime.world);
  } catch (const base::error& error) {
    return give_up(runtime, error.what());
  }
  MPI_Wait(&runtime.all_are_here, MPI_STATUS_IGNORE);
  free_roots(runtime);
  forget_progress();
}

/// MPI_Finalize deletes MPI_COMM_SELF's attributes before anything else: an application that ends MPI first ends us so.
int on_mpi_finalize(MPI_Comm, int, void*, void*) {
  runtime_state& runtime = state();
  if (runtime.is_forked_child) return MPI_SUCCESS;
  begin_end(runtime);
  const std::lock_guard lock(runtime.mutex);
  if (!runtime.is_started) return MPI_SUCCESS;
  tear_down(runtime);
  stop_watchdog();
  return MPI_SUCCESS;
}

void start_mpi(runtime_state& runtime, int wanted_level) {
  base::require(!mpi_is(MPI_Finalized), SYNCYTE_ERR_NOT_INITIALISED,
                "MPI is already finalised; call syncyte_init before MPI_Finalize");
  if (!mpi_is(MPI_Initialized)) {
    int level = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, wanted_level, &level), "MPI_Init_thread");
    runtime.owns_mpi = true;
  }
  int level = 0;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  runtime.thread_level = level;
}

void watch_mpi_finalize() {
  int key = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_mpi_finalize, &key, nullptr), "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  MPI_Comm_free_keyval(&key);
}

communicator_options named(const char* name) {
  communicator_options options;
  options.name = name;
  return options;
}

/// What is read later, on one rank or where nobody could catch it, is looked at now.
void check_environment() {
  base::environment_check("SYNCYTE_LOG", {"off", "error", "warn", "info", "debug"});
  base::environment_check("SYNCYTE_HUGE_PAGES", {"on", "off"});
  base::environment_bytes("SYNCYTE_POOL_LIMIT", 0);
  base::environment_number("SYNCYTE_WATCHDOG", 0.0, 0.0);
  base::environment_check("SYNCYTE_WATCHDOG_ACTION", {"abort", "report"});
  base::environment_check("SYNCYTE_CUDA_AWARE", {"off", "on"});
}

/// Bad options or values in the environment of one rank are every rank's error.
communicator_options world_options(const std::optional<base::error>& error) {
  communicator_options options = named("world");
  options.error = error;
  try {
    if (!error) check_environment();
  } catch (...) {
    options.error = base::current_error();
  }
  return options;
}

constexpr bool is_level(int thread_level) { return thread_level >= 0 && thread_level <= 3; }

/// The whole of a start, or nothing of it: what ranks agreed not to do is undone on all of them.
void start_roots(runtime_state& runtime, const std::optional<base::error>& error) {
  runtime.world = communicator::make_root(MPI_COMM_WORLD, world_options(error), "init");
  base::set_process_rank(runtime.world->rank());
  runtime.self = communicator::make_root(MPI_COMM_SELF, named("self"), "init");
  open_probe(runtime.world->data());
  try {
    start_watchdog(*runtime.world);
  } catch (const agreed_error&) {
    free_roots(runtime);
    throw;
  }
}

void finalise_mpi(runtime_state& runtime) {
  if (mpi_is(MPI_Finalized) || !std::exchange(runtime.owns_mpi, false)) return;  // once, of any number of threads
  // on_mpi_finalize() takes the lock on this thread, and finds nothing to do.
  runtime.mutex.unlock();
  MPI_Finalize();
  runtime.mutex.lock();
}

}  // namespace

void start(int thread_level, std::optional<base::error> error) {
  runtime_state& runtime = state();
  if (runtime.is_forked_child) return;
  const std::lock_guard lock(runtime.mutex);
  if (!error && !is_level(thread_level))
    error = base::error(SYNCYTE_ERR_ARGUMENT,
                        fmt::format("options->thread_level is {}; expected 0 (single) to 3 (multiple)", thread_level));
  if (runtime.is_started) {  // the others return at once: nobody is to be told
    if (error) throw *error;
    return;
  }
  base::require(!runtime.was_finished, SYNCYTE_ERR_NOT_INITIALISED,
                "Syncyte is already finalised and cannot start again in this process");
  constexpr int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  start_mpi(runtime, levels[is_level(thread_level) ? thread_level : 3]);
  const mpi_turn turn("init");
  start_roots(runtime, error);
  watch_mpi_finalize();
  watch_forks();
  runtime.is_started = true;
}

void finish() {
  runtime_state& runtime = state();
  if (runtime.is_forked_child) return;
  if (runtime.is_started && thread_level() < 2) const mpi_turn asked("finalize");  // may this thread? It ends no turn.
  begin_end(runtime);
  const std::lock_guard lock(runtime.mutex);
  if (runtime.is_started) tear_down(runtime);
  stop_watchdog();
  finalise_mpi(runtime);  // also after a start that failed half-way
}

void call_before_end(bool (*step)(bool are_all_here) noexcept) { before_end = step; }

bool is_started() { return state().is_started; }

bool is_forked_child() { return state().is_forked_child.load(std::memory_order_relaxed); }

void require_rank_process() {
  if (!is_forked_child()) [[likely]]
    return;
  base::fail(
      SYNCYTE_ERR_UNSUPPORTED,
      "this process is a forked child of rank {0}, and no rank; expected the process of rank {0} itself. A child "
      "can read rows that are mapped (gather, get_box, a store's pull, views), and use COMM_SELF in blocking "
      "collectives and to "
      "load checkpoints",
      base::process_rank());
}

void require_started_or_forked() {
  if (is_started() || is_forked_child()) [[likely]]
    return;
  require_started();
}

void require_started() {
  if (is_started()) [[likely]]
    return;
  require_rank_process();
  base::require(!state().was_finished, SYNCYTE_ERR_NOT_INITIALISED,
                "Syncyte is already finalised (syncyte_finalize or MPI_Finalize was called)");
  base::fail(SYNCYTE_ERR_NOT_INITIALISED, "Syncyte is not initialised; call syncyte_init first");
}

int thread_level() {
  switch (state().thread_level) {
    case MPI_THREAD_MULTIPLE:
      return 3;
    case MPI_THREAD_SERIALIZED:
      return 2;
    case MPI_THREAD_FUNNELED:
      return 1;
    case forked_level:
      return -1;
    default:
      return 0;
  }
}

namespace {

std::shared_ptr<communicator> root(std::shared_ptr<communicator> runtime_state::* which) {
  runtime_state& runtime = state();
  if (runtime.is_forked_child) return runtime.*which;  // another thread of the rank may have held the lock
  require_started();                                   // not behind the lock: a start in progress holds it for long
  const std::lock_guard lock(runtime.mutex);
  require_started();
  return runtime.*which;
}

/// Throws unless it is an intra-communicator. What is none at all is an error of MPI_COMM_WORLD (MPI 3) or
/// MPI_COMM_SELF (MPI 4), and would end the job there.
void require_intra(MPI_Comm comm, const std::string& argument) {
  const errors_returned world_errors(MPI_COMM_WORLD);
  const errors_returned self_errors(MPI_COMM_SELF);
  base::require(comm != MPI_COMM_NULL, SYNCYTE_ERR_ARGUMENT, "{} MPI_COMM_NULL; expected an intra-communicator",
                argument);
  int is_inter = 0;
  base::require(MPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS, SYNCYTE_ERR_ARGUMENT,
                "{} not a communicator that MPI knows; expected an intra-communicator", argument);
  base::require(is_inter == 0, SYNCYTE_ERR_ARGUMENT, "{} an inter-communicator; expected an intra-communicator",
                argument);
}

/// Until the end.
void keep_root(std::shared_ptr<communicator> root) {
  runtime_state& runtime = state();
  const std::lock_guard lock(runtime.mutex);
  runtime.adopted.push_back(std::move(root));
}

}  // namespace

std::shared_ptr<communicator> world() { return root(&runtime_state::world); }

std::shared_ptr<communicator> self() { return root(&runtime_state::self); }

std::shared_ptr<communicator> adopt(MPI_Comm original, const communicator_options& options,
                                    const std::string& argument) {
  require_started();
  const mpi_turn turn("comm_from_mpi");
  require_intra(original, argument);
  std::shared_ptr<communicator> result;
  {
    const errors_returned own_errors(original);
    result = communicator::make_root(original, options, "comm_from_mpi");
  }
  keep_root(result);
  return result;
}

std::shared_ptr<communicator> group(communicator& parent, std::span<const std::int32_t> ranks, int tag,
                                    const communicator_options& options) {
  const mpi_turn turn("comm_group");
  auto result = parent.make_group(ranks, tag, options);
  keep_root(result);
  return result;
}

namespace {
std::atomic<void (*)() noexcept> before_abort{nullptr};
}  // namespace

void call_before_abort(void (*last_step)() noexcept) { before_abort = last_step; }

void abort_job(int exit_code) {
  if (!is_forked_child()) {
    if (const auto last_step = before_abort.load()) last_step();
    // MPICH's mpirun drops output that it has not read yet.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (mpi_is(MPI_Initialized) && !mpi_is(MPI_Finalized)) MPI_Abort(MPI_COMM_WORLD, exit_code);
  }
  ::_exit(exit_code);
}

}  // namespace syncyte::comm
