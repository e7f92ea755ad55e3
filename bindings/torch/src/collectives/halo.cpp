// SPDX-License-Identifier: BSD-3-Clause
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
#include "syncyte/halo.hpp"
#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {
namespace {

syncyte_status_t transfer(std::int64_t halo, bool is_adjoint, derivatives wanted, const buffer& array) {
  const fact_list facts = facts_of(wanted);
  const syncyte_collective_options_t options = options_with(facts);
  return syncyte_halo_transfer(reinterpret_cast<syncyte_halo_t>(halo), is_adjoint, &options, array.get());
}

at::Tensor halo_cpu(const at::Tensor& input, std::int64_t halo, bool is_adjoint, std::int64_t packed) {
  const auto wanted = derivatives::unpacked(packed);
  at::Tensor result;
  try {
    refused_tensor::check();
    result = copy_to_pool(input);
  } catch (...) {
    // It is refused, and the neighbours get the error.
    static_cast<void>(transfer(halo, is_adjoint, wanted, buffer(syncyte_buffer_t{})));
    throw;
  }
  check(transfer(halo, is_adjoint, wanted, buffer_of(result)));
  return result;
}

at::Tensor halo_meta(const at::Tensor& input, std::int64_t, bool, std::int64_t) {
  return at::empty_like(input, input.options(), at::MemoryFormat::Contiguous);
}

struct halo_transfer {
  std::int64_t halo;
  bool is_adjoint;

  const char* profiled_as() const { return "syncyte::halo_exchange"; }
  at::Tensor call(const at::Tensor& input, derivatives wanted) const {
    return dispatched<decltype(halo_cpu), "syncyte::halo_exchange">().call(input, halo, is_adjoint, wanted.packed());
  }
  at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef, derivatives wanted) const {
    return halo_transfer{halo, !is_adjoint}.call(gradient, wanted);
  }
  syncyte::halo references() const { return reference_to<syncyte::halo>(halo); }
  std::int64_t number_of_forward() const {
    std::int64_t number = 0;
    check(syncyte_halo_sequence(reinterpret_cast<syncyte_halo_t>(halo), &number));
    return number;
  }
};

at::Tensor halo_autograd(const at::Tensor& input, std::int64_t halo, bool is_adjoint, std::int64_t packed) {
  return apply_in_autograd(input, halo_transfer{halo, is_adjoint}, derivatives::unpacked(packed));
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CPU, library) { library.impl("halo_exchange", halo_cpu); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { library.impl("halo_exchange", halo_meta); }
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) { library.impl("halo_exchange", halo_autograd); }

}  // namespace syncyte::torch_binding
