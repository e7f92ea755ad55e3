// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <span>

namespace syncyte::memory {

/// Host memory that is registered with the driver while devices use it, at the host's addresses. The destructor waits
/// for the work of these devices and ends the registration, which must be before the memory is unmapped. Thread-safe.
class host_registration {
 public:
  explicit host_registration(std::span<std::byte> memory) : memory_(memory) {}
  ~host_registration();
  host_registration(const host_registration&) = delete;
  host_registration& operator=(const host_registration&) = delete;

  /// Lets a device of this process read and write the memory. Throws SYNCYTE_ERR_UNSUPPORTED where it cannot, and with
  /// the driver's words if it refuses.
  void allow(int device);

 private:
  std::span<std::byte> memory_;
  std::mutex mutex_;  // guards the member below
  std::set<int> devices_;
};

}  // namespace syncyte::memory
