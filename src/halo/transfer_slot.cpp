// SPDX-License-Identifier: BSD-3-Clause
#include "halo/transfer_slot.hpp"

#include <utility>

#include "base/error.hpp"

namespace syncyte::halo {

void transfer_slot::hold() {
  if (!busy_.test_and_set(std::memory_order_acquire)) return;
  if (is_broken_) base::fail(SYNCYTE_ERR_BUSY, "an exchange of this {} has failed half-way; make a new one", noun_);
  base::fail(SYNCYTE_ERR_BUSY, "an exchange of this {} is in flight; wait for it, or make another {}", noun_, noun_);
}

void transfer_slot::take() {
  hold();
  ++count_;
}

void transfer_slot::give_back() {
  if (!is_broken_) busy_.clear(std::memory_order_release);
}

bool transfer_slot::set_step(std::function<void()> step) {
  return static_cast<bool>(std::exchange(step_, std::move(step)));
}

void transfer_slot::progress() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !step_) return;
  const auto step = step_;  // a copy: the last step calls set_step(nullptr), which destroys step_'s function
  step();
}

}  // namespace syncyte::halo
