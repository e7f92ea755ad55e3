// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "devices.hpp"
#include "tensor_world.hpp"

namespace syncyte::test {

/// Whether the devices of each node can change each other's rows atomically.
inline bool can_add() {
  const char* const kind = std::getenv("SYNCYTE_TEST_DEVICES");
  return world().node().count == ranks() || kind == nullptr || std::string(kind) != "hidden";
}

class device_tensor : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device_of_rank() < 0) GTEST_SKIP() << "no CUDA device";
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

}  // namespace syncyte::test
