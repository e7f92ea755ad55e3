#pragma once
// What becomes of a tensor's operations: whether autograd records them, whether they are traced.

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

namespace syncyte::torch_binding {

inline bool is_recorded(const at::Tensor& tensor) { return tensor.requires_grad() && at::GradMode::is_enabled(); }

/// While a graph is traced tensors have no values, and it keeps its operations in order by itself.
inline bool is_traced(const at::Tensor& tensor) {
  return tensor.is_meta() || tensor.key_set().has(c10::DispatchKey::Python) ||
         tensor.key_set().has(c10::DispatchKey::Functionalize);
}

}  // namespace syncyte::torch_binding
