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
#include "comm/collective_call.hpp"
#include "comm/dead_ranks.hpp"
#include "comm/departures.hpp"
#include "mpi/call.hpp"
#include "mpi/communicators.hpp"
#include "mpi/deaths.hpp"
#include "mpi/float_min_max.hpp"
#include "mpi/memory_kinds.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "mpi/thread_guard.hpp"
#include "runtime/group.hpp"
#include "runtime/root.hpp"
#include "runtime/watched_job.hpp"
#include "topology/process_watch.hpp"
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

runtime_state& state = *new runtime_state;  // leaked: handles may be dropped while static objects are destroyed

/// Called in a forked child right after the fork: other threads do not exist and locks may be held, so only atomics are
/// touched.
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
void free_roots() {
  mpi::close_probe();
  if (state.world) state.world->free_now();
  if (state.self) state.self->free_now();
  // Threads that adopt at the same time may do so in another order on each rank; the ids are the same on all.
  std::sort(state.adopted.begin(), state.adopted.end(), [](const auto& a, const auto& b) { return a->id() < b->id(); });
  for (const auto& root : state.adopted) root->free_now();
  state.world.reset();
  state.self.reset();
  state.adopted.clear();
  mpi::free_float_min_max_ops();
}

/// All ranks end together. A rank, or a thread of this rank, that is in another collective of the world gets
/// SYNCYTE_ERR_MISMATCH there, and this function waits until it calls finalize too. Any other error is logged and ends
/// the wait; SYNCYTE_ERR_PEER_DIED is thrown, because after a death the ranks cannot end together.
void meet_in_finalize(communicator& world) {
  for (bool is_logged = false;;) {
    try {
      return collective_call(world, "finalize", collective_call::finalize).agree();
    } catch (const agreed_error& others) {
      if (!std::exchange(is_logged, true))
        base::log(SYNCYTE_LOG_ERROR, "{}; waiting for the others to come to finalize", others.what());
    } catch (const base::error& own) {
      if (own.status() == SYNCYTE_ERR_PEER_DIED) throw;
      if (own.status() != SYNCYTE_ERR_BUSY) return base::log(SYNCYTE_LOG_ERROR, "finalize: {}", own.what());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

/// Makes progress of this rank's started operations until all ranks are here: they may wait for them. Operations that
/// all ranks have started then end while the communicators are freed.
void progress_until_all_are_here() {
  int are_here = 0;
  members_wait wait("finalize", *state.world, 0, members_wait::end);
  watchdog::poll_until(
      [&] {
        if (mpi::needs_progress()) are_here = static_cast<int>(mpi::has_ended(state.all_are_here, "MPI_Ibarrier"));
        return are_here != 0 || !mpi::needs_progress();
      },
      wait);
}

/// The reason why this rank cannot finish together with all others; empty if it can.
std::string reason_to_end_alone(const communicator& world) {
  mpi::look_for_deaths_now();
  if (mpi::knows_death()) return base::error_of([&] { comm::fail_by_death(world); })->what();
  return world.is_out_of_step() ? "a collective of the world was interrupted on this rank" : "";
}

/// Frees nothing, and leaves MPI as it is: both would wait for the other ranks for ever.
void end_alone(const std::string& reason) {
  base::log(SYNCYTE_LOG_ERROR, "finalize: {}; nothing is freed, and MPI is not finalized", reason);
  topology::stop_watching_processes();
  mpi::set_finished();
  state.owns_mpi = false;
  mpi::forget_progress();
}

std::atomic<bool (*)(bool) noexcept> before_end{nullptr};
std::atomic<const end_steps*> at_end{nullptr};

/// First part of finish(), in which Syncyte can still be called, by operations of libraries too. Other threads in
/// finish() wait for it.
void end_library_operations() {
  const std::lock_guard lock(state.end_mutex);
  if (!mpi::is_started() || std::exchange(state.end_has_begun, true)) return;
  if (!reason_to_end_alone(*state.world).empty()) return;
  const watchdog::scope watched("finalize", state.world->name(), 0, state.world->size());
  state.all_are_here = mpi::start_probe_barrier();
  const auto step = before_end.load();
  int are_here = 0;
  if (step == nullptr) return;
  members_wait wait("finalize", *state.world, 0, members_wait::end);
  const auto has_ended = [&] {
    if (are_here == 0) are_here = static_cast<int>(mpi::has_ended(state.all_are_here, "MPI_Ibarrier"));
    return step(are_here != 0);
  };
  try {
    watchdog::poll_until(has_ended, wait);
  } catch (const base::error&) {  // end_together() finds it too
  }
}

/// Waits until one-sided accesses that this rank has started are done: other ranks serve them until all have met.
void drain() {
  if (const end_steps* const steps = at_end) mpi::poll_until([&] { return steps->is_drained(); });
}

/// Closes what is between the ranks. While others still close it, this rank does its part: none may be gone yet.
void close_links() {
  const end_steps* const steps = at_end;
  if (steps != nullptr) steps->all_are_here();
  // Not on the world's own communicators, where a rank may have started a collective that others have not.
  MPI_Request all_have_closed = mpi::start_probe_barrier();
  // A rank whose barrier has ended may end its process before this rank sees the barrier's end. So one that is gone has
  // been killed only if the barrier does not end soon.
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (!mpi::has_ended(all_have_closed, "MPI_Ibarrier")) {
    if (steps != nullptr) steps->progress();
    if (std::chrono::steady_clock::now() > late) mpi::look_for_deaths();
    mpi::pause_polling();
  }
  topology::stop_watching_processes();
}

/// Waits for all ranks, then frees all. The watchdog sees the wait for a rank that never comes; it could not see it
/// inside MPI_Finalize.
void end_together() {
  if (const std::string reason = reason_to_end_alone(*state.world); !reason.empty()) return end_alone(reason);
  const watchdog::scope watched("finalize", state.world->name(), 0, state.world->size());
  mpi::set_finished();
  try {
    drain();
    progress_until_all_are_here();
    mark_departed();
    meet_in_finalize(*state.world);
    members_wait wait("finalize", *state.world, 0, members_wait::end);
    watchdog::poll_mpi_until([] { return mpi::has_ended(state.all_are_here, "MPI_Ibarrier"); }, wait);
    close_links();
  } catch (const base::error& error) {
    return end_alone(error.what());
  }
  free_roots();
  mpi::forget_progress();
}

/// Ends all but MPI.
void end_all_but_mpi() {
  end_library_operations();
  const std::lock_guard lock(state.mutex);
  if (mpi::is_started()) {
    end_together();
    if (const end_steps* const steps = at_end) steps->last();
  }
  watchdog::stop();  // also after a start that failed half-way
}

/// MPI_Finalize deletes MPI_COMM_SELF's attributes first, and so calls this if the application ends MPI before Syncyte.
int on_mpi_finalize(MPI_Comm, int, void*, void*) {
  if (!mpi::is_forked_child()) end_all_but_mpi();
  return MPI_SUCCESS;
}

/// Waits see from now on that a rank of this node has died.
void watch_node(const topology::node_group& node) {
  std::vector<topology::rank_process> others;
  for (int place = 0; place < node.size; ++place)
    if (const auto at = static_cast<std::size_t>(place); place != node.rank)
      others.push_back({node.members[at], node.processes[at]});
  topology::watch_processes(others);
}

void start_mpi(int wanted_level) {
  base::require(!mpi::mpi_is(MPI_Finalized), SYNCYTE_ERR_NOT_INITIALIZED,
                "MPI is already finalized; call syncyte_init before MPI_Finalize");
  if (!mpi::mpi_is(MPI_Initialized)) {
    int level = 0;
    mpi::check(MPI_Init_thread(nullptr, nullptr, wanted_level, &level), "MPI_Init_thread");
    state.owns_mpi = true;
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

constexpr bool is_level(int thread_level) { return thread_level >= 0 && thread_level <= 3; }

/// Makes the communicators and starts the watchdog, or nothing: if the ranks agree on an error, all undo what is done.
/// Bad options or values in the environment of one rank are every rank's error.
void start_roots(const std::optional<base::error>& error) {
  const auto found = error ? error : base::error_of(base::check_environment);
  state.world = make_root(MPI_COMM_WORLD, {.name = "world", .error = found}, "init");
  base::set_process_rank(state.world->rank());
  state.self = make_root(MPI_COMM_SELF, {.name = "self"}, "init");
  mpi::open_probe(state.world->data());
  mpi::agree_on_device_memory(state.world->data());
  try {
    watch_job(*state.world);
  } catch (const agreed_error&) {
    free_roots();
    throw;
  }
}

void finalize_mpi() {
  std::unique_lock lock(state.mutex);
  if (mpi::mpi_is(MPI_Finalized) || !std::exchange(state.owns_mpi, false)) return;  // once, of any number of threads
  lock.unlock();
  MPI_Finalize();  // calls on_mpi_finalize(), which takes the lock and has nothing left to do
}

std::shared_ptr<communicator> root(std::shared_ptr<communicator> runtime_state::* which) {
  if (mpi::is_forked_child()) return state.*which;  // another thread of the rank may have held the lock
  mpi::require_started();                           // not behind the lock: a start in progress holds it for long
  const std::lock_guard lock(state.mutex);
  mpi::require_started();
  return state.*which;
}

/// Throws unless `comm` is an intra-communicator. For an invalid handle MPI calls the error handler of MPI_COMM_WORLD
/// (MPI 3) or MPI_COMM_SELF (MPI 4), which would end the job: here both return errors.
void require_intra(MPI_Comm comm, const std::string& argument) {
  const mpi::errors_returned world_errors(MPI_COMM_WORLD);
  const mpi::errors_returned self_errors(MPI_COMM_SELF);
  const auto require = [&](bool condition, const char* otherwise) {
    if (condition) return;
    base::refuse(
        SYNCYTE_ERR_ARGUMENT,
        {.argument = argument.substr(0, argument.find(' ')), .value = otherwise, .expected = "an intra-communicator"},
        fmt::format("{} {}; expected an intra-communicator", argument, otherwise));
  };
  require(comm != MPI_COMM_NULL, "MPI_COMM_NULL");
  int is_inter = 0;
  require(MPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS, "not a communicator that MPI knows");
  require(is_inter == 0, "an inter-communicator");
}

/// Keeps a communicator until finish().
void keep_root(std::shared_ptr<communicator> root) {
  const std::lock_guard lock(state.mutex);
  state.adopted.push_back(std::move(root));
}

}  // namespace

bool start(int thread_level, std::optional<base::error> error) {
  if (mpi::is_forked_child()) return false;
  const std::lock_guard lock(state.mutex);
  if (!error)
    error = base::error_of([&] {
      base::expect(is_level(thread_level), SYNCYTE_ERR_ARGUMENT, "options->thread_level", thread_level,
                   "0 (single) to 3 (multiple)");
    });
  if (mpi::is_started()) {  // the other ranks return at once, so this error is this rank's own
    if (error) throw *error;
    return false;
  }
  base::require(!mpi::was_finished(), SYNCYTE_ERR_NOT_INITIALIZED,
                "Syncyte is already finalized and cannot start again in this process");
  constexpr int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  start_mpi(levels[is_level(thread_level) ? thread_level : 3]);
  const mpi::thread_guard guard("init");
  start_roots(error);
  watch_mpi_finalize();
  watch_forks();
  watch_node(state.world->node());
  mpi::set_started();
  return true;
}

void finish() {
  if (mpi::is_forked_child()) return;
  if (mpi::is_started() && mpi::thread_level() < mpi::serialized && !mpi::knows_death())
    const mpi::thread_guard asked("finalize");  // throws if this thread may not call MPI; held for this check only
  end_all_but_mpi();
  finalize_mpi();
}

void call_before_end(bool (*step)(bool are_all_here) noexcept) { before_end = step; }

void call_at_end(const end_steps& steps) { at_end = &steps; }

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
  const mpi::thread_guard guard("comm_create_group");
  auto result = make_group(parent, ranks, tag, options);
  keep_root(result);
  return result;
}

}  // namespace syncyte::runtime
