// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace syncyte::torch_binding {

/// Waits for work that is enqueued on a device's current stream; returns at once for the CPU.
void wait_for_stream(c10::Device device);

/// The memory that MPI reads and writes for an operation on a device's tensors.
enum class memory_kind {
  pinned_host,  ///< a device copies from and to it without the host waiting
  device
};

/// While it lives, empty_from_pool() on this thread gives memory for such an operation. torch's allocators keep it
/// until copies that are enqueued have ended.
class operation_memory {
 public:
  /// `has_room`: the device's own memory has SYNCYTE_MESSAGE_ROOM in front of its elements.
  operation_memory(c10::Device device, memory_kind kind, bool has_room);
  ~operation_memory();
  operation_memory(const operation_memory&) = delete;
  operation_memory& operator=(const operation_memory&) = delete;

  /// The operation_memory of this thread, or null.
  static const operation_memory* current();

  /// Uninitialized and contiguous. No enqueued work uses a device's memory any longer: MPI may write to it.
  at::Tensor empty(at::IntArrayRef sizes, at::ScalarType dtype) const;

  /// empty(), but always pinned: for numbers that the operation itself reads.
  at::Tensor empty_pinned(at::IntArrayRef sizes, at::ScalarType dtype) const;

 private:
  at::Tensor empty_on_device(at::IntArrayRef sizes, at::ScalarType dtype) const;

  c10::Device device_;
  memory_kind kind_;
  bool has_room_;
};

}  // namespace syncyte::torch_binding
