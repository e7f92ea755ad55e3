// torch.ops.syncyte.barrier: no data, and no gradient. In a compiled graph it is an effect, which keeps its place among
// the other communications.

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "collectives/communicators.hpp"
#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {
namespace {

/// `anchor` is not looked at: operators find their kernels by tensors.
void barrier(const at::Tensor& /*anchor*/, std::int64_t comm) { check(syncyte_comm_barrier(group_of(comm))); }

void barrier_meta(const at::Tensor& /*anchor*/, std::int64_t /*comm*/) {}

}  // namespace
}  // namespace syncyte::torch_binding

TORCH_LIBRARY_IMPL(syncyte, CPU, library) { library.impl("barrier", syncyte::torch_binding::barrier); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { library.impl("barrier", syncyte::torch_binding::barrier_meta); }
