#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <vector>

#include "collectives/agreement.hpp"

namespace syncyte::torch_binding {

using extents = std::vector<std::int64_t>;

/// Throws ValueError for more dimensions than the C interface has.
void require_few_dimensions(at::IntArrayRef shape);

/// The communicator that a schema's integer stands for.
inline syncyte_comm_t group_of(std::int64_t comm) { return reinterpret_cast<syncyte_comm_t>(comm); }
std::int32_t rank_in(std::int64_t comm);
std::size_t size_of(std::int64_t comm);

/// Throws ValueError for an argument that the C interface's 32 bits cannot hold; it would be taken for another.
void require_32_bits(const char* argument, std::int64_t value);

/// What identifies the collective that has just ended on a communicator, equal on all ranks; for its node in the graph.
/// 0 while a graph is traced: its constants are of one call, and it runs many times.
std::int64_t number_of_forward(std::int64_t comm, const at::Tensor& input);

/// What a collective of the C interface is given.
enum class operand {
  plain,      ///< contiguous elements; all ranks' shapes are equal, and facts
  rewritten,  ///< the same; where input is a copy already, of a device's tensor, it may be the result, too
  along       ///< any strides, SYNCYTE_MAX_NDIM dimensions at most; the C function sees to the shapes
};

/// A collective's call: input's buffer, options, the new result's buffer.
using collective_call = c10::function_ref<syncyte_status_t(
    const syncyte_buffer_t& input, const syncyte_collective_options_t& options, const syncyte_buffer_t& result)>;

/// Runs a collective into a new tensor of input's dtype. What fails on this rank before it, also in `shape`, all ranks
/// are told. `name` is the C function's, without "syncyte_".
at::Tensor collect(const char* name, std::int64_t comm, const at::Tensor& input, operand kind, derivatives asked,
                   c10::function_ref<extents()> shape, collective_call call);

}  // namespace syncyte::torch_binding
