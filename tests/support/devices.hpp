// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "memory/device.hpp"
#include "memory/device_system.hpp"

namespace syncyte::test {

/// This rank of MPI_COMM_WORLD.
inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Devices that this rank sees, as the environment's SYNCYTE_TEST_DEVICES says: "one" is used by all ranks; of "each"
/// every rank uses one, and sees all; of "hidden" every rank sees its own one only, as with `srun --gpus-per-task=1`;
/// of "mixed" rank 0 sees all. Returns the rank's device, or -1 if there are none. Call it before the driver is used.
inline int device_of_rank() {
  static const int device = [] {
    const char* const variable = std::getenv("SYNCYTE_TEST_DEVICES");
    const std::string kind = variable == nullptr ? "one" : variable;
    const bool sees_one = kind == "hidden" || (kind == "mixed" && world_rank() > 0);
    if (sees_one) setenv("CUDA_VISIBLE_DEVICES", std::to_string(world_rank()).c_str(), 1);
    const int count = memory::cuda_backend().count();
    if (count == 0) return -1;
    return kind == "one" || sees_one ? 0 : world_rank() % count;
  }();
  return device;
}

/// An array on this rank's device.
template <class T>
class device_array {
 public:
  explicit device_array(std::vector<T> values, syncyte_dtype_t dtype, std::vector<std::int64_t> shape)
      : count_(values.size()),
        dtype_(dtype),
        shape_(std::move(shape)),
        data_(memory::acquire(count_ * sizeof(T) + 1, SYNCYTE_MEMORY_CUDA, device_of_rank())) {
    memory::copy({data_, SYNCYTE_MEMORY_CUDA, device_of_rank()}, {values.data(), SYNCYTE_MEMORY_HOST, 0},
                 count_ * sizeof(T));
  }
  ~device_array() { memory::release(data_); }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;

  syncyte_buffer_t buffer() const {
    syncyte_buffer_t result = base::make_buffer(data_, dtype_, shape_);
    result.memory = SYNCYTE_MEMORY_CUDA;
    result.device = device_of_rank();
    return result;
  }
  std::vector<T> read() const {
    std::vector<T> result(count_);
    memory::copy({result.data(), SYNCYTE_MEMORY_HOST, 0}, {data_, SYNCYTE_MEMORY_CUDA, device_of_rank()},
                 count_ * sizeof(T));
    return result;
  }

 private:
  std::size_t count_;
  syncyte_dtype_t dtype_;
  std::vector<std::int64_t> shape_;
  void* data_;
};

using count_resources = void (*)(std::size_t*, std::size_t*, std::size_t*);

/// The stand-in's function that counts; null with NVIDIA's driver.
inline count_resources counting_function() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<count_resources>(library == nullptr ? nullptr : dlsym(library, "standin_count"));
}

/// What this process has of the stand-in's: ranges, memory, mappings; zeros with NVIDIA's driver.
inline std::array<std::size_t, 3> device_resources() {
  std::array<std::size_t, 3> result{};
  if (const count_resources count = counting_function()) count(&result[0], &result[1], &result[2]);
  return result;
}

/// Ranges of host memory that this process has registered with the stand-in; 0 with NVIDIA's driver.
inline std::size_t registered_ranges() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto count =
      reinterpret_cast<std::size_t (*)()>(library == nullptr ? nullptr : dlsym(library, "standin_registered"));
  return count == nullptr ? 0 : count();
}

/// Sets the thread's stream while it lives.
class with_stream {
 public:
  explicit with_stream(void* stream) { memory::set_thread_stream(stream); }
  ~with_stream() { memory::set_thread_stream(nullptr); }
  with_stream(const with_stream&) = delete;
  with_stream& operator=(const with_stream&) = delete;
};

}  // namespace syncyte::test
