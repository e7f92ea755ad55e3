// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <numeric>

#include "tensors/handle_reference.hpp"

namespace syncyte::torch_binding {

inline std::int64_t sum_of(at::IntArrayRef counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// Throws ValueError for more dimensions than the C interface has.
void require_few_dimensions(at::IntArrayRef shape);

/// The communicator that a schema's integer stands for.
inline borrowed<communicator> group_of(std::int64_t comm) { return object_of<communicator>(comm); }
std::int32_t rank_in(std::int64_t comm);
std::size_t size_of(std::int64_t comm);

/// An argument as the C interface has it. Throws ValueError where 32 bits cannot hold it; it would be taken for
/// another.
std::int32_t narrowed(const char* argument, std::int64_t value);

/// The number of the collective that has just ended on a communicator, equal on all ranks; for its node in the graph.
std::int64_t number_of_forward(std::int64_t comm);

}  // namespace syncyte::torch_binding
