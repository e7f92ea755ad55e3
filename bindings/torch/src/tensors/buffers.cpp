// SPDX-License-Identifier: BSD-3-Clause
#include "tensors/buffers.hpp"

#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>

#include <utility>

#include "syncyte/element_types.h"
#include "tensors/operation_memory.hpp"

namespace syncyte::torch_binding {
namespace {

constexpr std::pair<at::ScalarType, syncyte_dtype_t> dtypes[] = {
#define SYNCYTE_TORCH_TYPE(constant, name, type, mpi_type, scalar_type, ...) {at::k##scalar_type, SYNCYTE_##constant},
    SYNCYTE_ELEMENT_TYPES(SYNCYTE_TORCH_TYPE)
#undef SYNCYTE_TORCH_TYPE
};

syncyte_dtype_t dtype_of(at::ScalarType type) {
  for (const auto& [known, dtype] : dtypes)
    if (known == type) return dtype;
  return 0;  // refused by the C function, so that a collective fails on all ranks
}

/// Describes a tensor, except for the address. A wrong type or shape is no error here: the C function that gets the
/// buffer passes it to all ranks.
syncyte_buffer_t described(const at::Tensor& tensor, syncyte_buffer_t result) {
  result.dtype = dtype_of(tensor.scalar_type());
  // More dimensions than a buffer has are refused by the C function; contiguous ones can be seen as one.
  result.ndim = tensor.dim() > SYNCYTE_MAX_NDIM ? 1 : static_cast<std::int32_t>(tensor.dim());
  const auto element = static_cast<std::int64_t>(tensor.element_size());
  for (int i = 0; i < result.ndim; ++i) {
    result.shape[i] = tensor.dim() > SYNCYTE_MAX_NDIM ? tensor.numel() : tensor.size(i);
    result.strides[i] = tensor.dim() > SYNCYTE_MAX_NDIM ? element : tensor.stride(i) * element;
  }
  result.memory = tensor.is_cuda() ? SYNCYTE_MEMORY_CUDA : SYNCYTE_MEMORY_HOST;
  result.device = tensor.is_cuda() ? tensor.get_device() : 0;
  return result;
}

void give_back(void* data) { syncyte_memory_free(data); }

/// Syncyte's pool of host buffers as torch sees it.
class pool_allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* data = nullptr;
    check(syncyte_memory_allocate(static_cast<std::int64_t>(bytes), SYNCYTE_MEMORY_HOST, 0, &data));
    return {data, data, &give_back, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* target, const void* source, std::size_t bytes) const override {
    default_copy_data(target, source, bytes);
  }
};

/// Raises what a signal handler of Python has raised. The operator's kernel is in Python: what that raises passes
/// through C++, autograd's engine included, as it is. Returns in a process without Python, and in other threads than
/// the main one, in which handlers run.
void raise_interruption() {
  const auto found = c10::Dispatcher::singleton().findSchemaOrThrow("syncyte::raise_interruption", "");
  if (found.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd)) found.typed<void()>().call();
}

}  // namespace

at::Tensor movable(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const bool is_lacking = dtype_of(tensor.scalar_type()) == 0 && tensor.element_size() == 1 && !tensor.is_quantized();
  return is_lacking ? tensor.view(at::kByte) : tensor;
}

at::ScalarType scalar_type_of(syncyte_dtype_t dtype) {
  for (const auto& [type, known] : dtypes)
    if (known == dtype) return type;
  TORCH_CHECK_TYPE(false, "dtype is ", dtype, "; expected one of torch's");
}

const_buffer const_buffer_of(const at::Tensor& tensor) {
  return const_buffer(described(tensor, *const_buffer(tensor.const_data_ptr(), dtype::uint8, {}).get()));
}

buffer buffer_of(const at::Tensor& tensor) {
  syncyte_buffer_t result SYNCYTE_BUFFER_INIT;
  result.data = tensor.mutable_data_ptr();
  return buffer(described(tensor, result));
}

at::Tensor empty_from_pool(at::IntArrayRef sizes, at::ScalarType dtype) {
  if (const operation_memory* const other = operation_memory::current()) return other->empty(sizes, dtype);
  static auto* const allocator = new pool_allocator;  // leaked: tensors may outlive static objects
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::CPU);
  return at::Tensor(at::detail::empty_generic(sizes, allocator, keys, dtype, std::nullopt));
}

at::Tensor copy_to_pool(const at::Tensor& source) {
  if (operation_memory::current() != nullptr) return source.contiguous();
  return empty_from_pool(source.sizes(), source.scalar_type()).copy_(source);
}

void check(syncyte_status_t status) {
  if (status != SYNCYTE_SUCCESS) [[unlikely]]
    throw_error(status, syncyte_last_error());
}

void throw_error(syncyte_status_t status, const std::string& message) {
  switch (status) {
    case SYNCYTE_ERR_INDEX:
      TORCH_CHECK_INDEX(false, message);
    case SYNCYTE_ERR_TYPE:
      TORCH_CHECK_TYPE(false, message);
    case SYNCYTE_ERR_ARGUMENT:
    case SYNCYTE_ERR_SHAPE:
    case SYNCYTE_ERR_MISMATCH:
      TORCH_CHECK_VALUE(false, message);
    case SYNCYTE_ERR_UNSUPPORTED:
      TORCH_CHECK_NOT_IMPLEMENTED(false, message);
    case SYNCYTE_ERR_INTERRUPTED:
      raise_interruption();
      [[fallthrough]];
    default:
      TORCH_CHECK(false, message);
  }
}

}  // namespace syncyte::torch_binding
