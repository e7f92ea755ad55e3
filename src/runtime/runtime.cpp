#include "runtime/runtime.hpp"

#include <fmt/format.h>
#include <pthread.h>

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
#include "mpi/call.hpp"
#include "mpi/errors_returned.hpp"
#include "mpi/float_min_max.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "mpi/thread_guard.hpp"
#include "runtime/group.hpp"
#include "runtime/root.hpp"
#include "runtime/watched_job.hpp"
#include "watchdog/long_wait.hpp"
#include "watchdog/scope.hpp"
#include "watchdog/watchdog.hpp"

namespace syncyte::runtime {

using namespace comm;
namespace {

struct runtime_state {
  std::mutex mutex;
  bool owns_mpi = false;
  std::mutex end_mutex;                         // locked before `mutex`
  bool end_has_begun = false;                   // end_mutex
  MPI_Request all_are_here = MPI_REQUEST_NULL;  // a barrier that every rank enters when it comes to the end
  std::shared_ptr<communicator> world;
  std::shared_ptr<communicator> self;
  std::vector<std::shared_ptr<communicator>> adopted;  // in this rank's order of creation
};

runtime_state& state() {
  static auto* const the_state =
      new runtime_state;  // leaked: handles may be dropped while static objects are destroyed
  return *the_state;
}

/// Called in a forked child right after the fork: other threads and their locks are gone, so only atomics are touched.
void leave_the_ranks() {
  if (!mpi::become_forked_child()) return;
  watchdog::forget();
  mpi::stop_needing_progress();
}

void watch_forks() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, leave_the_ranks);
  base::require(registered == 0, SYNCYTE_ERR_MEMORY, "pthread_atfork has no memory for another handler");
}

/// Frees all communicators and what was made on them; MPI still works.
void free_roots(runtime_state& runtime) {
  mpi::close_probe();
  if (runtime.world) runtime.world->free_now();
  if (runtime.self) runtime.self->free_now();
  // Threads that adopt at once may come here in another order on each rank; the ids are the same on all.
  std::sort(runtime.adopted.begin(), runtime.adopted.end(),
            [](const auto& a, const auto& b) { return a->id() < b->id(); });
  for (const auto& root : runtime.adopted) root->free_now();
  runtime.world.reset();
  runtime.self.reset();
  runtime.adopted.clear();
  mpi::free_float_min_max_ops();
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
class end_wait final : public watchdog::long_wait {
 public:
  explicit end_wait(const communicator& world) : world_(world) {}

 private:
  void examine(std::optional<watchdog::scope>&) override { world_.node().require_all_alive(); }

  const communicator& world_;
};

/// Makes progress of this rank's started operations until all ranks are here: they may wait for them. Operations that
/// all ranks have started then end while the communicators are freed.
void finish_starts(runtime_state& runtime) {
  int are_here = 0;
  end_wait wait(*runtime.world);
  poll_until(
      [&] {
        if (mpi::needs_progress()) MPI_Test(&runtime.all_are_here, &are_here, MPI_STATUS_IGNORE);
        return are_here != 0 || !mpi::needs_progress();
      },
      wait);
}

/// The reason why this rank cannot finish together with all others; empty if it can.
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
  mpi::set_finished();
  runtime.owns_mpi = false;
  mpi::forget_progress();
}

std::atomic<bool (*)(bool) noexcept> before_end{nullptr};

/// First part of finish(), in which Syncyte can still be called, by operations of libraries too. Other threads in
/// finish() wait for it.
void begin_end(runtime_state& runtime) {
  const std::lock_guard lock(runtime.end_mutex);
  if (!mpi::is_started() || std::exchange(runtime.end_has_begun, true)) return;
  if (!reason_to_give_up(*runtime.world).empty()) return;
  const watchdog::scope watched("finalize", runtime.world->name(), 0, runtime.world->size());
  runtime.all_are_here = mpi::start_probe_barrier();
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

/// Waits for all ranks, then frees all. The watchdog sees the wait for a rank that never comes; it could not see it
/// inside MPI_Finalize.
void tear_down(runtime_state& runtime) {
  if (const std::string reason = reason_to_give_up(*runtime.world); !reason.empty()) return give_up(runtime, reason);
  const watchdog::scope watched("finalize", runtime.world->name(), 0, runtime.world->size());
  mpi::set_finished();
  try {
    finish_starts(runtime);
    mark_departed();
    meet_all(*runtime.world);
  } catch (const base::error& error) {
    return give_up(runtime, error.what());
  }
  MPI_Wait(&runtime.all_are_here, MPI_STATUS_IGNORE);
  free_roots(runtime);
  mpi::forget_progress();
}

/// MPI_Finalize deletes MPI_COMM_SELF's attributes before anything else: an application that ends MPI first ends us so.
int on_mpi_finalize(MPI_Comm, int, void*, void*) {
  runtime_state& runtime = state();
  if (mpi::is_forked_child()) return MPI_SUCCESS;
  begin_end(runtime);
  const std::lock_guard lock(runtime.mutex);
  if (!mpi::is_started()) return MPI_SUCCESS;
  tear_down(runtime);
  watchdog::stop();
  return MPI_SUCCESS;
}

void start_mpi(runtime_state& runtime, int wanted_level) {
  base::require(!mpi::mpi_is(MPI_Finalized), SYNCYTE_ERR_NOT_INITIALISED,
                "MPI is already finalised; call syncyte_init before MPI_Finalize");
  if (!mpi::mpi_is(MPI_Initialized)) {
    int level = 0;
    mpi::check(MPI_Init_thread(nullptr, nullptr, wanted_level, &level), "MPI_Init_thread");
    runtime.owns_mpi = true;
  }
  int level = 0;
  mpi::check(MPI_Query_thread(&level), "MPI_Query_thread");
  mpi::set_thread_level(level);
}

void watch_mpi_finalize() {
  int key = MPI_KEYVAL_INVALID;
  mpi::check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_mpi_finalize, &key, nullptr), "MPI_Comm_create_keyval");
  mpi::check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  MPI_Comm_free_keyval(&key);
}

communicator_options named(const char* name) {
  communicator_options options;
  options.name = name;
  return options;
}

/// Checks variables that are read later on one rank, or where nobody could catch an error.
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
  runtime.world = make_root(MPI_COMM_WORLD, world_options(error), "init");
  base::set_process_rank(runtime.world->rank());
  runtime.self = make_root(MPI_COMM_SELF, named("self"), "init");
  mpi::open_probe(runtime.world->data());
  try {
    watch_job(*runtime.world);
  } catch (const agreed_error&) {
    free_roots(runtime);
    throw;
  }
}

void finalise_mpi(runtime_state& runtime) {
  if (mpi::mpi_is(MPI_Finalized) || !std::exchange(runtime.owns_mpi, false)) return;  // once, of any number of threads
  // on_mpi_finalize() takes the lock on this thread, and finds nothing to do.
  runtime.mutex.unlock();
  MPI_Finalize();
  runtime.mutex.lock();
}

}  // namespace

void start(int thread_level, std::optional<base::error> error) {
  runtime_state& runtime = state();
  if (mpi::is_forked_child()) return;
  const std::lock_guard lock(runtime.mutex);
  if (!error && !is_level(thread_level))
    error = base::error(SYNCYTE_ERR_ARGUMENT,
                        fmt::format("options->thread_level is {}; expected 0 (single) to 3 (multiple)", thread_level));
  if (mpi::is_started()) {  // the others return at once: nobody is to be told
    if (error) throw *error;
    return;
  }
  base::require(!mpi::was_finished(), SYNCYTE_ERR_NOT_INITIALISED,
                "Syncyte is already finalised and cannot start again in this process");
  constexpr int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  start_mpi(runtime, levels[is_level(thread_level) ? thread_level : 3]);
  const mpi::thread_guard guard("init");
  start_roots(runtime, error);
  watch_mpi_finalize();
  watch_forks();
  mpi::set_started();
}

void finish() {
  runtime_state& runtime = state();
  if (mpi::is_forked_child()) return;
  if (mpi::is_started() && mpi::thread_level() < 2)
    const mpi::thread_guard asked("finalize");  // may this thread? It ends no turn.
  begin_end(runtime);
  const std::lock_guard lock(runtime.mutex);
  if (mpi::is_started()) tear_down(runtime);
  watchdog::stop();
  finalise_mpi(runtime);  // also after a start that failed half-way
}

void call_before_end(bool (*step)(bool are_all_here) noexcept) { before_end = step; }

namespace {

std::shared_ptr<communicator> root(std::shared_ptr<communicator> runtime_state::* which) {
  runtime_state& runtime = state();
  if (mpi::is_forked_child()) return runtime.*which;  // another thread of the rank may have held the lock
  mpi::require_started();                             // not behind the lock: a start in progress holds it for long
  const std::lock_guard lock(runtime.mutex);
  mpi::require_started();
  return runtime.*which;
}

/// Throws unless it is an intra-communicator. What is none at all is an error of MPI_COMM_WORLD (MPI 3) or
/// MPI_COMM_SELF (MPI 4), and would end the job there.
void require_intra(MPI_Comm comm, const std::string& argument) {
  const mpi::errors_returned world_errors(MPI_COMM_WORLD);
  const mpi::errors_returned self_errors(MPI_COMM_SELF);
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
  mpi::require_started();
  const mpi::thread_guard guard("comm_from_mpi");
  require_intra(original, argument);
  std::shared_ptr<communicator> result;
  {
    const mpi::errors_returned own_errors(original);
    result = make_root(original, options, "comm_from_mpi");
  }
  keep_root(result);
  return result;
}

std::shared_ptr<communicator> group(communicator& parent, std::span<const std::int32_t> ranks, int tag,
                                    const communicator_options& options) {
  const mpi::thread_guard guard("comm_group");
  auto result = make_group(parent, ranks, tag, options);
  keep_root(result);
  return result;
}

}  // namespace syncyte::runtime
