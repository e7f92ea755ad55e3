// torch.ops.syncyte.halo_exchange: y is x, its ghosts replaced by the neighbours' cells that they show.
//
// The adjoint adds the ghosts' cotangents to those cells and sets them to zero (syncyte_halo_accumulate); it is the
// same operator with `adjoint` set, so that both can be differentiated any number of times.

#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "autograd/linear_node.hpp"
#include "collectives/agreement.hpp"
#include "operators/dispatched.hpp"
#include "operators/refused_tensors.hpp"
#include "tensors/buffers.hpp"
#include "tensors/handle_reference.hpp"

namespace syncyte::torch_binding {
namespace {

using halo_signature = at::Tensor(const at::Tensor&, std::int64_t, bool, std::int64_t);

const auto& halo_operator() { return dispatched<halo_signature, "syncyte::halo_exchange">(); }

struct halo_transfer {
  std::int64_t halo;
  bool is_adjoint;

  struct references : halo_reference {
    explicit references(const halo_transfer& of) : halo_reference(of.halo) {}
  };

  syncyte_halo_t handle() const { return reinterpret_cast<syncyte_halo_t>(halo); }
  const char* profiled_as() const { return "syncyte::halo_exchange"; }

  at::Tensor call(const at::Tensor& input, derivatives asked) const {
    return halo_operator().call(input, halo, is_adjoint, asked.packed());
  }
  at::Tensor run(const at::Tensor& input, derivatives asked) const {
    const at::AutoDispatchBelowADInplaceOrView below;
    return call(input, asked);
  }
  at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef, derivatives asked) const {
    return halo_transfer{halo, !is_adjoint}.call(gradient, asked);
  }

  /// The number of the transfer that has just ended; 0 while a graph is traced.
  std::int64_t number_of_forward(const at::Tensor& input) const {
    if (input.unsafeGetTensorImpl()->is_python_dispatch()) return 0;
    std::int64_t number = 0;
    check(syncyte_halo_sequence(handle(), &number));
    return number;
  }

  syncyte_status_t exchange(derivatives asked, const syncyte_buffer_t& array) const {
    const fact_list facts = facts_of(asked);
    const syncyte_collective_options_t options = options_with(facts);
    return syncyte_halo_transfer(handle(), is_adjoint, &options, &array);
  }
};

at::Tensor halo_cpu(const at::Tensor& input, std::int64_t halo, bool adjoint, std::int64_t packed) {
  const halo_transfer what{halo, adjoint};
  const auto asked = derivatives::unpacked(packed);
  at::Tensor result;
  try {
    refused_tensor::check();
    result = copy_to_pool(input);
  } catch (...) {
    static_cast<void>(what.exchange(asked, syncyte_buffer_t{}));  // refused: the neighbours are told
    throw;
  }
  check(what.exchange(asked, buffer_of(result)));
  return result;
}

at::Tensor halo_meta(const at::Tensor& input, std::int64_t, bool, std::int64_t) {
  return at::empty_like(input, input.options(), at::MemoryFormat::Contiguous);
}

at::Tensor halo_autograd(c10::DispatchKeySet keys, const at::Tensor& input, std::int64_t halo, bool adjoint,
                         std::int64_t packed) {
  if (is_plain_meta(input)) {
    const refused_tensor refusal(meta_text("halo_exchange"));
    return halo_cpu(stand_in(input), halo, adjoint, packed);
  }
  return differentiated(
      input, halo_transfer{halo, adjoint}, derivatives::unpacked(packed), [&](const at::Tensor& ordered) {
        return halo_operator().redispatch(keys & c10::after_ADInplaceOrView_keyset, ordered, halo, adjoint, packed);
      });
}

}  // namespace
}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;

TORCH_LIBRARY_IMPL(syncyte, CPU, library) { library.impl("halo_exchange", halo_cpu); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { library.impl("halo_exchange", halo_meta); }
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) { library.impl("halo_exchange", halo_autograd); }
