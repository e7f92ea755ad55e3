// SPDX-License-Identifier: BSD-3-Clause
#include "memory/host_registration.hpp"

#include <algorithm>

#include "memory/device.hpp"
#include "memory/device_system.hpp"

namespace syncyte::memory {

host_registration::~host_registration() {
  if (devices_.empty()) return;
  // Otherwise kernels may still use it: the driver keeps the pages until the process ends.
  if (!std::ranges::all_of(devices_, [](int device) { return cuda_backend().finish(device); })) return;
  cuda_system().unregister_host(*devices_.begin(), memory_.data());
}

void host_registration::allow(int device) {
  const std::lock_guard lock(mutex_);
  if (memory_.empty() || devices_.contains(device)) return;
  device_system& system = cuda_system();
  system.require_host_addresses(device);
  if (devices_.empty()) system.register_host(device, memory_);
  devices_.insert(device);
}

}  // namespace syncyte::memory
