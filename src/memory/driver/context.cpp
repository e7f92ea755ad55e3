// SPDX-License-Identifier: BSD-3-Clause
#include "memory/driver/context.hpp"

#include <map>
#include <mutex>

namespace syncyte::memory::driver {
namespace {

/// A device's primary context. Never released: it ends with the process.
CUcontext primary_context(const functions& cuda, int device) {
  static std::mutex mutex;
  static std::map<int, CUcontext> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(device);
  if (found != known.end()) return found->second;
  CUcontext made = nullptr;
  check(cuda.cuDevicePrimaryCtxRetain(&made, driver_number(device)), "cuDevicePrimaryCtxRetain");
  return known[device] = made;
}

}  // namespace

CUdevice driver_number(int device) {
  CUdevice number = 0;
  check(started().cuDeviceGet(&number, device), "cuDeviceGet");
  return number;
}

device_scope::device_scope(int device) : cuda_(started()) {
  check(cuda_.cuCtxPushCurrent(primary_context(cuda_, device)), "cuCtxPushCurrent");
}

}  // namespace syncyte::memory::driver
