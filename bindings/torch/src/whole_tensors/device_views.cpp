// SPDX-License-Identifier: BSD-3-Clause
// torch.ops.syncyte.device_rows, device_cache and model_tensor: rows of a whole tensor, the bytes of a shared cache,
// and tensors of a model, as CUDA tensors, in place.

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <torch/library.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "syncyte/cache.hpp"
#include "syncyte/models.hpp"
#include "syncyte/tensor.hpp"
#include "tensors/buffers.hpp"
#include "tensors/handle_reference.hpp"

namespace syncyte::torch_binding {
namespace {

/// A tensor of device memory, which keeps the object that has it. `strides`: in elements; none: row-major.
template <class Owner>
at::Tensor view_of(void* data, at::IntArrayRef sizes, at::OptionalIntArrayRef strides, at::ScalarType type,
                   std::int64_t device, Owner owner) {
  const c10::Device where(c10::kCUDA, static_cast<c10::DeviceIndex>(device));
  return at::for_blob(data, sizes)
      .strides(strides)
      .deleter([owner = std::make_shared<Owner>(std::move(owner))](void*) mutable { owner.reset(); })
      .options(at::TensorOptions(type).device(where))
      .target_device(where)
      .make_tensor();
}

/// A view of this rank's rows, or of all of the node's, for kernels of a device. Its storage keeps the whole tensor's
/// memory.
at::Tensor device_rows(std::int64_t tensor, bool is_node, std::int64_t number) {
  auto whole = reference_to<syncyte::tensor>(tensor);
  syncyte_buffer_t view SYNCYTE_BUFFER_INIT;
  std::int64_t first_row = 0;
  check(is_node ? syncyte_tensor_node(whole.get(), &view, &first_row) : syncyte_tensor_local(whole.get(), &view));
  TORCH_CHECK_VALUE(number >= 0 && number <= INT8_MAX, "device is ", number, "; expected a device's number");
  if (view.memory != SYNCYTE_MEMORY_CUDA || number != view.device)
    check(syncyte_tensor_allow_device(whole.get(), static_cast<std::int32_t>(number)));
  const at::IntArrayRef sizes(view.shape, static_cast<std::size_t>(view.ndim));
  const at::ScalarType type = scalar_type_of(view.dtype);
  if (view.data == nullptr)
    return at::empty(sizes, at::TensorOptions(type).device(c10::kCUDA, static_cast<c10::DeviceIndex>(number)));
  return view_of(view.data, sizes, std::nullopt, type, number, std::move(whole));
}

/// All bytes of a cache.
at::Tensor device_cache(std::int64_t number) {
  auto held = reference_to<syncyte::cache>(number);
  const auto [where, bytes] = checked([&] { return std::pair(held.sizes(), held.data()); });
  TORCH_CHECK_VALUE(where.memory == memory_kind::cuda, "cache is in host memory; expected one in device memory");
  return view_of(bytes.data(), {static_cast<std::int64_t>(bytes.size())}, std::nullopt, at::kByte, where.device,
                 std::move(held));
}

/// A view of a model's tensor. Its storage keeps the model bound.
at::Tensor model_tensor(std::int64_t handle, std::int64_t number, bool has_memory) {
  auto held = reference_to<syncyte::model>(handle);
  const auto [found, info] = checked([&] { return std::pair(held.tensor(number), held.info()); });
  TORCH_CHECK_VALUE(info.memory == SYNCYTE_MEMORY_CUDA, "model is in host memory; expected one in device memory");
  const at::ScalarType type = scalar_type_of(found.dtype);
  const at::IntArrayRef sizes(found.shape, static_cast<std::size_t>(found.ndim));
  if (found.bytes == 0)
    return at::empty(sizes, at::TensorOptions(type).device(c10::kCUDA, static_cast<c10::DeviceIndex>(info.device)));
  std::vector<std::int64_t> strides(found.strides, found.strides + found.ndim);
  for (std::int64_t& stride : strides) stride /= static_cast<std::int64_t>(c10::elementSize(type));
  return view_of(has_memory ? found.data : nullptr, sizes, strides, type, info.device, std::move(held));
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  library.impl("device_rows", device_rows);
  library.impl("device_cache", device_cache);
  library.impl("model_tensor", model_tensor);
}

}  // namespace syncyte::torch_binding
