#include "pinned_memory.hpp"

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>

namespace syncyte::torch_binding {
namespace {

thread_local const pinned_memory* of_this_thread = nullptr;

}  // namespace

pinned_memory::pinned_memory(c10::DeviceType device) : device_(device) { of_this_thread = this; }

pinned_memory::~pinned_memory() { of_this_thread = nullptr; }

const pinned_memory* pinned_memory::current() { return of_this_thread; }

void pinned_memory::require_well() const {
  if (failure_) std::rethrow_exception(failure_);
}

at::Tensor pinned_memory::empty(at::IntArrayRef sizes, at::ScalarType dtype) const {
  require_well();
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::CPU);
  c10::Allocator* const allocator = at::globalContext().getPinnedMemoryAllocator(device_);
  return at::Tensor(at::detail::empty_generic(sizes, allocator, keys, dtype, std::nullopt));
}

}  // namespace syncyte::torch_binding
