// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/box_operations.hpp"

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

/// A box as pieces of rows: every row has the same ones.
class box_of_rows {
 public:
  box_of_rows(const layout& shape, const std::int64_t* lower, std::span<const std::int64_t> extent) : layout_(shape) {
    const std::vector<std::int64_t> strides = shape.strides();
    const auto inset = static_cast<std::size_t>(inset_of(strides, lower));
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

}  // namespace

/// Combines a box; starts to combine its last elements that are not mapped here, about `most_bytes` at most. Null: all
/// are combined.
std::unique_ptr<access::transfer> accumulate_box::combine(base::array_argument<std::int64_t> lower,
                                                          const base::buffer& user, std::size_t most_bytes) {
  if (user.elements() == 0) return nullptr;
  const distribution::partition& owners = of_.layout().partition();
  const std::int64_t begin = lower.values[0], end = begin + user.extent(0);
  const box_of_rows box(of_.layout(), lower.values, user.shape());
  auto others = std::make_unique<box_transfer>("tensor_accumulate_box", of_.held()->remote(), window::row_access::add,
                                               op_, box.rows_of(most_bytes));
  std::vector<std::int64_t> shape(user.shape().begin(), user.shape().end());
  for (std::int64_t first = begin; first < end; first += shape[0]) {
    const int owner = owners.owner(first);
    const bool is_here = is_staged() || of_.is_mapped(owner);
    const std::int64_t most = is_here ? box.rows_of(combined_bytes) : others->room();
    shape[0] = std::min({end - first, owners.first(owner + 1) - first, most});
    memory::scratch packed = pack(user.data() + (first - begin) * user.stride(0), user, shape, alpha_);
    if (is_here)
      combine_here(box.pieces(first, shape[0]), box.piece_bytes(), packed.data());
    else
      others->add({owner, box.piece_bytes(), box.offsets(owner, first, shape[0]), std::move(packed), {}}, shape[0]);
  }
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
  if (!can_add_everywhere(of)) require_mapped(of, lower_.values[0], lower_.values[0] + user_.extent(0));
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
