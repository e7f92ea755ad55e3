#include "fabric/process_engine.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <utility>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "fabric/module.hpp"
#include "mpi/deaths.hpp"
#include "runtime/runtime.hpp"

namespace syncyte::fabric {
namespace {

enum class choice { on, off, start };

choice choice_of_environment() { return static_cast<choice>(base::environment_choice(base::settings::fabric, 0)); }

struct opened_engine {
  std::mutex mutex;
  std::atomic<engine*> running{nullptr};
  std::string reason;  // why there is none; guarded by the mutex
};

// Leaked, with the engine: started operations may be asked after the end, and threads run while static objects are
// destroyed.
opened_engine& the_engine = *new opened_engine;

/// Whether this thread is telling others of a death that the engine knows.
thread_local bool tells_of_death = false;

/// Tells the process of a death that the engine has found.
void tell_process(peer& dead) {
  const int world_rank = dead.world_rank;
  if (world_rank < 0) return;
  tells_of_death = true;
  mpi::declare_dead(world_rank);
  tells_of_death = false;
}

/// Tells the engine of a death that another part of the process has found.
void tell_engine(int world_rank) noexcept {
  if (tells_of_death) return;
  if (engine* const running = the_engine.running) running->declare_rank_dead(world_rank);
}

time_limits limits_of_environment() {
  const std::chrono::duration<double> seconds(base::environment_seconds(base::settings::fabric_deadline, 8));
  const auto deadline = std::chrono::duration_cast<std::chrono::nanoseconds>(seconds);
  return {.resend = deadline / 4, .deadline = deadline};
}

engine* open_engine(std::string& reason) {
  if (is_off()) {
    reason = "SYNCYTE_FABRIC is off";
    return nullptr;
  }
  auto ucx = open_module(ucx_module, reason, runtime::world()->node().count == 1);
  if (!ucx) return nullptr;
  try {
    return new engine(std::move(ucx), limits_of_environment(), tell_process);
  } catch (const std::exception& error) {
    reason = error.what();
    return nullptr;
  }
}

bool is_drained() noexcept {
  bool result = true;
  engine* const running = the_engine.running;
  if (running == nullptr) return result;
  if (const auto error = base::error_of([&] { result = running->is_drained(); }))
    base::log(SYNCYTE_LOG_ERROR, "finalize: {}", error->what());
  return result;
}

void stop_engine() noexcept {
  const std::lock_guard lock(the_engine.mutex);
  the_engine.reason = "Syncyte is finalized";
  if (engine* const running = the_engine.running) running->stop();
}

void progress_links() noexcept {
  if (engine* const running = the_engine.running) running->progress_links();
}

void end_engine() noexcept {
  stop_engine();
  if (engine* const running = the_engine.running) running->end_transport();
}

}  // namespace

bool is_off() { return choice_of_environment() == choice::off; }

bool opens_at_start() { return choice_of_environment() == choice::start; }

engine* process_engine(std::string& reason) {
  const std::lock_guard lock(the_engine.mutex);
  if (the_engine.running == nullptr && the_engine.reason.empty()) {
    the_engine.running = open_engine(the_engine.reason);
    if (the_engine.running != nullptr) {
      static constexpr runtime::end_steps steps{
          .is_drained = is_drained, .all_are_here = stop_engine, .progress = progress_links, .last = end_engine};
      runtime::call_at_end(steps);
      mpi::call_on_death(tell_engine);
    }
  }
  reason = the_engine.reason;
  return reason.empty() ? the_engine.running.load() : nullptr;
}

}  // namespace syncyte::fabric
