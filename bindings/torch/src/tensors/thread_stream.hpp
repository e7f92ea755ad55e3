// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <c10/core/Device.h>

namespace syncyte::torch_binding {

/// While it lives, operations of this thread on Syncyte's device memory are queued on torch's current stream of a
/// device. It does nothing for the CPU.
class on_current_stream {
 public:
  explicit on_current_stream(c10::Device device);
  ~on_current_stream();
  on_current_stream(const on_current_stream&) = delete;
  on_current_stream& operator=(const on_current_stream&) = delete;

 private:
  bool is_set_;
};

}  // namespace syncyte::torch_binding
