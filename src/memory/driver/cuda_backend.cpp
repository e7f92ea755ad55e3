// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "memory/device.hpp"
#include "memory/driver/context.hpp"

namespace syncyte::memory {
namespace {

using driver::check;
using driver::device_scope;

CUdeviceptr address_of(const void* data) { return reinterpret_cast<CUdeviceptr>(data); }

class cuda final : public device_backend {
 public:
  int count() const noexcept override { return driver::count_devices(); }
  std::string why_none() const override { return driver::why_no_device(); }

  void* allocate(int device, std::size_t bytes) override {
    const device_scope on(device);
    CUdeviceptr made = 0;
    check(on->cuMemAlloc(&made, bytes), "cuMemAlloc");
    return reinterpret_cast<void*>(made);
  }

  void free(int device, void* data) noexcept override {
    try {
      const device_scope on(device);
      on->cuMemFree(address_of(data));
    } catch (const base::error&) {
      // a forked child does not own the memory; at the process' end the driver frees it
    }
  }

  std::size_t total_bytes(int device) override { return capacity(device).total; }
  std::size_t free_bytes(int device) override { return capacity(device).free; }

  void copy(const place& target, const place& source, std::size_t bytes, void* stream) override {
    if (bytes == 0) return;
    const device_scope on(target.memory == SYNCYTE_MEMORY_CUDA ? target.device : source.device);
    const auto queue = static_cast<CUstream>(stream);
    const CUdeviceptr to = address_of(target.data), from = address_of(source.data);
    if (target.memory == source.memory && target.device != source.device) {
      // A device may have no access to mapped memory of the other.
      const CUcontext of_target = driver::primary_context(target.device),
                      of_source = driver::primary_context(source.device);
      check(on->cuMemcpyPeerAsync(to, of_target, from, of_source, bytes, queue), "cuMemcpyPeerAsync");
    } else {
      check(on->cuMemcpyAsync(to, from, bytes, queue), "cuMemcpyAsync");
    }
    if (stream == nullptr) check(on->cuStreamSynchronize(nullptr), "cuStreamSynchronize");
  }

  void* create_stream(int device) override {
    const device_scope on(device);
    CUstream made = nullptr;
    check(on->cuStreamCreate(&made, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    return made;
  }

  void synchronize(int device, void* stream) override {
    const device_scope on(device);
    check(on->cuStreamSynchronize(static_cast<CUstream>(stream)), "cuStreamSynchronize");
  }

  bool finish(int device) noexcept override {
    try {
      const device_scope on(device);
      return on->cuCtxSynchronize() == CUDA_SUCCESS;
    } catch (const base::error&) {
      return false;
    }
  }

 private:
  struct bytes_of_device {
    std::size_t free = 0, total = 0;
  };

  static bytes_of_device capacity(int device) {
    const device_scope on(device);
    bytes_of_device found;
    check(on->cuMemGetInfo(&found.free, &found.total), "cuMemGetInfo");
    return found;
  }
};

}  // namespace

device_backend& cuda_backend() {
  static cuda backend;
  return backend;
}

}  // namespace syncyte::memory
