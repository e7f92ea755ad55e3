// torch.ops.syncyte.halo_exchange: y is x, its ghosts replaced by the neighbours' cells that they show.
//
// The adjoint adds the ghosts' cotangents to those cells and sets them to zero (syncyte_halo_accumulate); it is the
// same operator with `adjoint` set, so that both can be differentiated any number of times.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "tensors/buffers.hpp"
#include "autograd/forward_mode.hpp"
#include "tensors/handle_reference.hpp"
#include "autograd/ordered.hpp"
#include "autograd/profile.hpp"
#include "operators/refused_tensors.hpp"
#include "collectives/agreement.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using halo_signature = at::Tensor(const at::Tensor&, std::int64_t, bool, bool, bool, std::int64_t);

const auto& halo_operator() {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("syncyte::halo_exchange", "").typed<halo_signature>();
  return op;
}

syncyte_halo_t handle_of(std::int64_t halo) { return reinterpret_cast<syncyte_halo_t>(halo); }

at::Tensor call_halo(const at::Tensor& input, std::int64_t halo, bool adjoint, derivatives asked) {
  return halo_operator().call(input, halo, adjoint, asked.needs_gradient, asked.has_tangent, asked.forward_number);
}

syncyte_status_t exchange(std::int64_t halo, bool adjoint, derivatives asked, const syncyte_buffer_t& array) {
  const fact_list facts = facts_of(asked);
  syncyte_collective_options_t options SYNCYTE_COLLECTIVE_OPTIONS_INIT;
  options.facts = facts.data();
  options.fact_count = static_cast<std::int32_t>(facts.size());
  return syncyte_halo_transfer(handle_of(halo), adjoint, &options, &array);
}

at::Tensor halo_cpu(const at::Tensor& input, std::int64_t halo, bool adjoint, bool needs_gradient, bool has_tangent,
                    std::int64_t forward_number) {
  const derivatives asked{needs_gradient, has_tangent, forward_number};
  at::Tensor result;
  try {
    refusal::check();
    result = copy_to_pool(input);
  } catch (...) {
    static_cast<void>(exchange(halo, adjoint, asked, syncyte_buffer_t{}));  // refused: the neighbours are told
    throw;
  }
  check(exchange(halo, adjoint, asked, buffer_of(result)));
  return result;
}

at::Tensor halo_meta(const at::Tensor& input, std::int64_t, bool, bool, bool, std::int64_t) {
  return at::empty_like(input, input.options(), at::MemoryFormat::Contiguous);
}

/// What identifies the transfer that has just ended; 0 while a graph is traced.
std::int64_t number_of_transfer(std::int64_t halo, const at::Tensor& input) {
  if (input.unsafeGetTensorImpl()->is_python_dispatch()) return 0;
  std::int64_t number = 0;
  check(syncyte_halo_sequence(handle_of(halo), &number));
  return number;
}

class halo_function : public torch::autograd::Function<halo_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, std::int64_t halo, bool adjoint,
                            bool has_tangent, std::int64_t forward_number) {
    context->saved_data["halo"] = halo;
    context->saved_data["halo reference"] = capsule_of<halo_reference>(halo);
    context->saved_data["adjoint"] = adjoint;
    const at::AutoDispatchBelowADInplaceOrView below;
    at::Tensor result = call_halo(input, halo, adjoint, {true, has_tangent, forward_number});
    context->saved_data["number"] = number_of_transfer(halo, input);
    return result;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const backward_range range("syncyte::halo_exchange", gradients);
    variable_list result(5);
    result[0] = call_halo(gradients[0], context->saved_data["halo"].toInt(), !context->saved_data["adjoint"].toBool(),
                          {.forward_number = context->saved_data["number"].toInt()});
    return result;
  }
};

at::Tensor halo_autograd(c10::DispatchKeySet keys, const at::Tensor& input, std::int64_t halo, bool adjoint,
                         bool needs_gradient, bool has_tangent, std::int64_t forward_number) {
  if (is_plain_meta(input)) {
    const refusal told(meta_text("halo_exchange"));
    return halo_cpu(stand_in(input), halo, adjoint, needs_gradient, has_tangent, forward_number);
  }
  if (carries_tangent(input))
    return apply_to_dual(input, [&](const at::Tensor& part, bool tangent_follows) {
      return call_halo(part, halo, adjoint, {.has_tangent = tangent_follows, .forward_number = forward_number});
    });
  return in_order(input, [&](const at::Tensor& ordered) {
    if (ordered.requires_grad() && at::GradMode::is_enabled())
      return halo_function::apply(ordered, halo, adjoint, has_tangent, forward_number);
    return halo_operator().redispatch(keys & c10::after_ADInplaceOrView_keyset, ordered, halo, adjoint, needs_gradient,
                                      has_tangent, forward_number);
  });
}

}  // namespace
}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  library.def(
      "halo_exchange(Tensor input, int halo, bool adjoint=False, bool needs_gradient=False, bool has_tangent=False, "
      "int forward_number=0) -> Tensor",
      {at::Tag::pt2_compliant_tag});
}
TORCH_LIBRARY_IMPL(syncyte, CPU, library) { library.impl("halo_exchange", halo_cpu); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { library.impl("halo_exchange", halo_meta); }
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) { library.impl("halo_exchange", halo_autograd); }
