// SPDX-License-Identifier: BSD-3-Clause
#include "watchdog/long_wait.hpp"

#include "watchdog/interrupts.hpp"
#include "watchdog/records.hpp"

namespace syncyte::watchdog {
namespace {

constexpr std::int64_t first_ns = 1'000'000;     // before the first extra work
constexpr std::int64_t pause_ns = 10'000'000;    // between two rounds of it
constexpr std::int64_t arrival_ns = 50'000'000;  // of a short message
constexpr unsigned polls_per_question = 10;      // the interrupt function may have to take a lock (Python's)

}  // namespace

bool long_wait::poll() {
  const std::int64_t now = watchdog::now_ns();
  if (begin_ns_ == 0) {
    begin_ns_ = now;
    next_ns_ = now + first_ns;
  }
  if (now < next_ns_) return false;
  next_ns_ = now + pause_ns;
  mpi::look_for_deaths();
  examine_deaths();
  examine(scope_);
  if (++polls_ % polls_per_question == 0) ask_for_interrupt();
  mpi::pause_polling();
  return true;
}

bool long_wait::has_lasted(std::size_t bytes) const {
  return next_ns_ - begin_ns_ > arrival_ns + static_cast<std::int64_t>(bytes) * 10;
}

void plain_wait::examine(std::optional<scope>& scope) {
  if (!scope) scope.emplace(operation_, title_, 0);
}

}  // namespace syncyte::watchdog
