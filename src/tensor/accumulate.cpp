// Accumulates: combines a box of elements with a tensor's.

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "base/strided_copy.hpp"
#include "memory/scratch.hpp"
#include "rows/combine_pieces.hpp"
#include "tensor/box_parts.hpp"
#include "tensor/box_transfer.hpp"
#include "tensor/staged_adds.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {
namespace {

/// Bytes of elements, and of the list of their places, that are combined at once, about: they fit a processor's cache.
constexpr std::size_t round_bytes = std::size_t{512} << 10;
/// Packed bytes for other owners that are sent at once, about, so that a large box needs little extra memory. A started
/// access sends all at once.
constexpr std::size_t sent_bytes = std::size_t{64} << 20;
constexpr std::size_t all_bytes = std::numeric_limits<std::size_t>::max();

/// A box as pieces of rows: every row has the same ones.
class box_of_rows {
 public:
  box_of_rows(const layout& shape, const std::int64_t* lower, std::span<const std::int64_t> extent) : layout_(shape) {
    const std::vector<std::int64_t> strides = base::dense_strides(shape.shape(), shape.element_bytes());
    std::size_t inset = 0;
    for (std::size_t d = 1; d < strides.size(); ++d) inset += static_cast<std::size_t>(lower[d] * strides[d]);
    in_row_ = base::find_pieces(inset, std::span(strides).subspan(1), extent.subspan(1), shape.element_bytes());
  }

  std::size_t piece_bytes() const { return in_row_.bytes; }
  std::size_t row_bytes() const { return in_row_.bytes * in_row_.offsets.size(); }  // of the box

  /// Number of rows whose elements and list of pieces have about this size, at least 1.
  std::int64_t rows_of(std::size_t bytes) const {
    const std::size_t listed = in_row_.offsets.size() * sizeof(rows::row_piece);
    return static_cast<std::int64_t>(std::max<std::size_t>(1, bytes / std::max(row_bytes(), listed)));
  }

  std::vector<rows::row_piece> pieces(std::int64_t first, std::int64_t count) const {
    std::vector<rows::row_piece> result;
    result.reserve(static_cast<std::size_t>(count) * in_row_.offsets.size());
    for (std::int64_t row = first; row < first + count; ++row)
      for (const std::size_t inset : in_row_.offsets) result.push_back({row, inset});
    return result;
  }

  /// Offsets of pieces() in the owner's memory.
  std::vector<std::size_t> offsets(int owner, std::int64_t first, std::int64_t count) const {
    std::vector<std::size_t> result;
    result.reserve(static_cast<std::size_t>(count) * in_row_.offsets.size());
    for (std::int64_t row = first; row < first + count; ++row)
      for (const std::size_t inset : in_row_.offsets) result.push_back(layout_.offset_at_owner(owner, row) + inset);
    return result;
  }

 private:
  const layout& layout_;
  base::box_pieces in_row_;
};

/// Elements of the caller's box, packed and multiplied by `alpha` unless that is null.
memory::scratch pack(const std::byte* here, const base::buffer& user, std::span<const std::int64_t> shape,
                     const void* alpha) {
  const std::size_t element = user.element_bytes();
  const std::size_t elements = static_cast<std::size_t>(user.elements() / user.extent(0) * shape[0]);
  memory::scratch packed(elements * element);
  base::copy_strided(packed.data(), base::dense_strides(shape, element), here, user.strides(), shape, element);
  if (alpha != nullptr)
    rows::scale_elements(packed.data(), elements, static_cast<const std::byte*>(alpha), user.dtype());
  return packed;
}

/// Stages rows that are zero outside of their pieces; the pieces of a row follow one another.
void stage_pieces(std::span<const rows::row_piece> pieces, std::size_t bytes, const std::byte* values,
                  std::size_t row_bytes, staged_adds& to) {
  const memory::scratch row(row_bytes);
  const std::lock_guard guard(to.mutex);
  for (std::size_t i = 0; i < pieces.size();) {
    const std::int64_t number = pieces[i].row;
    std::memset(row.data(), 0, row_bytes);
    for (; i < pieces.size() && pieces[i].row == number; ++i)
      std::memcpy(row.data() + pieces[i].inset, values + i * bytes, bytes);
    to.sums.add(number, row.data());
  }
}

}  // namespace

/// Combines a box, and starts to combine the last elements of other owners, at most about `most_bytes`. Null: all are
/// combined.
std::unique_ptr<window::transfer> whole_tensor::combine_box(base::array_argument<std::int64_t> lower,
                                                            const base::buffer& user, syncyte_op_t op,
                                                            const void* alpha, std::size_t most_bytes) {
  if (user.elements() == 0) return nullptr;
  const std::int64_t end = lower.values[0] + user.extent(0);
  const box_of_rows box(layout_, lower.values, user.shape());
  const bool is_staged = stages(op);
  const std::int64_t most_sent = box.rows_of(most_bytes);
  std::int64_t room = most_sent;  // rows for others until they are sent
  auto others = std::make_unique<box_transfer>(storage_->remote(), window::row_access::add, op);
  std::vector<std::int64_t> shape(user.shape().begin(), user.shape().end());
  for (std::int64_t first = lower.values[0]; first < end; first += shape[0]) {
    const int owner = layout_.partition().owner(first);
    const bool is_here = is_staged || is_mapped(owner);
    shape[0] = std::min(
        {end - first, layout_.partition().first(owner + 1) - first, is_here ? box.rows_of(round_bytes) : room});
    memory::scratch packed = pack(user.data() + (first - lower.values[0]) * user.stride(0), user, shape, alpha);
    if (is_here) {
      const std::vector<rows::row_piece> pieces = box.pieces(first, shape[0]);
      if (is_staged) {
        stage_pieces(pieces, box.piece_bytes(), packed.data(), layout_.row_bytes(), *staged_);
        continue;
      }
      rows::combine_pieces(storage_->mapped_rows(), {pieces, box.piece_bytes(), packed.data(), layout_.dtype(), op},
                           storage_->locks());
      continue;
    }
    others->add({owner, box.piece_bytes(), box.offsets(owner, first, shape[0]), std::move(packed), {}});
    room -= shape[0];
    if (room > 0) continue;
    others->run();
    room = most_sent;
  }
  return box_transfer::start(std::move(others));
}

base::buffer whole_tensor::check_combining(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* source,
                                           syncyte_op_t op) const {
  const base::buffer user = check_box(lower, source, "source");
  rows::require_combining(layout_.dtype(), op);
  if (user.elements() == 0 || stages(op)) return user;
  require_addable(lower.values[0], lower.values[0] + user.extent(0));
  require_apart(lower, user, false);
  return user;
}

void whole_tensor::accumulate_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* source,
                                  syncyte_op_t op, const void* alpha) {
  const base::buffer whole = check_combining(lower, source, op);
  const std::size_t most_bytes =
      stages(op) ? all_bytes : packed_bytes_in(sent_bytes, piece_bytes_of(whole));  // whole rows are staged
  visit_box(lower, *source, whole, most_bytes, [&](auto corner, const auto& user) {
    if (const auto last = combine_box(corner, user, op, alpha, sent_bytes)) last->wait();
  });
}

std::unique_ptr<window::started_access> whole_tensor::iaccumulate_box(base::array_argument<std::int64_t> lower,
                                                                      const syncyte_buffer_t* source, syncyte_op_t op,
                                                                      const void* alpha) {
  const base::buffer user = check_combining(lower, source, op);
  return std::make_unique<window::started_access>(shared_from_this(), combine_box(lower, user, op, alpha, all_bytes));
}

/// Throws SYNCYTE_ERR_UNSUPPORTED, naming the first row of [first, end) that this rank cannot add to.
void whole_tensor::require_addable(std::int64_t first, std::int64_t end) const {
  if (storage_->mapped_rows().covers(layout_.rows()) || storage_->remote()->can_add_rows()) return;
  for (std::int64_t row = first; row < end;) {
    const rows::row_range* const range = storage_->mapped_rows().find_range(row);
    if (range == nullptr) refuse_to_add("row of the box", -1, row);
    row = range->first + range->count;
  }
}

}  // namespace syncyte::tensor
