// Boxes: copies N-dimensional parts of a tensor to and from memory of any strides.

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/strided_copy.hpp"
#include "memory/scratch.hpp"
#include "tensor/box_parts.hpp"
#include "tensor/box_transfer.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {
namespace {

/// Packed bytes, with the list of pieces, that are transferred at once, about: a large box is copied in several rounds,
/// so that it needs little extra memory. A started access has one round.
constexpr std::size_t round_bytes = std::size_t{64} << 20;
constexpr std::size_t one_round = std::numeric_limits<std::size_t>::max();

/// Copies between a caller's memory and other memory.
struct box_copy {
  const base::buffer& user;
  bool gets;  // to the caller's memory

  /// A part of this shape that begins at `here` in the caller's memory, at `there` in the other.
  void operator()(std::byte* here, std::byte* there, std::span<const std::int64_t> there_strides,
                  std::span<const std::int64_t> shape) const {
    if (gets)
      base::copy_strided(here, user.strides(), there, there_strides, shape, user.element_bytes());
    else
      base::copy_strided(there, there_strides, here, user.strides(), shape, user.element_bytes());
  }
};

/// A part of the caller's box, for its owner. The elements of a put are packed here, those of a get unpacked later.
box_transfer::part make_part(int owner, base::box_pieces pieces, const box_copy& copy, std::byte* here,
                             const std::vector<std::int64_t>& shape) {
  box_transfer::part made{owner, pieces.bytes, std::move(pieces.offsets), {}, {}};
  made.packed = memory::scratch(made.piece_bytes * made.offsets.size());
  const auto dense = base::dense_strides(shape, copy.user.element_bytes());
  if (copy.gets)
    made.unpack = [user = copy.user, here, shape, dense](std::byte* packed) {
      box_copy{user, true}(here, packed, dense, shape);
    };
  else
    copy(here, made.packed.data(), dense, shape);
  return made;
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
  require_inside(lower, values.shape());
  return values;
}

void whole_tensor::require_inside(std::span<const std::int64_t> lower, std::span<const std::int64_t> extent) const {
  const auto shape = layout_.shape();
  for (std::size_t d = 0; d < shape.size(); ++d)
    base::expect(lower[d] >= 0 && extent[d] <= shape[d] && lower[d] <= shape[d] - extent[d], SYNCYTE_ERR_INDEX,
                 {"lower", d}, lower[d], "a box of extent {} within 0 to {}", extent[d], shape[d]);
}

/// Copies a box in contiguous ranges of rows; starts the last round, of at most about `most_bytes` of rows that are not
/// mapped here. Null: all is copied.
std::unique_ptr<window::transfer> whole_tensor::copy_box(base::array_argument<std::int64_t> given_lower,
                                                         const base::buffer& user, direction way,
                                                         std::size_t most_bytes) {
  if (user.elements() == 0) return nullptr;
  const std::int64_t* const lower = given_lower.values;
  const std::size_t element = layout_.element_bytes();
  const std::vector<std::int64_t> strides = base::dense_strides(layout_.shape(), element);
  std::int64_t inset = 0;  // of the box from the start of a row, in bytes
  for (std::size_t d = 1; d < strides.size(); ++d) inset += lower[d] * strides[d];
  const std::int64_t end = lower[0] + user.extent(0);
  const std::size_t row_bytes = static_cast<std::size_t>(user.elements() / user.extent(0)) * element;
  const auto most_rows = static_cast<std::int64_t>(
      std::clamp<std::size_t>(most_bytes / row_bytes, 1, static_cast<std::size_t>(user.extent(0)) + 1));
  std::int64_t room = most_rows;  // of this round
  const box_copy copy{user, way == direction::from_tensor};
  const auto what = copy.gets ? window::row_access::get : window::row_access::put;
  auto others = std::make_unique<box_transfer>(storage_->remote(), what, SYNCYTE_OP_REPLACE);
  for (std::int64_t first = lower[0], stop = 0; first < end; first = stop) {
    const rows::row_range* const range = storage_->mapped_rows().find_range(first);
    const int owner = layout_.partition().owner(first);
    const std::int64_t limit =
        range != nullptr ? range->first + range->count : std::min(layout_.partition().first(owner + 1), first + room);
    stop = std::min(end, limit);
    std::vector<std::int64_t> shape(user.shape().begin(), user.shape().end());
    shape[0] = stop - first;
    std::byte* const here = user.data() + (first - lower[0]) * user.stride(0);
    if (range != nullptr) {
      copy(here, storage_->mapped_rows().find(first) + inset, strides, shape);
      continue;
    }
    const std::size_t origin = layout_.offset_at_owner(owner, first) + static_cast<std::size_t>(inset);
    others->add(make_part(owner, base::find_pieces(origin, strides, shape, element), copy, here, shape));
    room -= stop - first;
    if (room > 0) continue;
    others->run();
    room = most_rows;
  }
  return box_transfer::start(std::move(others));
}

/// Copies a box in rounds.
void whole_tensor::copy_all(base::array_argument<std::int64_t> lower, const syncyte_buffer_t& raw,
                            const base::buffer& whole, direction way) {
  const std::size_t most = packed_bytes_in(round_bytes, piece_bytes_of(whole));
  visit_box(lower, raw, whole, most, [&](auto corner, const base::buffer& part) {
    if (const auto last = copy_box(corner, part, way, most)) last->wait();
  });
}

std::size_t whole_tensor::piece_bytes_of(const base::buffer& box) const {
  const std::size_t element = layout_.element_bytes();
  return base::piece_bytes(base::dense_strides(layout_.shape(), element), box.shape(), element);
}

base::buffer whole_tensor::check_copy(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* packed,
                                      direction way) const {
  const bool is_get = way == direction::from_tensor;
  const base::buffer user = check_box(lower, packed, is_get ? "output" : "source");
  if (is_get) user.require_writable();
  require_apart(lower, user, is_get);
  return user;
}

void whole_tensor::get_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* output) {
  copy_all(lower, *output, check_copy(lower, output, direction::from_tensor), direction::from_tensor);
}

void whole_tensor::put_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* source) {
  copy_all(lower, *source, check_copy(lower, source, direction::to_tensor), direction::to_tensor);
}

std::unique_ptr<window::started_access> whole_tensor::iget_box(base::array_argument<std::int64_t> lower,
                                                               const syncyte_buffer_t* output) {
  const auto user = check_copy(lower, output, direction::from_tensor);
  return std::make_unique<window::started_access>(shared_from_this(),
                                                  copy_box(lower, user, direction::from_tensor, one_round));
}

std::unique_ptr<window::started_access> whole_tensor::iput_box(base::array_argument<std::int64_t> lower,
                                                               const syncyte_buffer_t* source) {
  const auto user = check_copy(lower, source, direction::to_tensor);
  return std::make_unique<window::started_access>(shared_from_this(),
                                                  copy_box(lower, user, direction::to_tensor, one_round));
}

std::int64_t whole_tensor::locate_box(base::array_argument<std::int64_t> given_lower,
                                      base::array_argument<std::int64_t> given_extent, std::int64_t capacity,
                                      std::int32_t* ranks, std::int64_t* first, std::int64_t* rows) const {
  const auto dimensions = static_cast<std::int64_t>(layout_.shape().size());
  const auto lower = given_lower.checked("lower", dimensions, "dimension");
  const auto extent = given_extent.checked("extent", dimensions, "dimension");
  for (std::size_t d = 0; d < extent.size(); ++d)
    base::expect(extent[d] >= 0, SYNCYTE_ERR_SHAPE, {"extent", d}, extent[d], "0 or more");
  require_inside(lower, extent);
  base::expect(capacity >= 0, SYNCYTE_ERR_ARGUMENT, "capacity", capacity, "0 or more");
  if (std::ranges::find(extent, 0) != extent.end()) return 0;
  const std::int64_t end = lower[0] + extent[0];
  std::int64_t count = 0;
  for (std::int64_t row = lower[0], stop = 0; row < end; row = stop, ++count) {
    const int owner = layout_.partition().owner(row);
    stop = std::min(end, layout_.partition().first(owner + 1));
    if (count >= capacity) continue;
    if (ranks != nullptr) ranks[count] = owner;
    if (first != nullptr) first[count] = row;
    if (rows != nullptr) rows[count] = stop - row;
  }
  return count;
}

}  // namespace syncyte::tensor
