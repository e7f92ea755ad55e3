#pragma once
// Collectives as the dispatcher calls them, for derivatives and for operations that are made of others. Each is defined
// beside its operation; see the operations for what they do.

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "collectives/communicators.hpp"

namespace syncyte::torch_binding {

at::Tensor call_allreduce(const at::Tensor& input, std::int64_t comm, std::int64_t op, bool identity_adjoint,
                          derivatives asked);
at::Tensor call_reduce(const at::Tensor& input, std::int64_t comm, std::int64_t root, std::int64_t op,
                       derivatives asked);
at::Tensor call_bcast(const at::Tensor& input, std::int64_t comm, std::int64_t root, derivatives asked);
at::Tensor call_exscan(const at::Tensor& input, std::int64_t comm, bool reverse, std::int64_t op, derivatives asked);
at::Tensor call_allgather_along(const at::Tensor& input, std::int64_t comm, std::int64_t axis, const extents& lengths,
                                derivatives asked);
at::Tensor call_alltoall_along(const at::Tensor& input, std::int64_t comm, std::int64_t gather_axis,
                               const extents& gathered, std::int64_t scatter_axis, const extents& scattered,
                               derivatives asked);

}  // namespace syncyte::torch_binding
