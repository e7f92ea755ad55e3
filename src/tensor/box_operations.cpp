// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/box_operations.hpp"

#include "base/strided_copy.hpp"

namespace syncyte::tensor {
namespace {

base::array_argument<std::int64_t> checked(base::array_argument<std::int64_t> lower, const layout& shape) {
  lower.checked("lower", std::ssize(shape.shape()), "dimension");
  return lower;
}

}  // namespace

box_operation::box_operation(whole_tensor& of, base::array_argument<std::int64_t> lower, const syncyte_buffer_t* array,
                             const char* array_name)
    : of_(of), lower_(checked(lower, of.layout())), raw_(array), user_(array, array_name) {
  of.require_host("an operation on boxes");
  const auto shape = of.layout().shape();
  user_.require_dtype(of.layout().dtype()).require_host();
  if (user_.shape().size() != shape.size()) [[unlikely]]
    base::refuse(SYNCYTE_ERR_SHAPE,
                 {.object = array_name,
                  .argument = "ndim",
                  .value = fmt::to_string(user_.ndim()),
                  .expected = fmt::format("{}, as the tensor {}", shape.size(), base::shape_text(shape))});
  of.layout().require_inside({lower.values, shape.size()}, user_.shape());
}

std::size_t box_operation::piece_bytes() const {
  const layout& shape = of_.layout();
  if (shape.blocks() != nullptr) return shape.element_bytes();  // at least
  return base::piece_bytes(shape.strides(), user_.shape(), shape.element_bytes());
}

}  // namespace syncyte::tensor
