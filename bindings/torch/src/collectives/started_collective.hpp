#pragma once
// Started collectives as the dispatcher calls them; nonblocking.cpp says what they do.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace syncyte::torch_binding {

/// The numbers are part of the schema: compiled graphs and the Python package hold them.
enum class collective : std::int64_t { allreduce, bcast, reduce, allgather, reduce_scatter, alltoall };

/// start_collective: the ticket. `arguments`: for bcast and reduce the root; for allgather and reduce_scatter the axis,
/// then all ranks' lengths along it; for alltoall the axes before and after, then the lengths along the one and the
/// other. `op` counts for allreduce and reduce_scatter.
at::Tensor call_start(const at::Tensor& input, std::int64_t comm, collective kind, at::IntArrayRef arguments,
                      at::IntArrayRef result_shape, std::int64_t op);

}  // namespace syncyte::torch_binding
