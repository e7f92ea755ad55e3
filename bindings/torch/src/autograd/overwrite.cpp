// SPDX-License-Identifier: BSD-3-Clause
// torch.ops.syncyte.overwrite, for modules with the interfaces of other libraries.

#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/library.h>

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Writes into `memory` without autograd's knowledge; in the graph its value is `result`.
class overwrite_function : public torch::autograd::Function<overwrite_function> {
 public:
  static at::Tensor forward(AutogradContext*, const at::Tensor& result, const at::Tensor& memory) {
    memory.copy_(result);
    return memory.alias();
  }
  static variable_list backward(AutogradContext*, variable_list gradients) { return {gradients[0], at::Tensor()}; }
};

/// The node of a tensor that has been overwritten.
class overwritten : public torch::autograd::Function<overwritten> {
 public:
  static at::Tensor forward(AutogradContext*, const at::Tensor& anchor) { return anchor.clone(); }
  static variable_list backward(AutogradContext*, const variable_list&) {
    TORCH_CHECK(false,
                "a tensor was used after it had been overwritten in place by a collective; expected the collective's "
                "result in its place");
  }
};

/// `input` in place, also if it is a leaf that requires gradients: its history stays what it was, and that of the
/// returned alias is result's. A tensor that is no alias loses its history: using it again is an error in backward.
at::Tensor overwrite(const at::Tensor& input, const at::Tensor& result) {
  const at::Tensor memory = input.detach();  // shares input's version counter
  const at::Tensor written = overwrite_function::apply(result, memory);
  if (input.requires_grad() && !input.is_leaf() && at::GradMode::is_enabled()) {
    const at::Tensor anchor = at::zeros({}, input.options()).set_requires_grad(true);
    const at::Tensor failing = overwritten::apply(anchor.expand(input.sizes()));
    torch::autograd::impl::set_gradient_edge(input, torch::autograd::impl::gradient_edge(failing));
  }
  return written;
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) { library.impl("overwrite", overwrite); }

}  // namespace syncyte::torch_binding
