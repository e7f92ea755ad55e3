// SPDX-License-Identifier: BSD-3-Clause
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
#include "runtime/roots.hpp"

namespace syncyte::fabric {
namespace {

using base::settings::fabric_use;

struct opened_engine {
  std::mutex mutex;
  std::atomic<engine*> running{nullptr};
  std::string reason;  // why there is none; guarded by the mutex
};

// Leaked, with the engine: started operations may be asked after the end, and threads run while static objects are
// destroyed.
opened_engine& the_engine = *new opened_engine;

/// Tells the process of a death that the engine has found.
void tell_process(peer& dead) {
  if (dead.world_rank >= 0) mpi::declare_dead(dead.world_rank);
}

time_limits limits_of_environment() {
  const std::chrono::duration<double> seconds(base::environment_seconds(base::settings::fabric_deadline));
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

}  // namespace

bool is_drained() noexcept {
  engine* const running = the_engine.running;
  if (running == nullptr) return true;
  bool result = true;
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

bool is_off() { return base::environment_choice(base::settings::fabric) == fabric_use::off; }

bool opens_at_start() { return base::environment_choice(base::settings::fabric) == fabric_use::start; }

engine* process_engine(std::string& reason) {
  const std::lock_guard lock(the_engine.mutex);
  if (the_engine.running == nullptr && the_engine.reason.empty()) the_engine.running = open_engine(the_engine.reason);
  reason = the_engine.reason;
  return reason.empty() ? the_engine.running.load() : nullptr;
}

std::string reason_for_none() {
  std::string reason;
  return process_engine(reason) == nullptr ? reason : "another rank has none, or one of another version";
}

}  // namespace syncyte::fabric
