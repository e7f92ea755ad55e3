// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "memory/device.hpp"
#include "tensor_world.hpp"

namespace syncyte::test {

/// Devices that this rank sees, as the environment's SYNCYTE_TEST_DEVICES says: "one" is used by all ranks; of "each"
/// every rank uses one, and sees all; of "hidden" every rank sees its own one only, as with `srun --gpus-per-task=1`;
/// of "mixed" rank 0 sees all. Returns the rank's device, or -1 if there are none. Call it before the driver is used.
inline int device_of_rank() {
  static const int device = [] {
    const char* const variable = std::getenv("SYNCYTE_TEST_DEVICES");
    const std::string kind = variable == nullptr ? "one" : variable;
    const bool sees_one = kind == "hidden" || (kind == "mixed" && rank() > 0);
    if (sees_one) setenv("CUDA_VISIBLE_DEVICES", std::to_string(rank()).c_str(), 1);
    const int count = memory::cuda_backend().count();
    if (count == 0) return -1;
    return kind == "one" || sees_one ? 0 : rank() % count;
  }();
  return device;
}

/// Whether devices can change rows of all ranks atomically.
inline bool can_add() {
  const char* const kind = std::getenv("SYNCYTE_TEST_DEVICES");
  return ranks() == 1 || kind == nullptr || std::string(kind) != "hidden";
}

class device_tensor : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device_of_rank() < 0) GTEST_SKIP() << "no CUDA device";
    if (!on_one_node()) GTEST_SKIP() << "ranks do not share memory";
  }
};

inline tensor::tensor_options device_options(std::int64_t local_rows = -1) {
  tensor::tensor_options options;
  options.name = "on devices";
  options.memory = SYNCYTE_MEMORY_CUDA;
  options.device = device_of_rank();
  options.local_rows = local_rows;
  return options;
}

inline tensor_pointer make_device_tensor(syncyte_dtype_t dtype, const extents& shape,
                                         const reference::lengths& parts = {}) {
  return tensor::whole_tensor::create(shared_world(), dtype, static_cast<std::int32_t>(shape.size()), shape.data(),
                                      device_options(parts.empty() ? -1 : parts[static_cast<std::size_t>(rank())]));
}

/// An array on this rank's device.
template <class T>
class device_array {
 public:
  explicit device_array(std::vector<T> values, syncyte_dtype_t dtype, extents shape)
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
  extents shape_;
  void* data_;
};

inline device_array<std::int64_t> index_on_device(const std::vector<std::int64_t>& rows) {
  return device_array<std::int64_t>(rows, SYNCYTE_INT64, {std::ssize(rows)});
}

/// Writes this rank's rows of a tensor.
template <class T>
void write_local(tensor::whole_tensor& tensor, const std::vector<T>& values) {
  const syncyte_buffer_t view = tensor.local();
  memory::copy({view.data, view.memory, view.device}, {const_cast<T*>(values.data()), SYNCYTE_MEMORY_HOST, 0},
               values.size() * sizeof(T));
}

/// Runs a row operation with values on the device, and returns them as they are afterwards.
template <class Operation, class T>
std::vector<T> run_rows(tensor::whole_tensor& tensor, const std::vector<std::int64_t>& rows,
                        const std::vector<T>& values) {
  extents shape(tensor.layout().shape().begin(), tensor.layout().shape().end());
  shape[0] = std::ssize(rows);
  const device_array<T> packed(values, tensor.layout().dtype(), shape);
  const auto index = index_on_device(rows);
  const syncyte_buffer_t list = index.buffer(), array = packed.buffer();
  run<Operation>(tensor, &list, &array);
  return packed.read();
}

template <class T>
std::vector<T> gathered(tensor::whole_tensor& tensor, const std::vector<std::int64_t>& rows) {
  return run_rows<tensor::gather>(
      tensor, rows, std::vector<T>(rows.size() * static_cast<std::size_t>(tensor.layout().row_elements())));
}

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

/// Sets the thread's stream while it lives.
class with_stream {
 public:
  explicit with_stream(void* stream) { memory::set_thread_stream(stream); }
  ~with_stream() { memory::set_thread_stream(nullptr); }
  with_stream(const with_stream&) = delete;
  with_stream& operator=(const with_stream&) = delete;
};

}  // namespace syncyte::test
