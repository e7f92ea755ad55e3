// SPDX-License-Identifier: BSD-3-Clause
#include "memory/driver/context.hpp"

#include <type_traits>

#include "memory/per_device.hpp"

namespace syncyte::memory::driver {
namespace {

/// A device's primary context. Never released: it ends with the process.
CUcontext primary_context(const functions& cuda, int device) {
  static per_device<std::remove_pointer_t<CUcontext>> known;
  return known.get(device, [&](int number) {
    CUcontext made = nullptr;
    check(cuda.cuDevicePrimaryCtxRetain(&made, driver_number(number)), "cuDevicePrimaryCtxRetain");
    return made;
  });
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
