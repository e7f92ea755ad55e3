// SPDX-License-Identifier: BSD-3-Clause
// torch.ops.syncyte.comm_rank, comm_size, barrier. A barrier has no data and no gradient; in a compiled graph it is an
// effect, which keeps its place among the other communications.

#include "collectives/communicators.hpp"

#include <torch/library.h>

#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {

std::int32_t rank_in(std::int64_t comm) {
  return checked([&] { return group_of(comm)->rank(); });
}

std::size_t size_of(std::int64_t comm) {
  return static_cast<std::size_t>(checked([&] { return group_of(comm)->size(); }));
}

std::int32_t narrowed(const char* argument, std::int64_t value) {
  const auto result = static_cast<std::int32_t>(value);
  TORCH_CHECK_VALUE(value == result, argument, " is ", value, "; expected a number of 32 bits");
  return result;
}

void require_few_dimensions(at::IntArrayRef shape) {
  TORCH_CHECK_VALUE(shape.size() <= SYNCYTE_MAX_NDIM, "the tensor has ", shape.size(), " dimensions; expected at most ",
                    SYNCYTE_MAX_NDIM);
}

std::int64_t number_of_forward(std::int64_t comm) {
  std::int64_t number = 0;
  check(syncyte_comm_sequence(group_of(comm)->get(), &number));
  return number;
}

namespace {

/// `anchor` is not read: operators find their kernels by tensors.
void barrier(const at::Tensor& /*anchor*/, std::int64_t comm) {
  checked([&] { group_of(comm)->barrier(); });
}
void barrier_meta(const at::Tensor& /*anchor*/, std::int64_t /*comm*/) {}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CPU, library) { library.impl("barrier", barrier); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { library.impl("barrier", barrier_meta); }
TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  library.impl("comm_rank", [](std::int64_t comm) { return std::int64_t{rank_in(comm)}; });
  library.impl("comm_size", [](std::int64_t comm) { return static_cast<std::int64_t>(size_of(comm)); });
}

}  // namespace syncyte::torch_binding
