// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// c10d's reductions as Syncyte's, with the averages and factors that MPI does not have.

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include <cstdint>

#include "syncyte/base.hpp"

namespace syncyte::torch_binding::process_group {

/// A reduction of elements of one type over the ranks of a group.
class reduction {
 public:
  /// Throws for an average of truth values. Other operations that a type does not have are refused by the C function.
  reduction(const c10d::ReduceOp& asked, at::ScalarType type, std::int64_t ranks);

  op how() const { return how_; }

  /// c10d's number of the operation, which all ranks must share.
  std::int64_t number() const { return asked_.op_; }

  /// This rank's operand of the reduction: the input, or for PREMUL_SUM a new tensor, the input times the factor.
  at::Tensor contribution(const at::Tensor& input) const;

  /// Makes the ranks' sum an average, if that is asked for. An average of integers is rounded towards zero.
  void finish(const at::Tensor& result) const;

 private:
  c10d::ReduceOp asked_;
  op how_;
  std::int64_t ranks_;
};

}  // namespace syncyte::torch_binding::process_group
