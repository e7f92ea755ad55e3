// Boxes: copies N-dimensional parts of a tensor to and from memory of any strides.

#include <algorithm>
#include <vector>

#include "base/strided_copy.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {

base::buffer whole_tensor::check_box(base::array_argument<std::int64_t> given_lower, const syncyte_buffer_t* packed,
                                     const char* packed_name) const {
  const auto shape = layout_.shape();
  const auto lower = given_lower.checked("lower", static_cast<std::int64_t>(shape.size()), "dimension");
  const base::buffer values(packed, packed_name);
  values.require_dtype(layout_.dtype()).require_host();
  if (values.shape().size() != shape.size()) [[unlikely]]
    base::refuse(SYNCYTE_ERR_SHAPE,
                 {.object = packed_name,
                  .argument = "ndim",
                  .value = fmt::to_string(values.ndim()),
                  .expected = fmt::format("{}, as the tensor {}", shape.size(), base::shape_text(shape))});
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t extent = values.extent(static_cast<int>(d));
    base::expect(lower[d] >= 0 && extent <= shape[d] && lower[d] <= shape[d] - extent, SYNCYTE_ERR_INDEX, {"lower", d},
                 lower[d], "a box of extent {} within 0 to {}", extent, shape[d]);
  }
  return values;
}

/// Copies a box in contiguous ranges of rows.
void whole_tensor::copy_box(base::array_argument<std::int64_t> given_lower, const base::buffer& user, direction way) {
  if (user.elements() == 0) return;
  const std::int64_t* const lower = given_lower.values;
  const std::size_t element = layout_.element_bytes();
  const std::vector<std::int64_t> strides = base::dense_strides(layout_.shape(), element);
  std::int64_t inset = 0;  // of the box from the start of a row, in bytes
  for (std::size_t d = 1; d < strides.size(); ++d) inset += lower[d] * strides[d];
  const rows::row_map& map = storage_->mapped_rows();
  const base::partition& parts = layout_.partition();
  const std::int64_t end = lower[0] + user.extent(0);
  for (std::int64_t first = lower[0], stop = 0; first < end; first = stop) {
    const rows::row_range* const range = map.find_range(first);
    const int owner = parts.owner(first);
    stop = std::min(end, range != nullptr ? range->first + range->count : parts.first(owner + 1));
    std::vector<std::int64_t> shape(user.shape().begin(), user.shape().end());
    shape[0] = stop - first;
    std::byte* const here = user.data() + (first - lower[0]) * user.stride(0);
    const auto copy = [&](std::byte* there, std::span<const std::int64_t> there_strides) {
      if (way == direction::from_tensor)
        base::copy_strided(here, user.strides(), there, there_strides, shape, element);
      else
        base::copy_strided(there, there_strides, here, user.strides(), shape, element);
    };
    if (range != nullptr) {
      copy(map.find(first) + inset, strides);
      continue;
    }
    const std::size_t origin = layout_.offset_at_owner(owner, first) + static_cast<std::size_t>(inset);
    const base::box_pieces pieces = base::find_pieces(origin, strides, shape, element);
    std::vector<std::byte> packed(pieces.bytes * pieces.offsets.size());
    if (way == direction::from_tensor) storage_->remote()->get_rows(owner, pieces.offsets, pieces.bytes, packed.data());
    copy(packed.data(), base::dense_strides(shape, element));
    if (way == direction::from_tensor) continue;
    storage_->remote()->put_rows(owner, pieces.offsets, pieces.bytes, packed.data());
    storage_->remote()->flush(owner);  // orders this write before later writes of the same elements
  }
}

void whole_tensor::get_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* output) {
  copy_box(lower, check_box(lower, output, "output"), direction::from_tensor);
}

void whole_tensor::put_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* source) {
  copy_box(lower, check_box(lower, source, "source"), direction::to_tensor);
}

}  // namespace syncyte::tensor
