#include "watchdog/interrupts.hpp"

#include <mutex>
#include <thread>

namespace syncyte::watchdog {
namespace {

struct asked_function {
  std::mutex mutex;
  interrupt_function function = nullptr;
  void* context = nullptr;
  std::thread::id thread;
};

asked_function& asked() {
  static auto* const the_function = new asked_function;  // leaked: other threads may use it during exit
  return *the_function;
}

thread_local bool may_ask = false;

/// The interrupt function, if this thread has set it; otherwise null.
interrupt_function function_of_this_thread(void*& context) {
  const std::lock_guard lock(asked().mutex);
  context = asked().context;
  return asked().thread == std::this_thread::get_id() ? asked().function : nullptr;
}

}  // namespace

interrupted::interrupted() : base::error(SYNCYTE_ERR_INTERRUPTED, "the application has ended this wait (a signal)") {}

void set_interrupt_function(interrupt_function function, void* context) {
  const std::lock_guard lock(asked().mutex);
  asked().function = function;
  asked().context = context;
  asked().thread = std::this_thread::get_id();
  may_ask = function != nullptr;
}

bool can_be_interrupted() noexcept { return may_ask; }

void ask_for_interrupt() {
  if (!may_ask) return;
  void* context = nullptr;
  const interrupt_function function = function_of_this_thread(context);
  if (function == nullptr) return;
  may_ask = false;  // waits inside the function do not call it again
  const bool ends = function(context) != 0;
  may_ask = true;
  if (ends) throw interrupted();
}

}  // namespace syncyte::watchdog
