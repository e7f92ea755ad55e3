// SPDX-License-Identifier: BSD-3-Clause
// torch.ops.syncyte.bcast_ and reduce_: the functional operation, then copy_ into the tensor, so that version counters,
// views, leaves and gradients are torch's own. mixed_grad: a tensor that takes part in backward although nobody wants
// its gradient.

#include <ATen/MemoryOverlap.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/library.h>

#include "collectives/agreement.hpp"
#include "collectives/collective.hpp"

namespace syncyte::torch_binding {
namespace {

/// A rank whose input needs no gradient takes part in backward with its output's cotangent. The gradient of this new
/// leaf is dropped.
at::Tensor taking_part(const at::Tensor& input) {
  const bool is_differentiable = input.is_floating_point() || input.is_complex();
  if (input.requires_grad() || !is_differentiable || !at::GradMode::is_enabled()) return input;
  return input.detach().requires_grad_();
}

/// Throws where copy_ would, before anything is sent: all ranks get the error.
at::Tensor writable(const char* operation, const at::Tensor& input, std::int64_t comm, bool mixed_grad) {
  return together(comm, operation, [&] {
    TORCH_CHECK_NOT_IMPLEMENTED(input.layout() == at::kStrided, operation, ": input is of layout ", input.layout(),
                                "; expected a dense tensor");
    at::Tensor source = mixed_grad ? taking_part(input) : input;
    torch::autograd::check_inplace(input, source.requires_grad());
    at::assert_no_internal_overlap(input);
    TORCH_CHECK(!input.is_inference() || c10::InferenceMode::is_enabled(),
                "input was made in inference mode and cannot be written outside of it; clone it first");
    return source;
  });
}

void bcast_in_place(const at::Tensor& input, std::int64_t comm, std::int64_t root, bool mixed_grad) {
  const collective what{.kind = collective_kind::bcast, .comm = comm, .root = root};
  input.copy_(what.call(writable("comm_bcast", input, comm, mixed_grad), {}));
}

void reduce_in_place(const at::Tensor& input, std::int64_t comm, std::int64_t root, std::int64_t op, bool mixed_grad) {
  at::Tensor source = writable("comm_reduce", input, comm, mixed_grad);
  // The backward passes of max, min and prod need the values that are overwritten here.
  if (op != SYNCYTE_OP_SUM && source.requires_grad() && at::GradMode::is_enabled()) source = source.clone();
  const collective what{.kind = collective_kind::reduce, .comm = comm, .op = op, .root = root};
  input.copy_(what.call(source, {}));
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  library.impl("mixed_grad", taking_part);
  library.impl("bcast_", bcast_in_place);
  library.impl("reduce_", reduce_in_place);
}

}  // namespace syncyte::torch_binding
