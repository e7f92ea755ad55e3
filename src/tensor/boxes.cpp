// Boxes: copies N-dimensional parts of a tensor to and from memory of any strides.

#include <algorithm>
#include <vector>

#include "base/strided_copy.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {

using base::box_pieces;
using base::copy_strided;
using base::dense_strides;
using base::find_pieces;

namespace {

/// A box in the user's array and in the tensor; its parts are copied one after another.
struct box_copy {
  const base::buffer& user;
  const std::int64_t* lower;
  std::vector<std::int64_t> strides;  // of the tensor's rows

  std::vector<std::int64_t> shape(std::int64_t row_count) const {
    std::vector<std::int64_t> result(user.shape().begin(), user.shape().end());
    result[0] = row_count;
    return result;
  }
  std::vector<std::int64_t> user_strides() const {
    std::vector<std::int64_t> result;
    for (int d = 0; d < user.ndim(); ++d) result.push_back(user.stride(d));
    return result;
  }
  std::byte* user_data(std::int64_t first_row) const { return user.data() + (first_row - lower[0]) * user.stride(0); }
  /// Offset of the box from the start of a row, in bytes.
  std::int64_t inset() const {
    std::int64_t result = 0;
    for (std::size_t d = 1; d < strides.size(); ++d) result += lower[d] * strides[d];
    return result;
  }
};

}  // namespace

base::buffer whole_tensor::check_box(base::array_argument<std::int64_t> given_lower, const syncyte_buffer_t* packed,
                                     const char* packed_name) const {
  const auto shape = layout_.shape();
  const auto lower = given_lower.checked("lower", static_cast<std::int64_t>(shape.size()), "dimension");
  const base::buffer values(packed, packed_name);
  values.require_dtype(layout_.dtype()).require_host();
  base::require(static_cast<std::size_t>(values.ndim()) == shape.size(), SYNCYTE_ERR_SHAPE,
                "{}: shape {} has {} dimensions; expected {}, as the tensor {}", packed_name,
                base::shape_text(values.shape()), values.ndim(), shape.size(), base::shape_text(shape));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t extent = values.extent(static_cast<int>(d));
    base::expect(lower[d] >= 0 && extent <= shape[d] && lower[d] <= shape[d] - extent, SYNCYTE_ERR_INDEX, {"lower", d},
                 lower[d], "a box of extent {} within 0 to {}", extent, shape[d]);
  }
  return values;
}

/// Splits a range of rows into contiguous parts and calls direct(first row, count, address of the first row) or
/// remote(first row, count, owner) for each.
template <class Direct, class Remote>
void whole_tensor::for_each_part(std::int64_t first, std::int64_t count, Direct&& direct, Remote&& remote) const {
  const rows::row_map& map = storage_->direct();
  const std::int64_t end = first + count;
  while (first < end) {
    const rows::row_range* const range = map.find_range(first);
    if (range != nullptr) {
      const std::int64_t stop = std::min(end, range->first + range->count);
      direct(first, stop - first, map.find(first));
      first = stop;
    } else {
      const int owner = layout_.partition().owner(first);
      const std::int64_t stop = std::min(end, layout_.partition().first(owner + 1));
      remote(first, stop - first, owner);
      first = stop;
    }
  }
}

void whole_tensor::get_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* output) {
  const base::buffer user = check_box(lower, output, "output");
  if (user.elements() == 0) return;
  const std::size_t element = layout_.element_bytes();
  const box_copy box{user, lower.values, dense_strides(layout_.shape(), element)};
  const auto user_strides = box.user_strides();
  for_each_part(
      lower.values[0], user.extent(0),
      [&](std::int64_t first, std::int64_t count, const std::byte* row) {
        copy_strided(box.user_data(first), user_strides, row + box.inset(), box.strides, box.shape(count), element);
      },
      [&](std::int64_t first, std::int64_t count, int owner) {
        const auto shape = box.shape(count);
        const auto origin = layout_.offset_at_owner(owner, first) + static_cast<std::size_t>(box.inset());
        const box_pieces pieces = find_pieces(origin, box.strides, shape, element);
        std::vector<std::byte> packed(pieces.bytes * pieces.offsets.size());
        storage_->remote()->get_rows(owner, pieces.offsets, pieces.bytes, packed.data());
        copy_strided(box.user_data(first), user_strides, packed.data(), dense_strides(shape, element), shape, element);
      });
}

void whole_tensor::put_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* source) {
  const base::buffer user = check_box(lower, source, "source");
  if (user.elements() == 0) return;
  const std::size_t element = layout_.element_bytes();
  const box_copy box{user, lower.values, dense_strides(layout_.shape(), element)};
  const auto user_strides = box.user_strides();
  for_each_part(
      lower.values[0], user.extent(0),
      [&](std::int64_t first, std::int64_t count, std::byte* row) {
        copy_strided(row + box.inset(), box.strides, box.user_data(first), user_strides, box.shape(count), element);
      },
      [&](std::int64_t first, std::int64_t count, int owner) {
        const auto shape = box.shape(count);
        const auto origin = layout_.offset_at_owner(owner, first) + static_cast<std::size_t>(box.inset());
        const box_pieces pieces = find_pieces(origin, box.strides, shape, element);
        std::vector<std::byte> packed(pieces.bytes * pieces.offsets.size());
        copy_strided(packed.data(), dense_strides(shape, element), box.user_data(first), user_strides, shape, element);
        storage_->remote()->put_rows(owner, pieces.offsets, pieces.bytes, packed.data());
        storage_->remote()->flush(owner);  // orders this write before later writes of the same elements
      });
}

}  // namespace syncyte::tensor
