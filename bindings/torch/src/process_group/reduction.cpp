// SPDX-License-Identifier: BSD-3-Clause
#include "process_group/reduction.hpp"

#include <ATen/ops/mul.h>
#include <c10/util/Exception.h>

namespace syncyte::torch_binding::process_group {
namespace {

using kind = c10d::ReduceOp::RedOpType;

op operation_of(kind asked) {
  switch (asked) {
    case kind::SUM:
    case kind::AVG:
    case kind::PREMUL_SUM:
      return op::sum;
    case kind::PRODUCT:
      return op::prod;
    case kind::MIN:
      return op::min;
    case kind::MAX:
      return op::max;
    case kind::BAND:
      return op::bit_and;
    case kind::BOR:
      return op::bit_or;
    case kind::BXOR:
      return op::bit_xor;
    default:
      TORCH_CHECK_VALUE(false, "op is ", static_cast<int>(asked), "; expected one of torch.distributed.ReduceOp");
  }
}

}  // namespace

reduction::reduction(const c10d::ReduceOp& asked, at::ScalarType type, std::int64_t ranks)
    : asked_(asked), how_(operation_of(asked.op_)), ranks_(ranks) {
  const bool needs_numbers = asked.op_ == kind::AVG || asked.op_ == kind::PREMUL_SUM;
  TORCH_CHECK_TYPE(!(needs_numbers && type == at::kBool), "op is ", asked.op_ == kind::AVG ? "AVG" : "PREMUL_SUM",
                   ", and the tensor is of bool; expected numbers");
}

at::Tensor reduction::contribution(const at::Tensor& input) const {
  if (asked_.op_ != kind::PREMUL_SUM) return input;
  const auto* const factor = dynamic_cast<const c10d::NCCLPreMulSumSupplement*>(asked_.supplement_.get());
  TORCH_CHECK_VALUE(factor != nullptr, "op is PREMUL_SUM without a factor; expected _make_nccl_premul_sum(factor)");
  if (factor->tensor_factor.defined()) return at::mul(input, factor->tensor_factor).to(input.scalar_type());
  return at::mul(input, factor->double_factor).to(input.scalar_type());
}

void reduction::finish(const at::Tensor& result) const {
  if (asked_.op_ != kind::AVG) return;
  if (at::isIntegralType(result.scalar_type(), /*includeBool=*/false))
    result.div_(ranks_, "trunc");
  else
    result.div_(ranks_);
}

}  // namespace syncyte::torch_binding::process_group
