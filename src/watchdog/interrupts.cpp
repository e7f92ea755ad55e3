// SPDX-License-Identifier: BSD-3-Clause
#include "watchdog/interrupts.hpp"

#include <mutex>
#include <thread>
#include <utility>

#include "watchdog/records.hpp"

namespace syncyte::watchdog {
namespace {

struct asked_function {
  std::mutex mutex;
  interrupt_function function = nullptr;
  void* context = nullptr;
  std::thread::id thread;
};

asked_function& asked = *new asked_function;  // leaked: other threads may use it during exit

thread_local bool may_ask = false;
thread_local bool is_postponed = false;
thread_local double limit_seconds = 0.0;
thread_local std::int64_t deadline_ns = 0;  // 0: none

}  // namespace

interrupted::interrupted() : base::error(SYNCYTE_ERR_INTERRUPTED, "the application has ended this wait (a signal)") {}

interrupted::interrupted(double seconds)
    : base::error(SYNCYTE_ERR_INTERRUPTED, fmt::format("the wait has not ended within its timeout of {} s", seconds)) {}

void set_interrupt_function(interrupt_function function, void* context) {
  const std::lock_guard lock(asked.mutex);
  asked.function = function;
  asked.context = context;
  asked.thread = std::this_thread::get_id();
  may_ask = function != nullptr;
  is_postponed = false;
}

void set_wait_limit(double seconds) {
  base::expect(seconds >= 0.0 && seconds <= 1e9, SYNCYTE_ERR_ARGUMENT, "seconds", seconds, "0 to 1e9");
  limit_seconds = seconds;
  deadline_ns = seconds > 0.0 ? now_ns() + static_cast<std::int64_t>(seconds * 1e9) : 0;
}

bool is_asked_to_end() {
  if (!may_ask) return false;
  std::unique_lock lock(asked.mutex);
  const auto [function, context] = std::pair(asked.function, asked.context);
  if (function == nullptr || asked.thread != std::this_thread::get_id()) return false;
  lock.unlock();
  if (std::exchange(is_postponed, false)) return true;
  const without_interrupts inside_the_function;
  return function(context) != 0;
}

without_interrupts::without_interrupts() noexcept
    : could_ask_(std::exchange(may_ask, false)), deadline_ns_(std::exchange(deadline_ns, 0)) {}

without_interrupts::~without_interrupts() {
  may_ask = could_ask_;
  deadline_ns = deadline_ns_;
}

void ask_for_interrupt() {
  if (is_asked_to_end()) throw interrupted();
  if (deadline_ns != 0 && now_ns() > deadline_ns) throw interrupted(limit_seconds);
}

void postpone_interrupt() { is_postponed = true; }

}  // namespace syncyte::watchdog
