#include "fabric/process_engine.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "base/environment.hpp"
#include "fabric/module.hpp"
#include "mpi/deaths.hpp"
#include "runtime/runtime.hpp"

namespace syncyte::fabric {
namespace {

struct opened_engine {
  std::mutex opening;
  std::mutex mutex;  // guards `running`, for a moment
  std::shared_ptr<engine> running;
  std::string reason;  // why there is none; guarded by `opening`
};

opened_engine& the_engine = *new opened_engine;  // leaked: its thread runs while static objects are destroyed

std::shared_ptr<engine> running_engine() {
  const std::lock_guard lock(the_engine.mutex);
  return the_engine.running;
}

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
  if (const auto running = running_engine()) running->declare_rank_dead(world_rank);
}

time_limits limits_of_environment() {
  const std::chrono::duration<double> seconds(base::environment_number("SYNCYTE_FABRIC_DEADLINE", 8, 0.1));
  const auto deadline = std::chrono::duration_cast<std::chrono::nanoseconds>(seconds);
  return {.resend = deadline / 4, .deadline = deadline};
}

std::shared_ptr<engine> open_engine(std::string& reason) {
  if (base::environment_choice("SYNCYTE_FABRIC", {"on", "off"}, 0) == 1) {
    reason = "SYNCYTE_FABRIC is off";
    return nullptr;
  }
  auto ucx = open_module(ucx_module, reason);
  if (!ucx) return nullptr;
  try {
    return std::make_shared<engine>(std::move(ucx), limits_of_environment(), tell_process);
  } catch (const std::exception& error) {
    reason = error.what();
    return nullptr;
  }
}

void end_engine() noexcept {
  const std::lock_guard turn(the_engine.opening);
  the_engine.reason = "Syncyte is finalised";
  std::shared_ptr<engine> ended;  // destroyed after the lock is released: its thread may take it
  {
    const std::lock_guard lock(the_engine.mutex);
    ended.swap(the_engine.running);
  }
}

}  // namespace

engine* process_engine(std::string& reason) {
  const std::lock_guard turn(the_engine.opening);
  if (!running_engine() && the_engine.reason.empty()) {
    auto made = open_engine(the_engine.reason);
    if (made) {
      runtime::call_after_end(end_engine);
      mpi::call_on_death(tell_engine);
    }
    const std::lock_guard lock(the_engine.mutex);
    the_engine.running = std::move(made);
  }
  reason = the_engine.reason;
  return running_engine().get();
}

}  // namespace syncyte::fabric
