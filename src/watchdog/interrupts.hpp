// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/error.hpp"

namespace syncyte::watchdog {

/// Returns non-zero if the application wants to end the wait in progress, because it has received a signal.
using interrupt_function = std::int32_t (*)(void* context);

/// Sets the function that long waits of the calling thread call. It replaces any other thread's; null removes it.
void set_interrupt_function(interrupt_function function, void* context);

/// Ends long waits of the calling thread that go on `seconds` from now; 0: none.
void set_wait_limit(double seconds);

/// Ends a wait with SYNCYTE_ERR_INTERRUPTED, on this rank only: because the function asks for it, or because the
/// thread's limit has passed.
class interrupted : public base::error {
 public:
  interrupted();
  explicit interrupted(double seconds);
};

/// base::error_of(), but an interrupt goes on: it ends the wait of the caller too.
template <class Step>
std::optional<base::error> error_of(Step&& step) {
  try {
    std::forward<Step>(step)();
    return std::nullopt;
  } catch (const interrupted&) {
    throw;
  } catch (...) {
    return base::current_error();
  }
}

/// Calls the function if this thread has set it; returns whether it wants to end the wait. Does nothing in waits inside
/// the function.
bool is_asked_to_end();
/// Throws interrupted if is_asked_to_end(), or if the thread's limit has passed.
void ask_for_interrupt();
/// While it lives, this thread's waits do not end by an interrupt. For short requests whose outcome must be known.
class without_interrupts {
 public:
  without_interrupts() noexcept;
  ~without_interrupts();
  without_interrupts(const without_interrupts&) = delete;
  without_interrupts& operator=(const without_interrupts&) = delete;

 private:
  bool could_ask_;
  std::int64_t deadline_ns_;
};

/// Ends this thread's next wait without a call of the function. To be called if the function asked to end a wait that
/// had ended before.
void postpone_interrupt();

}  // namespace syncyte::watchdog
