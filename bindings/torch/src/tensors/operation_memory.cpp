// SPDX-License-Identifier: BSD-3-Clause
#include "tensors/operation_memory.hpp"

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/slice.h>
#include <c10/core/ScalarType.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/accumulate.h>

#include "syncyte.h"

namespace syncyte::torch_binding {
namespace {

thread_local const operation_memory* of_this_thread = nullptr;

}  // namespace

void wait_for_stream(c10::Device device) {
  if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
}

operation_memory::operation_memory(c10::Device device, memory_kind kind, bool has_room)
    : device_(device), kind_(kind), has_room_(has_room) {
  of_this_thread = this;
}

operation_memory::~operation_memory() { of_this_thread = nullptr; }

const operation_memory* operation_memory::current() { return of_this_thread; }

at::Tensor operation_memory::empty(at::IntArrayRef sizes, at::ScalarType dtype) const {
  return kind_ == memory_kind::device ? empty_on_device(sizes, dtype) : empty_pinned(sizes, dtype);
}

at::Tensor operation_memory::empty_on_device(at::IntArrayRef sizes, at::ScalarType dtype) const {
  const auto room = has_room_ ? static_cast<std::int64_t>(SYNCYTE_MESSAGE_ROOM / c10::elementSize(dtype)) : 0;
  const std::int64_t count = c10::multiply_integers(sizes);
  const at::Tensor all = at::empty({room + count}, at::TensorOptions(dtype).device(device_));
  // The allocator may return memory that work on the stream, enqueued before it was freed, still uses.
  wait_for_stream(device_);
  return all.slice(0, room).view(sizes);
}

at::Tensor operation_memory::empty_pinned(at::IntArrayRef sizes, at::ScalarType dtype) const {
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::CPU);
  c10::Allocator* const allocator = at::globalContext().getPinnedMemoryAllocator(device_.type());
  return at::Tensor(at::detail::empty_generic(sizes, allocator, keys, dtype, std::nullopt));
}

}  // namespace syncyte::torch_binding
