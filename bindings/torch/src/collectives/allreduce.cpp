// torch.ops.syncyte.allreduce: the reduction over all ranks of a communicator.
//
// Sum: y_r = sum_s x_s on every rank r. The cotangent of x_s is sum_r ybar_r: the adjoint is the operation itself, and
// so is the map of tangents. With identity_adjoint the ranks' results count as one, and ybar_r as its cotangent, equal
// on all ranks: the cotangent of x_s is ybar_s. Max, min and prod: see reductions.cpp.

#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "tensors/buffers.hpp"
#include "collectives/calls.hpp"
#include "collectives/linear.hpp"
#include "operators/refused_tensors.hpp"

namespace syncyte::torch_binding {
namespace {

struct allreduce {
  static constexpr const char* name = "syncyte::allreduce";
  static constexpr const char* overload = "";
  using parameters = std::tuple<std::int64_t, std::int64_t, bool>;

  static at::Tensor forward(const at::Tensor& input, std::int64_t comm, std::int64_t op, bool, derivatives asked);
  static at::Tensor meta(const at::Tensor& input, std::int64_t, std::int64_t, bool) {
    return at::empty_like(input, input.options(), at::MemoryFormat::Contiguous);
  }
  static at::Tensor adjoint(const at::Tensor& gradient, const extents&, derivatives asked, std::int64_t comm,
                            std::int64_t op, bool identity_adjoint) {
    return identity_adjoint ? replicated(gradient, comm, asked) : call_allreduce(gradient, comm, op, false, asked);
  }
  static std::int64_t op_of(const parameters& given) { return std::get<1>(given); }
  static at::Tensor differentiate(const at::Tensor& input, const parameters& given, derivatives asked) {
    const auto [comm, op, identity_adjoint] = given;
    return differentiable(input, {.comm = comm, .op = op, .identity_adjoint = identity_adjoint}, asked);
  }
};

// Not by collect(): the cost of a small message is a row of the benchmarks.
at::Tensor allreduce::forward(const at::Tensor& input, std::int64_t comm, std::int64_t op, bool identity_adjoint,
                              derivatives asked) {
  c10::MaybeOwned<at::Tensor> source;
  at::Tensor result;
  try {
    refusal::check();
    require_derivative("allreduce", op, true, asked);
    source = input.expect_contiguous();
    result = empty_from_pool(source->sizes(), source->scalar_type());
  } catch (...) {
    fail_together(group_of(comm), "comm_allreduce");
  }
  fact_list facts = facts_of(asked);
  facts.push_back({"identity as adjoint", identity_adjoint});
  add_shape(facts, source->sizes());
  syncyte_collective_options_t options{};
  options.struct_size = sizeof options;
  options.facts = facts.data();
  options.fact_count = static_cast<std::int32_t>(facts.size());
  const syncyte_buffer_t from = buffer_of(*source);
  const syncyte_buffer_t to = buffer_of(result);
  check(syncyte_comm_allreduce(group_of(comm), &from, static_cast<syncyte_op_t>(op), &options, &to));
  return result;
}

}  // namespace

at::Tensor call_allreduce(const at::Tensor& input, std::int64_t comm, std::int64_t op, bool identity_adjoint,
                          derivatives asked) {
  return linear_operator<allreduce>::call(input, {comm, op, identity_adjoint}, asked);
}

}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  // The last three are facts of the agreement; the autograd kernel sets them, and compiled graphs carry them.
  library.def(
      "allreduce(Tensor input, int comm, int op=1, bool identity_adjoint=False, bool needs_gradient=False, "
      "bool has_tangent=False, int forward_number=0) -> Tensor",
      {at::Tag::pt2_compliant_tag});
}
TORCH_LIBRARY_IMPL(syncyte, CPU, library) { implement<allreduce>(library, "allreduce", c10::DispatchKey::CPU); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { implement<allreduce>(library, "allreduce", c10::DispatchKey::Meta); }
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) {
  implement<allreduce>(library, "allreduce", c10::DispatchKey::Autograd);
}
