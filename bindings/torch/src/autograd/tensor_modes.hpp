// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The modes in which operations on a tensor run: whether they are recorded or traced, and whether a
// tangent of forward mode follows them.

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

namespace syncyte::torch_binding {

inline bool is_recorded(const at::Tensor& tensor) { return tensor.requires_grad() && at::GradMode::is_enabled(); }

/// While a graph is traced tensors have no values, and it keeps its operations in order by itself.
inline bool is_traced(const at::Tensor& tensor) {
  return tensor.is_meta() || tensor.key_set().has(c10::DispatchKey::Python) ||
         tensor.key_set().has(c10::DispatchKey::Functionalize);
}

/// Whether forward-mode differentiation goes through a tensor: torch.func.jvp, torch.autograd.forward_ad.
inline bool carries_tangent(const at::Tensor& tensor) { return tensor._fw_grad(/*level=*/0).defined(); }

/// y = A x of a linear operation in forward mode: its tangent is A applied to x's. `apply(x, has_tangent)` is the
/// operation itself.
template <class Apply>
at::Tensor apply_to_dual(const at::Tensor& input, Apply&& apply) {
  const at::Tensor tangent = input._fw_grad(/*level=*/0);
  at::Tensor result = apply(input._fw_primal(/*level=*/0), true);
  result._set_fw_grad(apply(tangent, false), /*level=*/0, /*is_inplace_op=*/false);
  return result;
}

}  // namespace syncyte::torch_binding
