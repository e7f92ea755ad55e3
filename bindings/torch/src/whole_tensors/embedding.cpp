// SPDX-License-Identifier: BSD-3-Clause
// torch.ops.syncyte.embedding, apply_gradients: rows of a whole tensor that has an optimizer.
//
// embedding reads rows one-sided. Its backward, apply_gradients, sends the rows' gradients to their owners, where the
// optimizer updates them at once; with `keep` it is keep_gradients, which gives them to the Python package's optimizer.
// Autograd passes no gradient to `local`, which only says shape and type of the rows.

#include <ATen/ops/index_select.h>
#include <torch/library.h>

#include "autograd/linear_node.hpp"
#include "operators/dispatched.hpp"
#include "whole_tensors/rows.hpp"

namespace syncyte::torch_binding {
namespace {

at::Tensor embedding_cpu(const at::Tensor& local, std::int64_t tensor, const at::Tensor& index, std::int64_t, bool) {
  return gather_rows(tensor, index, local);
}

at::Tensor embedding_meta(const at::Tensor& local, std::int64_t, const at::Tensor& index, std::int64_t, bool) {
  return gathered_meta(local, index);
}

/// `padding`: the row that has no gradient; -1: none.
void apply_gradients_cpu(const at::Tensor& gradients, std::int64_t tensor, const at::Tensor& index,
                         std::int64_t padding) {
  if (padding < 0) return update_rows(tensor, index, gradients);
  const at::Tensor places = index.reshape(-1).ne(padding).nonzero().squeeze(1);
  auto shape = gradients.sizes().slice(index.dim()).vec();
  shape.insert(shape.begin(), index.numel());
  update_rows(tensor, index.reshape(-1).index_select(0, places), gradients.reshape(shape).index_select(0, places));
}

void apply_gradients_meta(const at::Tensor&, std::int64_t, const at::Tensor&, std::int64_t) {}

struct embedding_lookup {
  std::int64_t tensor;
  at::Tensor index;
  std::int64_t padding;
  bool keep;

  const char* profiled_as() const { return "syncyte::embedding"; }
  at::Tensor call(const at::Tensor& local, derivatives) const {
    return dispatched<decltype(embedding_cpu), "syncyte::embedding">().call(local, tensor, index, padding, keep);
  }
  at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef, derivatives) const {
    TORCH_CHECK(!is_recorded(gradient), "embedding: its backward updates rows and cannot be differentiated again");
    if (keep)
      dispatched<decltype(apply_gradients_cpu), "syncyte::keep_gradients">().call(gradient, tensor, index, padding);
    else
      dispatched<decltype(apply_gradients_cpu), "syncyte::apply_gradients">().call(gradient, tensor, index, padding);
    return {};
  }
  syncyte::tensor references() const { return reference_to<syncyte::tensor>(tensor); }
  std::int64_t number_of_forward() const { return 0; }
};

at::Tensor embedding_autograd(const at::Tensor& local, std::int64_t tensor, const at::Tensor& index,
                              std::int64_t padding, bool keep) {
  TORCH_CHECK_NOT_IMPLEMENTED(!carries_tangent(local), "embedding: it has no forward mode");
  return run_with_node_if_recorded(local, embedding_lookup{tensor, index, padding, keep}, {});
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CPU, library) {
  library.impl("embedding", embedding_cpu);
  library.impl("apply_gradients", apply_gradients_cpu);
}
TORCH_LIBRARY_IMPL(syncyte, Meta, library) {
  library.impl("embedding", embedding_meta);
  library.impl("apply_gradients", apply_gradients_meta);
  library.impl("keep_gradients", apply_gradients_meta);
}
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) { library.impl("embedding", embedding_autograd); }

}  // namespace syncyte::torch_binding
