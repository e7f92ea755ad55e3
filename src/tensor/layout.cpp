// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/layout.hpp"

#include <functional>
#include <numeric>
#include <utility>

#include "base/buffer.hpp"
#include "base/strided_copy.hpp"

namespace syncyte::tensor {

layout::layout(std::string name, syncyte_dtype_t dtype, std::vector<std::int64_t> shape, distribution::partition rows)
    : name_(std::move(name)),
      dtype_(dtype),
      shape_(std::move(shape)),
      rows_(std::move(rows)),
      element_bytes_(base::dtype_size(dtype)),
      row_elements_(std::accumulate(shape_.begin() + 1, shape_.end(), std::int64_t{1}, std::multiplies<>())) {}

std::string layout::text() const {
  const std::string name = name_.empty() ? "" : fmt::format("\"{}\" ", name_);
  return fmt::format("tensor {}({}, {})", name, base::dtype_name(dtype_), base::shape_text(shape_));
}

std::vector<std::int64_t> layout::strides() const { return base::dense_strides(shape_, element_bytes_); }

void layout::require_inside(std::span<const std::int64_t> lower, std::span<const std::int64_t> extent) const {
  for (std::size_t d = 0; d < shape_.size(); ++d)
    base::expect(lower[d] >= 0 && extent[d] <= shape_[d] && lower[d] <= shape_[d] - extent[d], SYNCYTE_ERR_INDEX,
                 {"lower", d}, lower[d], "a box of extent {} within 0 to {}", extent[d], shape_[d]);
}

std::int64_t inset_of(std::span<const std::int64_t> strides, const std::int64_t* lower) {
  return std::inner_product(strides.begin() + 1, strides.end(), lower + 1, std::int64_t{0});
}

}  // namespace syncyte::tensor
