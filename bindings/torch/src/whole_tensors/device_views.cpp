// SPDX-License-Identifier: BSD-3-Clause
// torch.ops.syncyte.device_rows and model_tensor: rows of a whole tensor, and tensors of a model, in device memory, in
// place.

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <torch/library.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "syncyte/models.hpp"
#include "syncyte/tensor.hpp"
#include "tensors/buffers.hpp"
#include "tensors/handle_reference.hpp"

namespace syncyte::torch_binding {
namespace {

/// A view of this rank's rows, or of all of the node's. Its storage keeps the whole tensor's memory.
at::Tensor device_rows(std::int64_t tensor, bool is_node, std::int64_t number) {
  auto whole = std::make_shared<syncyte::tensor>(reference_to<syncyte::tensor>(tensor));
  syncyte_buffer_t view SYNCYTE_BUFFER_INIT;
  std::int64_t first_row = 0;
  check(is_node ? syncyte_tensor_node(whole->get(), &view, &first_row) : syncyte_tensor_local(whole->get(), &view));
  TORCH_CHECK_VALUE(view.memory == SYNCYTE_MEMORY_CUDA, "tensor is in host memory; expected one in device memory");
  TORCH_CHECK_VALUE(number >= 0 && number <= INT8_MAX, "device is ", number, "; expected a device's number");
  if (number != view.device) check(syncyte_tensor_allow_device(whole->get(), static_cast<std::int32_t>(number)));
  const c10::Device device(c10::kCUDA, static_cast<c10::DeviceIndex>(number));
  const at::IntArrayRef sizes(view.shape, static_cast<std::size_t>(view.ndim));
  const auto options = at::TensorOptions(scalar_type_of(view.dtype)).device(device);
  if (view.data == nullptr) return at::empty(sizes, options);
  return at::for_blob(view.data, sizes)
      .deleter([whole](void*) mutable { whole.reset(); })
      .options(options)
      .target_device(device)
      .make_tensor();
}

/// A view of a model's tensor. Its storage keeps the model bound.
at::Tensor model_tensor(std::int64_t handle, std::int64_t number, bool has_memory) {
  auto model = std::make_shared<syncyte::model>(reference_to<syncyte::model>(handle));
  const syncyte_model_tensor_t found = model->tensor(number);
  const syncyte_model_info_t info = model->info();
  TORCH_CHECK_VALUE(info.memory == SYNCYTE_MEMORY_CUDA, "model is in host memory; expected one in device memory");
  const c10::Device device(c10::kCUDA, static_cast<c10::DeviceIndex>(info.device));
  const auto options = at::TensorOptions(scalar_type_of(found.dtype)).device(device);
  const auto element_bytes = static_cast<std::int64_t>(options.dtype().itemsize());
  const at::IntArrayRef sizes(found.shape, static_cast<std::size_t>(found.ndim));
  std::vector<std::int64_t> strides(found.strides, found.strides + found.ndim);
  for (std::int64_t& stride : strides) stride /= element_bytes;
  if (found.bytes == 0) return at::empty(sizes, options);
  return at::for_blob(has_memory ? found.data : nullptr, sizes)
      .strides(strides)
      .deleter([model](void*) mutable { model.reset(); })
      .options(options)
      .target_device(device)
      .make_tensor();
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  library.impl("device_rows", device_rows);
  library.impl("model_tensor", model_tensor);
}

}  // namespace syncyte::torch_binding
