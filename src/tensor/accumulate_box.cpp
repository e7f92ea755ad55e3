// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/box_operations.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "base/strided_copy.hpp"
#include "memory/scratch.hpp"
#include "rows/add_rows.hpp"
#include "rows/combine_pieces.hpp"
#include "tensor/box_parts.hpp"
#include "tensor/box_transfer.hpp"
#include "tensor/own_memory.hpp"
#include "tensor/row_request.hpp"
#include "tensor/staged_adds.hpp"

namespace syncyte::tensor {
namespace {

/// About how many bytes of elements, with the list of their places, are combined at once: they fit a processor's cache.
constexpr std::size_t combined_bytes = std::size_t{512} << 10;
/// About how many packed bytes are sent to other owners at once, so that a large box needs little extra memory. A
/// started access sends all at once.
constexpr std::size_t sent_bytes = std::size_t{64} << 20;
constexpr std::size_t all_bytes = std::numeric_limits<std::size_t>::max();

/// An owner's part of a box as pieces that each lie in one row of the memory: all rows of the part have the same ones.
/// Elements of less than rows::locked_row_bytes have no locks; then a piece may be several rows of one element.
class part_pieces {
 public:
  part_pieces(const layout& of, const owned_part& part) : layout_(of), part_(part) {
    const std::span<const std::int64_t> strides(part.strides), shape(part.shape);
    in_row_ = base::find_pieces(0, strides.subspan(1), shape.subspan(1), of.element_bytes());
    if (of.blocks() != nullptr && of.row_bytes() >= rows::locked_row_bytes) split_to_elements();
  }

  std::size_t piece_bytes() const { return in_row_.bytes; }

  /// Bytes of a row of the part, or of the list of its pieces if that is larger.
  std::size_t row_bytes() const { return std::max(in_row_.bytes, sizeof(rows::row_piece)) * in_row_.offsets.size(); }

  std::vector<rows::row_piece> pieces(std::int64_t first, std::int64_t count) const {
    std::vector<rows::row_piece> result;
    const std::int64_t owners_first = layout_.partition().first(part_.owner);
    const bool is_element = layout_.blocks() != nullptr;  // each row of the memory
    for_each_row(first, count, [&](std::size_t begin) {
      const std::int64_t row = owners_first + static_cast<std::int64_t>(begin / layout_.row_bytes());
      const std::size_t inset = begin % layout_.row_bytes();
      for (const std::size_t offset : in_row_.offsets)
        result.push_back(is_element ? rows::row_piece{row + static_cast<std::int64_t>(offset / layout_.row_bytes()), 0}
                                    : rows::row_piece{row, inset + offset});
    });
    return result;
  }

  /// Offsets of pieces() in the owner's memory.
  std::vector<std::size_t> offsets(std::int64_t first, std::int64_t count) const {
    std::vector<std::size_t> result;
    for_each_row(first, count, [&](std::size_t begin) {
      for (const std::size_t offset : in_row_.offsets) result.push_back(begin + offset);
    });
    return result;
  }

 private:
  template <class Visit>
  void for_each_row(std::int64_t first, std::int64_t count, Visit&& visit) const {
    for (std::int64_t row = first; row < first + count; ++row)
      visit(part_.offset + static_cast<std::size_t>(row * part_.strides[0]));
  }

  void split_to_elements() {
    const base::box_pieces whole = std::exchange(in_row_, {layout_.element_bytes(), {}});
    for (const std::size_t offset : whole.offsets)
      for (std::size_t inset = 0; inset < whole.bytes; inset += in_row_.bytes)
        in_row_.offsets.push_back(offset + inset);
  }

  const layout& layout_;
  const owned_part& part_;
  base::box_pieces in_row_;
};

/// Elements of the caller's box, packed and multiplied by `alpha` unless that is null.
memory::scratch pack(const std::byte* here, const base::buffer& user, std::span<const std::int64_t> shape,
                     const void* alpha) {
  const std::size_t element = user.element_bytes();
  const std::size_t elements = base::volume(shape);
  memory::scratch packed(elements * element);
  base::copy_strided(packed.data(), base::dense_strides(shape, element), here, user.strides(), shape, element);
  if (alpha != nullptr)
    rows::scale_elements(packed.data(), elements, static_cast<const std::byte*>(alpha), user.dtype());
  return packed;
}

}  // namespace

/// Combines a box; starts to combine its last elements that are not mapped here, about `most_bytes` at most. Null: all
/// are combined.
std::unique_ptr<access::transfer> accumulate_box::combine(base::array_argument<std::int64_t> lower,
                                                          const base::buffer& user, std::size_t most_bytes) {
  if (user.elements() == 0) return nullptr;
  const layout& all = of_.layout();
  auto others = std::make_unique<box_transfer>("tensor_accumulate_box", of_.held()->remote(), window::row_access::add,
                                               op_, most_bytes);
  all.for_each_part({lower.values, user.shape().size()}, user.shape(), [&](const owned_part& part) {
    const part_pieces its(all, part);
    const std::byte* const here = user.data() + base::offset_of(user.strides(), part.inset);
    const bool is_here = is_staged() || of_.is_mapped(part.owner);
    const auto rows_here = static_cast<std::int64_t>(std::max<std::size_t>(1, combined_bytes / its.row_bytes()));
    std::vector<std::int64_t> shape = part.shape;
    for (std::int64_t first = 0; first < part.shape[0]; first += shape[0]) {
      shape[0] = std::min(part.shape[0] - first, is_here ? rows_here : others->room_for(its.row_bytes()));
      memory::scratch packed = pack(here + first * user.stride(0), user, shape, alpha_);
      if (is_here)
        combine_here(its.pieces(first, shape[0]), its.piece_bytes(), packed.data());
      else
        others->add({part.owner, its.piece_bytes(), its.offsets(first, shape[0]), std::move(packed), {}},
                    static_cast<std::size_t>(shape[0]) * its.row_bytes());
    }
  });
  return box_transfer::start(std::move(others));
}

void accumulate_box::combine_here(const std::vector<rows::row_piece>& pieces, std::size_t piece_bytes,
                                  const std::byte* packed) {
  if (is_staged()) return of_.staged()->add(pieces, piece_bytes, packed);
  storage& held = *of_.held();
  rows::combine_pieces(held.mapped_rows(), {pieces, piece_bytes, packed, of_.layout().dtype(), op_}, held.locks());
}

accumulate_box::accumulate_box(whole_tensor& of, base::array_argument<std::int64_t> lower,
                               const syncyte_buffer_t* source, const void* alpha, syncyte_op_t op)
    : box_operation(of, lower, source, "source"), op_(op), alpha_(alpha) {
  rows::require_combining(of.layout().dtype(), op);
  if (user_.elements() == 0 || is_staged()) return;
  if (!can_add_everywhere(of)) require_mapped(of, lower_, user_.shape());
  require_apart_from_box(of, lower_, user_, false);
}

std::unique_ptr<access::transfer> accumulate_box::begin() { return combine(lower_, user_, all_bytes); }

void accumulate_box::run() {
  const std::size_t most_bytes =
      is_staged() ? all_bytes : packed_bytes_in(sent_bytes, piece_bytes());  // whole rows are staged
  visit_box(lower_, *raw_, user_, most_bytes, [&](auto corner, const auto& part) {
    if (const auto last = combine(corner, part, sent_bytes)) last->wait();
  });
}

}  // namespace syncyte::tensor
