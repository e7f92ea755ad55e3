// SPDX-License-Identifier: BSD-3-Clause
// torch.ops.syncyte.join_dummies: y = x, which autograd takes to depend on the dummies too. Adjoint: xbar = ybar, and
// zeros for the dummies; these are themselves joined with ybar, so that double backward passes through.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>

#include "autograd/join_dummies.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class join_function : public torch::autograd::Function<join_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, at::TensorList dummies,
                            dummy_gradient given) {
    context->set_materialize_grads(false);
    context->saved_data["gives zeros"] = given == dummy_gradient::zeros;
    // Empty tensors remember the dummies' shapes without keeping their memory.
    variable_list shapes;
    for (const at::Tensor& dummy : dummies) shapes.push_back(at::zeros({}, dummy.options()).expand(dummy.sizes()));
    context->saved_data["shapes"] = shapes;
    return input.detach();
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor& gradient = gradients[0];
    variable_list result{gradient};
    const bool is_zero = context->saved_data["gives zeros"].toBool() || at::GradMode::is_enabled();
    for (const at::Tensor& shape : context->saved_data["shapes"].toTensorVector()) {
      if (gradient.defined() && is_zero)
        result.push_back(join_dummies(at::zeros_like(shape), {gradient}));
      else
        result.emplace_back();
    }
    result.emplace_back();  // how dummies are treated
    return result;
  }
};

}  // namespace

at::Tensor joined(const at::Tensor& input, at::TensorList dummies, dummy_gradient given) {
  return join_function::apply(input, dummies, given);
}

at::Tensor join_dummies(const at::Tensor& input, at::TensorList dummies) {
  const bool is_needed =
      at::GradMode::is_enabled() &&
      std::any_of(dummies.begin(), dummies.end(), [](const at::Tensor& dummy) { return dummy.requires_grad(); });
  if (!is_needed) return input;
  return joined(input, dummies, dummy_gradient::zeros);
}

}  // namespace syncyte::torch_binding

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  library.impl("join_dummies", syncyte::torch_binding::join_dummies);
}
