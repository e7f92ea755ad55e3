#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceType.h>

#include <exception>

namespace syncyte::torch_binding {

/// While it lives, empty_from_pool() on this thread gives what a device copies from without the host waiting: pinned
/// memory, which torch's allocator keeps until such copies have ended.
class pinned_memory {
 public:
  explicit pinned_memory(c10::DeviceType device);
  ~pinned_memory();
  pinned_memory(const pinned_memory&) = delete;
  pinned_memory& operator=(const pinned_memory&) = delete;

  /// The one that lives on this thread, or null.
  static const pinned_memory* current();

  /// Uninitialised and contiguous.
  at::Tensor empty(at::IntArrayRef sizes, at::ScalarType dtype) const;

  /// Throws what fail() was told.
  void require_well() const;

  /// From now on empty() and require_well() throw this. An operation asks for its result's memory where it can still
  /// tell other ranks what went wrong here, so that they learn of what went wrong before it began.
  void fail(std::exception_ptr why) { failure_ = std::move(why); }

 private:
  c10::DeviceType device_;
  std::exception_ptr failure_;
};

}  // namespace syncyte::torch_binding
