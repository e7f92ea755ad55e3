// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// c10d's collectives on Syncyte's, blocking. Tensors may be strided, overlap, or differ in size between ranks where
// c10d allows it. What differs between ranks is an error on all of them, and so is an argument that is wrong on one.

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include <cstdint>
#include <vector>

#include "syncyte/comm.hpp"

namespace syncyte::torch_binding::process_group {

using tensors = std::vector<at::Tensor>;
using tensor_lists = std::vector<tensors>;
using split_sizes = std::vector<std::int64_t>;

namespace blocking {

/// Throws for a tensor that is sparse or not on the CPU.
void require_dense(const at::Tensor& array);

/// Reduces each tensor in place.
void all_reduce(const communicator& comm, const tensors& arrays, const c10d::ReduceOp& how);

/// Reduces a tensor to root, in place there; the other ranks' tensors stay as they are.
void reduce(const communicator& comm, const tensors& arrays, const c10d::ReduceOp& how, std::int64_t root);

void broadcast(const communicator& comm, const tensors& arrays, std::int64_t root);

/// outputs[r] is rank r's input; they may differ in size.
void all_gather(const communicator& comm, const tensors& outputs, const at::Tensor& input);

/// The ranks' inputs of equal size, one after another in output.
void all_gather_single(const communicator& comm, const at::Tensor& output, const at::Tensor& input);

/// Gathers the ranks' inputs on root alone, where outputs[0][r] is rank r's.
void gather(const communicator& comm, const tensor_lists& outputs, const at::Tensor& input, std::int64_t root);
void gather_single(const communicator& comm, const at::Tensor& output, const at::Tensor& input, std::int64_t root);

/// Rank r gets root's inputs[0][r].
void scatter(const communicator& comm, const at::Tensor& output, const tensor_lists& inputs, std::int64_t root);

/// Rank r gets the reduction of all ranks' inputs[r].
void reduce_scatter(const communicator& comm, const at::Tensor& output, const tensors& inputs,
                    const c10d::ReduceOp& how);
void reduce_scatter_single(const communicator& comm, const at::Tensor& output, const at::Tensor& input,
                           const c10d::ReduceOp& how);

/// Rank r gets the rows of input that the sizes name for it; without sizes all ranks get as many.
void all_to_all_single(const communicator& comm, const at::Tensor& output, const at::Tensor& input,
                       const split_sizes& output_sizes, const split_sizes& input_sizes);

/// outputs[r] is what rank r has for this one in its inputs.
void all_to_all(const communicator& comm, const tensors& outputs, const tensors& inputs);

}  // namespace blocking

}  // namespace syncyte::torch_binding::process_group
