// SPDX-License-Identifier: BSD-3-Clause
#include "access/owners_transfer.hpp"

#include "watchdog/interrupts.hpp"

namespace syncyte::access {

bool owners_transfer::test() {
  bool has_ended = false;
  try {
    has_ended = running_.test();
  } catch (...) {
    throw_error();
    throw;
  }
  if (has_ended) throw_error();
  return has_ended;
}

void owners_transfer::wait() {
  try {
    ranks_->wait(operation_, running_);
  } catch (const watchdog::interrupted&) {
    throw;
  } catch (...) {
    bool has_ended = true;
    base::error_of([&] { has_ended = running_.test(); });  // throws once it has ended
    if (has_ended) throw_error();
    throw;
  }
  throw_error();
}

bool owners_transfer::add_last_step(last_step& step) {
  operation_ = step.operation;
  running_.add_last(step.owner, *sources_.emplace_back(std::move(step.source)));
  return true;
}

}  // namespace syncyte::access
