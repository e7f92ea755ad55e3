// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_runtime_api.h>

#include "base/error.hpp"
#include "memory/device.hpp"

namespace syncyte::memory {

namespace {

std::string text_of(cudaError_t code) {
  if (code == cudaErrorInitializationError)
    return "a process that is forked after its parent has used CUDA cannot use it";
  return fmt::format("{} ({})", cudaGetErrorString(code), cudaGetErrorName(code));
}

void check(cudaError_t code, const char* step) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // clears the error for the next caller
  const auto status = code == cudaErrorMemoryAllocation      ? SYNCYTE_ERR_MEMORY
                      : code == cudaErrorInvalidDevice       ? SYNCYTE_ERR_ARGUMENT
                      : code == cudaErrorNoDevice            ? SYNCYTE_ERR_UNSUPPORTED
                      : code == cudaErrorInsufficientDriver  ? SYNCYTE_ERR_UNSUPPORTED
                      : code == cudaErrorInitializationError ? SYNCYTE_ERR_UNSUPPORTED
                                                             : SYNCYTE_ERR_INTERNAL;
  base::fail(status, "CUDA: {} failed: {}", step, text_of(code));
}

/// Makes a device current for this thread; the destructor restores the application's device.
class device_scope {
 public:
  explicit device_scope(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (device != before_) check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~device_scope() { cudaSetDevice(before_); }
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  int before_ = 0;
};

cudaStream_t to_stream(void* stream) { return static_cast<cudaStream_t>(stream); }

void finish_if_default(void* stream) {
  if (stream == nullptr) check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

class cuda final : public device_backend {
 public:
  int count() const noexcept override {
    int result = 0;
    if (cudaGetDeviceCount(&result) == cudaSuccess) return result;
    cudaGetLastError();
    return 0;
  }

  std::string why_none() const override {
    int devices = 0;
    const cudaError_t code = cudaGetDeviceCount(&devices);
    cudaGetLastError();
    return text_of(code);
  }

  void* allocate(int device, std::size_t bytes) override {
    const device_scope scope(device);
    void* data = nullptr;
    check(cudaMalloc(&data, bytes), "cudaMalloc");
    return data;
  }

  void free(int device, void* data) noexcept override {
    try {
      const device_scope scope(device);
      cudaFree(data);
    } catch (const base::error&) {
      cudaGetLastError();  // the driver is shutting down, and its memory with it
    }
  }

  void copy(const place& target, const place& source, std::size_t bytes, void* stream) override {
    if (bytes == 0) return;
    const device_scope scope(target.memory == SYNCYTE_MEMORY_CUDA ? target.device : source.device);
    check(cudaMemcpyAsync(target.data, source.data, bytes, cudaMemcpyDefault, to_stream(stream)), "cudaMemcpyAsync");
    finish_if_default(stream);
  }

  void* create_stream(int device) override {
    const device_scope scope(device);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    return stream;
  }

  void synchronize(int device, void* stream) override {
    const device_scope scope(device);
    check(cudaStreamSynchronize(to_stream(stream)), "cudaStreamSynchronize");
  }
};

}  // namespace

device_backend& cuda_backend() {
  static cuda backend;
  return backend;
}

}  // namespace syncyte::memory
