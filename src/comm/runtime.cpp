#include "comm/runtime.hpp"

#include <unistd.h>

#include <csignal>
#include <mutex>
#include <vector>

#include "base/environment.hpp"
#include "base/log.hpp"
#include "comm/mpi.hpp"
#include "comm/watchdog.hpp"

namespace syncyte::comm {
namespace {

struct runtime_state {
  std::mutex mutex;
  std::atomic<bool> is_started{false};
  bool was_finished = false;
  bool owns_mpi = false;
  int thread_level = 0;
  std::vector<std::shared_ptr<communicator>> roots;  // world, self, adopted ones in order of creation
};

runtime_state& state() {
  static auto* const the_state =
      new runtime_state;  // leaked: handles may be dropped while static objects are destroyed
  return *the_state;
}

bool mpi_is(int (*question)(int*)) {
  int flag = 0;
  question(&flag);
  return flag != 0;
}

/// Frees all communicators and what was made on them; MPI still works.
void tear_down(runtime_state& runtime) {
  stop_watchdog();
  runtime.is_started = false;
  runtime.was_finished = true;
  for (const auto& root : runtime.roots) root->free_now();
  runtime.roots.clear();
}

/// MPI_Finalize deletes MPI_COMM_SELF's attributes before anything else: an application that ends MPI first ends us so.
int on_mpi_finalize(MPI_Comm, int, void*, void*) {
  runtime_state& runtime = state();
  const std::lock_guard lock(runtime.mutex);
  if (runtime.is_started) tear_down(runtime);
  return MPI_SUCCESS;
}

void start_mpi(runtime_state& runtime, int wanted_level) {
  base::require(!mpi_is(MPI_Finalized), SYNCYTE_ERR_NOT_INITIALISED,
                "MPI is already finalised; call syncyte_init before MPI_Finalize");
  if (!mpi_is(MPI_Initialized)) {
    check_mpi(MPI_Init_thread(nullptr, nullptr, wanted_level, &runtime.thread_level), "MPI_Init_thread");
    runtime.owns_mpi = true;
  } else {
    check_mpi(MPI_Query_thread(&runtime.thread_level), "MPI_Query_thread");
  }
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

/// Bad values in the environment of one rank are every rank's error.
communicator_options world_options() {
  communicator_options options = named("world");
  try {
    base::environment_check("SYNCYTE_LOG", {"off", "error", "warn", "info", "debug"});
    base::environment_check("SYNCYTE_SHM", {"proc", "socket", "shm", "none"});
    base::environment_check("SYNCYTE_CHECK", {"off", "on", "full"});
  } catch (...) {
    options.error = base::current_error();
  }
  return options;
}

void finalise_mpi(runtime_state& runtime) {
  if (!runtime.owns_mpi || mpi_is(MPI_Finalized)) return;
  // on_mpi_finalize() takes the lock on this thread, and finds nothing to do.
  runtime.mutex.unlock();
  MPI_Finalize();
  runtime.mutex.lock();
}

}  // namespace

void start(int thread_level) {
  runtime_state& runtime = state();
  const std::lock_guard lock(runtime.mutex);
  if (runtime.is_started) return;
  base::require(!runtime.was_finished, SYNCYTE_ERR_NOT_INITIALISED,
                "Syncyte is already finalised and cannot start again in this process");
  base::require(thread_level >= 0 && thread_level <= 3, SYNCYTE_ERR_ARGUMENT,
                "options->thread_level is {}; expected 0 (single) to 3 (multiple)", thread_level);
  constexpr int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  start_mpi(runtime, levels[thread_level]);
  auto world_comm = communicator::make_root(MPI_COMM_WORLD, world_options());
  base::set_process_rank(world_comm->rank());
  runtime.roots = {world_comm, communicator::make_root(MPI_COMM_SELF, named("self"))};
  watch_mpi_finalize();
  runtime.is_started = true;
  start_watchdog(*world_comm);
}

void finish() {
  runtime_state& runtime = state();
  const std::lock_guard lock(runtime.mutex);
  if (runtime.is_started) tear_down(runtime);
  finalise_mpi(runtime);  // also after a start that failed half-way
}

bool is_started() { return state().is_started; }

void require_started() {
  if (is_started()) [[likely]]
    return;
  const bool was_finished = state().was_finished;
  base::require(!was_finished, SYNCYTE_ERR_NOT_INITIALISED,
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
    default:
      return 0;
  }
}

std::shared_ptr<communicator> world() {
  require_started();
  return state().roots[0];
}

std::shared_ptr<communicator> self() {
  require_started();
  return state().roots[1];
}

std::shared_ptr<communicator> adopt(MPI_Comm original, const communicator_options& options) {
  require_started();
  base::require(original != MPI_COMM_NULL, SYNCYTE_ERR_ARGUMENT, "the MPI communicator is MPI_COMM_NULL");
  int is_inter = 0;
  check_mpi(MPI_Comm_test_inter(original, &is_inter), "MPI_Comm_test_inter");
  base::require(is_inter == 0, SYNCYTE_ERR_ARGUMENT,
                "the MPI communicator is an inter-communicator; expected an "
                "intra-communicator");
  auto result = communicator::make_root(original, options);
  runtime_state& runtime = state();
  const std::lock_guard lock(runtime.mutex);
  runtime.roots.push_back(result);
  return result;
}

void abort_job(int exit_code) {
  if (mpi_is(MPI_Initialized) && !mpi_is(MPI_Finalized)) MPI_Abort(MPI_COMM_WORLD, exit_code);
  ::_exit(exit_code);
}

}  // namespace syncyte::comm
