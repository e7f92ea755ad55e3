// SPDX-License-Identifier: BSD-3-Clause
// Registers a pretended device with torch (PrivateUse1). Its memory is host memory, and its streams run nothing until a
// caller waits for them. Operators run on the CPU. Tests query and control the device by torch.ops.pretend.

#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include "memory.hpp"
#include "streams.hpp"

namespace pretend {
namespace {

class guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return pretend::type; }
  c10::Device exchangeDevice(c10::Device device) const override {
    return {pretend::type, exchange_device(device.index() < 0 ? current_device() : device.index())};
  }
  c10::Device getDevice() const override { return {pretend::type, current_device()}; }
  void setDevice(c10::Device device) const override { exchangeDevice(device); }
  void uncheckedSetDevice(c10::Device device) const noexcept override { exchangeDevice(device); }
  c10::Stream getStream(c10::Device device) const override { return current_stream(device.index()); }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, {pretend::type, device.index() < 0 ? current_device() : device.index()});
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override { return new_stream(device.index()); }
  c10::Stream getNewStream(c10::Device device, int) const override { return new_stream(device.index()); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return exchange_stream(stream); }
  c10::DeviceIndex deviceCount() const noexcept override { return devices; }
  // record() runs everything that was enqueued before the event, so every event is complete.
  void record(void**, const c10::Stream& stream, const c10::DeviceIndex, const c10::EventFlag) const override {
    finish(stream);
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
  bool queryStream(const c10::Stream& stream) const override { return is_finished(stream); }
  void synchronizeStream(const c10::Stream& stream) const override { finish(stream); }
  void synchronizeDevice(const c10::DeviceIndex) const override { finish_all(); }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, guard)

class hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return devices; }
  c10::DeviceIndex getCurrentDevice() const override { return current_device(); }
  void setCurrentDevice(c10::DeviceIndex device) const override { exchange_device(device); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override { return exchange_device(device); }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override { return exchange_device(device); }
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  at::Allocator* getPinnedMemoryAllocator() const override { return &pinned_memory(); }
};

[[maybe_unused]] const bool is_registered = [] {
  at::RegisterPrivateUse1HooksInterface(new hooks);
  c10::SetAllocator(pretend::type, &device_memory());
  return true;
}();

// ---- Tensors ----

at::Tensor empty(at::IntArrayRef sizes, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                 std::optional<at::Device> device, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  const c10::OptionalDeviceGuard on(device);
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return at::detail::empty_generic(sizes, &device_memory(), keys, c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>) {
  const c10::OptionalDeviceGuard on(device);
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return at::detail::empty_strided_generic(sizes, strides, &device_memory(), keys, c10::dtype_or_default(dtype));
}

/// A CPU tensor on the same memory, which it keeps alive.
at::Tensor on_host(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  at::Tensor result = at::from_blob(
      const_cast<void*>(tensor.const_data_ptr()), tensor.sizes(), tensor.strides(), [tensor](void*) {},
      at::TensorOptions(tensor.dtype()));
  result._set_conj(tensor.is_conj());
  result._set_neg(tensor.is_neg());
  return result;
}

std::int64_t copies_that_waited = 0;
std::int64_t copies_to_host = 0;
std::int64_t copies_to_device = 0;

/// Copies as CUDA does: the host waits, unless the copy is non-blocking and the host's memory is pinned.
at::Tensor copy_from(const at::Tensor& source, const at::Tensor& target, bool non_blocking) {
  const at::Tensor& here = source.is_cpu() ? target : source;
  const at::Tensor& there = source.is_cpu() ? source : target;
  const bool waits = there.is_cpu() && !(non_blocking && is_pinned(there.const_data_ptr()));
  if (there.is_cpu()) ++(source.is_cpu() ? copies_to_device : copies_to_host);
  if (waits) ++copies_that_waited;
  const c10::Stream stream = current_stream(here.get_device());
  enqueue(stream, [from = on_host(source), to = on_host(target)] {
    const at::NoGradGuard no_grad;
    to.copy_(from);
  });
  if (waits) finish(stream);
  return target;
}

at::Tensor& fill(at::Tensor& tensor, const at::Scalar& value) {
  enqueue(current_stream(tensor.get_device()), [to = on_host(tensor), value] { to.fill_(value); });
  return tensor;
}

at::Tensor copy_from_and_resize(const at::Tensor& source, const at::Tensor& target) {
  if (source.sizes() != target.sizes()) {
    const at::Tensor grown = at::empty(source.sizes(), target.options());
    target.unsafeGetTensorImpl()->set_storage_keep_dtype(grown.storage());
    target.unsafeGetTensorImpl()->set_sizes_contiguous(source.sizes());
  }
  return copy_from(source, target, false);
}

at::Scalar local_scalar_dense(const at::Tensor& tensor) { return tensor.cpu().item(); }

at::Tensor view(const at::Tensor& tensor, at::IntArrayRef sizes) { return at::native::view(tensor, sizes); }

at::Tensor as_strided(const at::Tensor& tensor, at::IntArrayRef sizes, at::IntArrayRef strides,
                      std::optional<std::int64_t> offset) {
  return at::native::as_strided_tensorimpl(tensor, sizes, strides, offset);
}

at::Tensor reshape_alias(const at::Tensor& tensor, at::IntArrayRef sizes, at::IntArrayRef strides) {
  return at::native::as_strided_tensorimpl(tensor, sizes, strides, tensor.storage_offset());
}

void on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) { at::native::cpu_fallback(op, stack); }

}  // namespace
}  // namespace pretend

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", pretend::empty);
  library.impl("empty_strided", pretend::empty_strided);
  library.impl("_copy_from", pretend::copy_from);
  library.impl("_copy_from_and_resize", pretend::copy_from_and_resize);
  library.impl("fill_.Scalar", pretend::fill);
  library.impl("_local_scalar_dense", pretend::local_scalar_dense);
  library.impl("view", pretend::view);
  library.impl("as_strided", pretend::as_strided);
  library.impl("_reshape_alias", pretend::reshape_alias);
}

// on_host() sets the conjugate and negative bits.
TORCH_LIBRARY_IMPL(aten, Conjugate, library) { library.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, Negative, library) { library.impl("_copy_from", torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&pretend::on_cpu>());
}

TORCH_LIBRARY(pretend, library) {
  // Numbers of copies to the host, to the device, and of copies for which the host waited.
  library.def("copies() -> int[]", [] {
    return std::vector<std::int64_t>{pretend::copies_to_host, pretend::copies_to_device, pretend::copies_that_waited};
  });
  library.def("is_finished(int device) -> bool", [](std::int64_t device) {
    return pretend::is_finished(pretend::current_stream(static_cast<c10::DeviceIndex>(device)));
  });
  library.def("queued(int device) -> int", [](std::int64_t device) {
    return pretend::queued(pretend::current_stream(static_cast<c10::DeviceIndex>(device)));
  });
  library.def("finish() -> ()", pretend::finish_all);
  library.def("allocated() -> int", pretend::allocated);
  library.def("fail_pinned(int n) -> ()", pretend::fail_pinned);
  library.def("fail_device(int n) -> ()", pretend::fail_device);
  // Makes a new stream of a device the current one; returns the previous stream, for use_stream.
  library.def("use_new_stream(int device) -> int", [](std::int64_t device) {
    return std::int64_t{pretend::exchange_stream(pretend::new_stream(static_cast<c10::DeviceIndex>(device))).id()};
  });
  library.def("use_stream(int device, int id) -> ()", [](std::int64_t device, std::int64_t id) {
    const c10::Device where(pretend::type, static_cast<c10::DeviceIndex>(device));
    pretend::exchange_stream(c10::Stream(c10::Stream::UNSAFE, where, id));
  });
}
