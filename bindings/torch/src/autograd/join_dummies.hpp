// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

namespace syncyte::torch_binding {

/// Gradients of a join's dummies.
enum class dummy_gradient {
  zeros,     ///< as torch's own functions would
  undefined  ///< undefined tensors, which cost nothing; zeros where the backward pass is itself recorded
};

/// `input` as a new node of the graph, which depends on the dummies too, whether that is needed or not.
at::Tensor joined(const at::Tensor& input, at::TensorList dummies, dummy_gradient given);

/// torch.ops.syncyte.join_dummies.
at::Tensor join_dummies(const at::Tensor& input, at::TensorList dummies);

}  // namespace syncyte::torch_binding
