// SPDX-License-Identifier: BSD-3-Clause
#include "atomics/holder_wait.hpp"

#include <fmt/format.h>

#include "watchdog/interrupts.hpp"

namespace syncyte::atomics {

bool holder_wait::pause(std::uint64_t seen) {
  if (seen != watched_) {
    watched_ = seen;
    pauses_ = backoff();
  }
  pauses_.pause();
  if (!pauses_.is_time_to_poll()) return false;
  if (!shown_) shown_.emplace(fmt::format("lock of {}", what_).c_str(), owner_, number_);
  return true;
}

void holder_wait::poll_for_interrupt() {
  constexpr unsigned polls_per_question = 100;  // the function may have to take a lock (Python's)
  if (++polls_ % polls_per_question == 0) watchdog::ask_for_interrupt();
}

}  // namespace syncyte::atomics
