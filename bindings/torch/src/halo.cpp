// torch.ops.syncyte.halo_exchange: y is x, its ghosts replaced by the neighbours' cells that they show.
//
// The adjoint adds the ghosts' cotangents to those cells and sets them to zero (syncyte_halo_accumulate); it is the
// same operator with `adjoint` set, so that both can be differentiated any number of times.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "buffers.hpp"
#include "forward_mode.hpp"
#include "ordered.hpp"
#include "profile.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using halo_signature = at::Tensor(const at::Tensor&, std::int64_t, bool);

const auto& halo_operator() {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("syncyte::halo_exchange", "").typed<halo_signature>();
  return op;
}

syncyte_status_t exchange(std::int64_t halo, bool adjoint, const syncyte_buffer_t& array) {
  const auto handle = reinterpret_cast<syncyte_halo_t>(halo);
  return adjoint ? syncyte_halo_accumulate(handle, &array) : syncyte_halo_exchange(handle, &array);
}

at::Tensor halo_cpu(const at::Tensor& input, std::int64_t halo, bool adjoint) {
  at::Tensor result;
  try {
    result = empty_from_pool(input.sizes(), input.scalar_type()).copy_(input);
  } catch (...) {
    static_cast<void>(exchange(halo, adjoint, syncyte_buffer_t{}));  // refused: the neighbours are told
    throw;
  }
  check(exchange(halo, adjoint, buffer_of(result)));
  return result;
}

at::Tensor halo_meta(const at::Tensor& input, std::int64_t, bool) {
  return at::empty_like(input, input.options(), at::MemoryFormat::Contiguous);
}

class halo_function : public torch::autograd::Function<halo_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, std::int64_t halo, bool adjoint) {
    context->saved_data["halo"] = halo;
    context->saved_data["adjoint"] = adjoint;
    const at::AutoDispatchBelowADInplaceOrView below;
    return halo_operator().call(input, halo, adjoint);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const backward_range range("syncyte::halo_exchange", gradients);
    return {halo_operator().call(gradients[0], context->saved_data["halo"].toInt(),
                                 !context->saved_data["adjoint"].toBool()),
            at::Tensor(), at::Tensor()};
  }
};

at::Tensor halo_autograd(c10::DispatchKeySet keys, const at::Tensor& input, std::int64_t halo, bool adjoint) {
  if (carries_tangent(input))
    return apply_to_dual(input,
                         [&](const at::Tensor& part, bool) { return halo_operator().call(part, halo, adjoint); });
  return in_order(input, [&](const at::Tensor& ordered) {
    if (ordered.requires_grad() && at::GradMode::is_enabled()) return halo_function::apply(ordered, halo, adjoint);
    return halo_operator().redispatch(keys & c10::after_ADInplaceOrView_keyset, ordered, halo, adjoint);
  });
}

}  // namespace
}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  library.def("halo_exchange(Tensor input, int halo, bool adjoint=False) -> Tensor", {at::Tag::pt2_compliant_tag});
}
TORCH_LIBRARY_IMPL(syncyte, CPU, library) { library.impl("halo_exchange", halo_cpu); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { library.impl("halo_exchange", halo_meta); }
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) { library.impl("halo_exchange", halo_autograd); }
