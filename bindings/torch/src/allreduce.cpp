// torch.ops.syncyte.allreduce: the sum over all ranks of a communicator.
//
// y_r = sum_s x_s on every rank r. The cotangent of x_s is sum_r ybar_r: the adjoint is the operation itself, and so is
// the map of tangents.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "buffers.hpp"
#include "forward_mode.hpp"
#include "verdict.hpp"

namespace syncyte::torch_binding {
namespace {

using allreduce_signature = at::Tensor(const at::Tensor&, std::int64_t, bool, bool);

const auto& allreduce_operator() {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("syncyte::allreduce", "").typed<allreduce_signature>();
  return op;
}

at::Tensor call_allreduce(const at::Tensor& input, std::int64_t comm, derivatives asked) {
  return allreduce_operator().call(input, comm, asked.needs_gradient, asked.has_tangent);
}

at::Tensor allreduce_cpu(const at::Tensor& input, std::int64_t comm, bool needs_gradient, bool has_tangent) {
  const auto group = reinterpret_cast<syncyte_comm_t>(comm);
  c10::MaybeOwned<at::Tensor> source;
  at::Tensor result;
  try {
    source = input.expect_contiguous();
    result = empty_from_pool(source->sizes(), source->scalar_type());
  } catch (...) {
    fail_together(group, "comm_allreduce");
  }
  fact_list facts = facts_of({needs_gradient, has_tangent});
  add_shape(facts, source->sizes());
  syncyte_collective_options_t options{};
  options.struct_size = sizeof options;
  options.facts = facts.data();
  options.fact_count = static_cast<std::int32_t>(facts.size());
  const syncyte_buffer_t from = buffer_of(*source);
  const syncyte_buffer_t to = buffer_of(result);
  check(syncyte_comm_allreduce(group, &from, SYNCYTE_OP_SUM, &options, &to));
  return result;
}

at::Tensor allreduce_meta(const at::Tensor& input, std::int64_t, bool, bool) {
  return at::empty_like(input, input.options(), at::MemoryFormat::Contiguous);
}

class allreduce_function : public torch::autograd::Function<allreduce_function> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input, std::int64_t comm,
                            bool has_tangent) {
    context->saved_data["comm"] = comm;
    const at::AutoDispatchBelowADInplaceOrView below;
    return call_allreduce(input, comm, {.needs_gradient = true, .has_tangent = has_tangent});
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    return {call_allreduce(gradients[0], context->saved_data["comm"].toInt(), {}), at::Tensor(), at::Tensor()};
  }
};

at::Tensor allreduce_autograd(c10::DispatchKeySet keys, const at::Tensor& input, std::int64_t comm, bool needs_gradient,
                              bool has_tangent) {
  if (carries_tangent(input))
    return apply_to_dual(input, [&](const at::Tensor& part, bool tangent_follows) {
      return call_allreduce(part, comm, {.has_tangent = tangent_follows});
    });
  if (input.requires_grad() && at::GradMode::is_enabled()) return allreduce_function::apply(input, comm, has_tangent);
  // Small messages are spared the cost of a node and of finding the kernel from the start. In a compiled graph the
  // flags are those that were found when it was traced.
  return allreduce_operator().redispatch(keys & c10::after_ADInplaceOrView_keyset, input, comm, needs_gradient,
                                         has_tangent);
}

}  // namespace
}  // namespace syncyte::torch_binding

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  // The flags are facts of the agreement; the autograd kernel sets them, and compiled graphs carry them.
  library.def("allreduce(Tensor input, int comm, bool needs_gradient=False, bool has_tangent=False) -> Tensor",
              {at::Tag::pt2_compliant_tag});
}
TORCH_LIBRARY_IMPL(syncyte, CPU, library) { library.impl("allreduce", syncyte::torch_binding::allreduce_cpu); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { library.impl("allreduce", syncyte::torch_binding::allreduce_meta); }
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) {
  library.impl("allreduce", syncyte::torch_binding::allreduce_autograd);
}
