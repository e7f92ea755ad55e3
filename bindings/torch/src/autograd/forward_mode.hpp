#pragma once

#include <ATen/core/Tensor.h>

namespace syncyte::torch_binding {

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
