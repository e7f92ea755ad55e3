// Boxes: copies N-dimensional parts of a tensor to and from memory of any strides.

#include <algorithm>
#include <utility>
#include <vector>

#include "base/strided_copy.hpp"
#include "memory/scratch.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {
namespace {

/// Packed bytes that are transferred at once, about: a large box is copied in several rounds, so that it needs little
/// extra memory.
constexpr std::size_t round_bytes = std::size_t{64} << 20;

/// A part of a box that one owner holds, and packed memory for it.
struct remote_box {
  int owner;
  std::byte* user;  // the part's first element in the caller's memory
  std::vector<std::int64_t> shape;
  base::box_pieces pieces;
  memory::scratch packed;
};

std::vector<window::remote_rows> pieces_of(std::span<const remote_box> boxes) {
  std::vector<window::remote_rows> result;
  for (const remote_box& box : boxes)
    result.push_back({box.owner, box.pieces.bytes, box.pieces.offsets, box.packed.data(), {}});
  return result;
}

void get_boxes(window::remote& remote, std::span<const remote_box> boxes, const base::buffer& user) {
  remote.get_rows(pieces_of(boxes));
  for (const remote_box& box : boxes)
    base::copy_strided(box.user, user.strides(), box.packed.data(),
                       base::dense_strides(box.shape, user.element_bytes()), box.shape, user.element_bytes());
}

void put_boxes(window::remote& remote, std::span<const remote_box> boxes, const base::buffer& user) {
  for (const remote_box& box : boxes)
    base::copy_strided(box.packed.data(), base::dense_strides(box.shape, user.element_bytes()), box.user,
                       user.strides(), box.shape, user.element_bytes());
  remote.put_rows(pieces_of(boxes));
}

}  // namespace

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
  const std::size_t row_bytes = static_cast<std::size_t>(user.elements() / user.extent(0)) * element;
  const auto most_rows = static_cast<std::int64_t>(std::max<std::size_t>(1, round_bytes / row_bytes));
  std::vector<remote_box> others;
  std::int64_t room = most_rows;  // of this round
  const auto end_round = [&] {
    if (others.empty()) return;
    if (way == direction::from_tensor)
      get_boxes(*storage_->remote(), others, user);
    else
      put_boxes(*storage_->remote(), others, user);
    others.clear();
    room = most_rows;
  };
  for (std::int64_t first = lower[0], stop = 0; first < end; first = stop) {
    const rows::row_range* const range = map.find_range(first);
    const int owner = parts.owner(first);
    stop =
        std::min(end, range != nullptr ? range->first + range->count : std::min(parts.first(owner + 1), first + room));
    std::vector<std::int64_t> shape(user.shape().begin(), user.shape().end());
    shape[0] = stop - first;
    std::byte* const here = user.data() + (first - lower[0]) * user.stride(0);
    if (range != nullptr) {
      std::byte* const there = map.find(first) + inset;
      if (way == direction::from_tensor)
        base::copy_strided(here, user.strides(), there, strides, shape, element);
      else
        base::copy_strided(there, strides, here, user.strides(), shape, element);
      continue;
    }
    const std::size_t origin = layout_.offset_at_owner(owner, first) + static_cast<std::size_t>(inset);
    base::box_pieces pieces = base::find_pieces(origin, strides, shape, element);
    memory::scratch packed(pieces.bytes * pieces.offsets.size());
    others.push_back({owner, here, std::move(shape), std::move(pieces), std::move(packed)});
    room -= stop - first;
    if (room == 0) end_round();
  }
  end_round();
}

void whole_tensor::get_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* output) {
  copy_box(lower, check_box(lower, output, "output"), direction::from_tensor);
}

void whole_tensor::put_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* source) {
  copy_box(lower, check_box(lower, source, "source"), direction::to_tensor);
}

}  // namespace syncyte::tensor
