// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "base/error.hpp"

namespace syncyte::memory {

/// A pointer for each device, made when it is first asked for; later calls take no lock. Thread-safe.
template <class T>
class per_device {
 public:
  /// The pointer; make(device) makes it.
  template <class Make>
  T* get(int device, Make make) {
    base::require(device >= 0 && device < most, SYNCYTE_ERR_UNSUPPORTED, "CUDA: device {}, of which {} can be used",
                  device, most);
    std::atomic<T*>& slot = slots_[static_cast<std::size_t>(device)];
    if (T* const known = slot.load(std::memory_order_acquire)) return known;
    const std::lock_guard lock(mutex_);
    if (slot == nullptr) slot = make(device);
    return slot;
  }

  /// Calls a function with each pointer that was made.
  template <class Use>
  void for_each(Use use) const {
    for (const auto& slot : slots_)
      if (T* const made = slot.load(std::memory_order_acquire)) use(*made);
  }

 private:
  static constexpr int most = 64;
  std::mutex mutex_;
  std::array<std::atomic<T*>, most> slots_{};
};

}  // namespace syncyte::memory
