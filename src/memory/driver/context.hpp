// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "memory/driver/library.hpp"

namespace syncyte::memory::driver {

/// A number that the driver has for one of this process's devices.
CUdevice driver_number(int device);

/// A device's primary context, which CUDA's runtime and PyTorch use too. Never released: it ends with the process.
CUcontext primary_context(int device);

/// Makes a device's primary context current for this thread; the destructor restores the application's. Meanwhile this
/// thread may allocate, and wait for what is not captured, while streams are captured into graphs. Throws as started().
class device_scope {
 public:
  explicit device_scope(int device);
  ~device_scope() {
    cuda_.cuThreadExchangeStreamCaptureMode(&mode_);
    cuda_.cuCtxPopCurrent(nullptr);
  }
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

  const functions* operator->() const { return &cuda_; }

 private:
  const functions& cuda_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // then the application's
};

}  // namespace syncyte::memory::driver
