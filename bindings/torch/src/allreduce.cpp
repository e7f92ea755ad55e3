// torch.ops.syncyte.allreduce: the sum over all ranks of a communicator.
//
// y_r = sum_s x_s on every rank r. The cotangent of x_s is sum_r ybar_r: the adjoint is the operation itself.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "buffers.hpp"

namespace syncyte::torch_binding {
namespace {

const auto& allreduce_operator() {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("syncyte::allreduce", "")
                             .typed<at::Tensor(const at::Tensor&, std::int64_t)>();
  return op;
}

at::Tensor call_allreduce(const at::Tensor& input, std::int64_t comm) { return allreduce_operator().call(input, comm); }

at::Tensor allreduce_cpu(const at::Tensor& input, std::int64_t comm) {
  const at::Tensor source = input.contiguous();
  at::Tensor result = empty_from_pool(source.sizes(), source.scalar_type());
  const syncyte_buffer_t from = buffer_of(source);
  const syncyte_buffer_t to = buffer_of(result);
  check(syncyte_comm_allreduce(reinterpret_cast<syncyte_comm_t>(comm), &from, SYNCYTE_OP_SUM, nullptr, &to));
  return result;
}

at::Tensor allreduce_meta(const at::Tensor& input, std::int64_t) {
  return at::empty_like(input, input.options(), at::MemoryFormat::Contiguous);
}

class allreduce_function : public torch::autograd::Function<allreduce_function> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input, std::int64_t comm) {
    context->saved_data["comm"] = comm;
    const at::AutoDispatchBelowADInplaceOrView below;
    return call_allreduce(input, comm);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    return {call_allreduce(gradients[0], context->saved_data["comm"].toInt()), at::Tensor()};
  }
};

at::Tensor allreduce_autograd(c10::DispatchKeySet keys, const at::Tensor& input, std::int64_t comm) {
  if (input.requires_grad() && at::GradMode::is_enabled()) return allreduce_function::apply(input, comm);
  // Small messages are spared the cost of a node and of finding the kernel from the start.
  return allreduce_operator().redispatch(keys & c10::after_ADInplaceOrView_keyset, input, comm);
}

}  // namespace
}  // namespace syncyte::torch_binding

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  library.def("allreduce(Tensor input, int comm) -> Tensor", {at::Tag::pt2_compliant_tag});
}
TORCH_LIBRARY_IMPL(syncyte, CPU, library) { library.impl("allreduce", syncyte::torch_binding::allreduce_cpu); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { library.impl("allreduce", syncyte::torch_binding::allreduce_meta); }
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) {
  library.impl("allreduce", syncyte::torch_binding::allreduce_autograd);
}
