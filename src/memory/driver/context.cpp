// SPDX-License-Identifier: BSD-3-Clause
#include "memory/driver/context.hpp"

#include <type_traits>

#include "memory/per_device.hpp"

namespace syncyte::memory::driver {

CUcontext primary_context(int device) {
  static per_device<std::remove_pointer_t<CUcontext>> known;
  return known.get(device, [&](int number) {
    CUcontext made = nullptr;
    check(started().cuDevicePrimaryCtxRetain(&made, driver_number(number)), "cuDevicePrimaryCtxRetain");
    return made;
  });
}

CUdevice driver_number(int device) {
  CUdevice number = 0;
  check(started().cuDeviceGet(&number, device), "cuDeviceGet");
  return number;
}

device_scope::device_scope(int device) : cuda_(started()) {
  check(cuda_.cuCtxPushCurrent(primary_context(device)), "cuCtxPushCurrent");
  cuda_.cuThreadExchangeStreamCaptureMode(&mode_);
}

}  // namespace syncyte::memory::driver
