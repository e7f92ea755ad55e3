// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// A pretended CUDA backend for test programs, in place of the library's: two devices whose memory is host memory, so
// that any MPI accepts it. Tests see which buffers the core gives to MPI, and which it refuses.

#include <cstdlib>
#include <cstring>

#include "memory/device.hpp"

namespace syncyte::test {

class pretended_cuda final : public memory::device_backend {
 public:
  static inline int devices = 2;
  static inline int copies = 0;

  int count() const noexcept override { return devices; }
  std::string why_none() const override { return "the pretended driver is too old"; }
  void* allocate(int, std::size_t bytes) override { return std::malloc(bytes); }
  void free(int, void* data) noexcept override { std::free(data); }
  std::size_t total_bytes(int) override { return std::size_t{1} << 30; }
  std::size_t free_bytes(int device) override { return total_bytes(device); }
  void copy(const memory::place& target, const memory::place& source, std::size_t bytes, void*) override {
    ++copies;
    std::memcpy(target.data, source.data, bytes);
  }
  void* create_stream(int) override { return nullptr; }
  void synchronize(int, void*) override {}
  bool finish(int) noexcept override { return true; }
};

}  // namespace syncyte::test

namespace syncyte::memory {

device_backend& cuda_backend() {
  static test::pretended_cuda backend;
  return backend;
}

}  // namespace syncyte::memory
