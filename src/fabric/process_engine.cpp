#include "fabric/process_engine.hpp"

#include <exception>
#include <memory>
#include <mutex>

#include "base/environment.hpp"
#include "fabric/module.hpp"
#include "runtime/runtime.hpp"

namespace syncyte::fabric {
namespace {

struct opened_engine {
  std::mutex mutex;
  std::unique_ptr<engine> running;
  std::string reason;  // why there is none
};

opened_engine& the_engine = *new opened_engine;  // leaked: its thread runs while static objects are destroyed

std::unique_ptr<engine> open_engine(std::string& reason) {
  if (base::environment_choice("SYNCYTE_FABRIC", {"on", "off"}, 0) == 1) {
    reason = "SYNCYTE_FABRIC is off";
    return nullptr;
  }
  auto ucx = open_module(ucx_module, reason);
  if (!ucx) return nullptr;
  try {
    return std::make_unique<engine>(std::move(ucx));
  } catch (const std::exception& error) {
    reason = error.what();
    return nullptr;
  }
}

void end_engine() noexcept {
  const std::lock_guard lock(the_engine.mutex);
  the_engine.running.reset();
  the_engine.reason = "Syncyte is finalised";
}

}  // namespace

engine* process_engine(std::string& reason) {
  const std::lock_guard lock(the_engine.mutex);
  if (!the_engine.running && the_engine.reason.empty()) {
    the_engine.running = open_engine(the_engine.reason);
    if (the_engine.running) runtime::call_after_end(end_engine);
  }
  reason = the_engine.reason;
  return the_engine.running.get();
}

}  // namespace syncyte::fabric
