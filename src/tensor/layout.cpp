// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/layout.hpp"

#include <algorithm>
#include <utility>

#include "base/buffer.hpp"
#include "base/error.hpp"
#include "base/strided_copy.hpp"

namespace syncyte::tensor {

layout::layout(std::string name, syncyte_dtype_t dtype, std::vector<std::int64_t> shape, distribution::partition rows)
    : name_(std::move(name)),
      dtype_(dtype),
      shape_(std::move(shape)),
      rows_(std::move(rows)),
      element_bytes_(base::dtype_size(dtype)),
      slice_elements_(static_cast<std::int64_t>(base::volume(std::span(shape_).subspan(1)))),
      row_elements_(slice_elements_) {}

layout::layout(std::string name, syncyte_dtype_t dtype, std::shared_ptr<const block_memory> blocks)
    : name_(std::move(name)),
      dtype_(dtype),
      shape_(blocks->shape().begin(), blocks->shape().end()),
      rows_(distribution::partition::explicit_lengths(blocks->counts())),
      element_bytes_(base::dtype_size(dtype)),
      slice_elements_(static_cast<std::int64_t>(base::volume(std::span(shape_).subspan(1)))),
      row_elements_(1),
      blocks_(std::move(blocks)) {}

void layout::require_rows() const {
  base::require(!blocks_, SYNCYTE_ERR_UNSUPPORTED,
                "{} is cut by a layout, so that a row may lie on several ranks; expected a tensor that is cut by rows, "
                "or accesses to boxes",
                text());
}

void layout::for_each_part(std::span<const std::int64_t> lower, std::span<const std::int64_t> extent,
                           const part_visitor& visit) const {
  if (blocks_) return blocks_->for_each_part(lower, extent, visit);
  owned_part part{0, std::vector<std::int64_t>(lower.size()), {extent.begin(), extent.end()}, strides(), 0};
  if (std::ranges::find(extent, 0) != extent.end()) return;
  const auto inset = static_cast<std::size_t>(inset_of(part.strides, lower.data()));
  const std::int64_t end = lower[0] + extent[0];
  for (std::int64_t row = lower[0]; row < end; row += part.shape[0]) {
    part.owner = rows_.owner(row);
    part.inset[0] = row - lower[0];
    part.shape[0] = std::min(end, rows_.first(part.owner + 1)) - row;
    part.offset = offset_at_owner(part.owner, row) + inset;
    visit(part);
  }
}

std::pair<int, std::size_t> layout::find_element(std::int64_t number) const {
  if (!blocks_) {
    const std::int64_t row = number / row_elements_;
    const int owner = rows_.owner(row);
    return {owner, offset_at_owner(owner, row) + static_cast<std::size_t>(number % row_elements_) * element_bytes_};
  }
  std::vector<std::int64_t> point(shape_.size());
  for (std::size_t axis = shape_.size(); axis-- > 0; number /= shape_[axis]) point[axis] = number % shape_[axis];
  std::pair<int, std::size_t> result;
  blocks_->for_each_part(point, std::vector<std::int64_t>(shape_.size(), 1),
                         [&result](const owned_part& part) { result = {part.owner, part.offset}; });
  return result;
}

std::string layout::text() const {
  const std::string name = name_.empty() ? "" : fmt::format("\"{}\" ", name_);
  return fmt::format("tensor {}({}, {})", name, base::dtype_name(dtype_), base::shape_text(shape_));
}

std::vector<std::int64_t> layout::strides() const { return base::dense_strides(shape_, element_bytes_); }

void require_box_inside(std::span<const std::int64_t> shape, std::span<const std::int64_t> lower,
                        std::span<const std::int64_t> extent) {
  for (std::size_t d = 0; d < shape.size(); ++d)
    base::expect(lower[d] >= 0 && extent[d] <= shape[d] && lower[d] <= shape[d] - extent[d], SYNCYTE_ERR_INDEX,
                 {"lower", d}, lower[d], "a box of extent {} within 0 to {}", extent[d], shape[d]);
}

std::int64_t inset_of(std::span<const std::int64_t> strides, const std::int64_t* lower) {
  return base::offset_of(strides.subspan(1), {lower + 1, strides.size() - 1});
}

}  // namespace syncyte::tensor
