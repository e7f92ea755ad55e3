// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/box_operations.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/strided_copy.hpp"
#include "memory/scratch.hpp"
#include "tensor/box_parts.hpp"
#include "tensor/box_transfer.hpp"
#include "tensor/own_memory.hpp"

namespace syncyte::tensor {
namespace {

/// About how many packed bytes, with the list of pieces, are transferred in a round.
constexpr std::size_t round_bytes = std::size_t{64} << 20;
constexpr std::size_t one_round = std::numeric_limits<std::size_t>::max();

/// Copies between a caller's memory and other memory.
struct box_elements {
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
box_transfer::part make_part(int owner, base::box_pieces pieces, const box_elements& copy, std::byte* here,
                             const std::vector<std::int64_t>& shape) {
  box_transfer::part made{owner, pieces.bytes, std::move(pieces.offsets), {}, {}};
  made.packed = memory::scratch(made.piece_bytes * made.offsets.size());
  const auto dense = base::dense_strides(shape, copy.user.element_bytes());
  if (copy.gets)
    made.unpack = [user = copy.user, here, shape, dense](std::byte* packed) {
      box_elements{user, true}(here, packed, dense, shape);
    };
  else
    copy(here, made.packed.data(), dense, shape);
  return made;
}

/// Rows of a box that have about so many bytes, at least 1.
std::int64_t rows_in(std::size_t bytes, const base::buffer& box) {
  const auto extent = static_cast<std::size_t>(box.extent(0));
  return static_cast<std::int64_t>(std::clamp<std::size_t>(bytes / (box.bytes() / extent), 1, extent + 1));
}

}  // namespace

/// Copies a box in contiguous ranges of rows; starts the last round of rows that are not mapped here, about
/// `most_bytes` at most. Null: all is copied.
std::unique_ptr<access::transfer> copy_box::copy(base::array_argument<std::int64_t> lower, const base::buffer& user,
                                                 std::size_t most_bytes) {
  if (user.elements() == 0) return nullptr;
  const layout& all = of_.layout();
  const rows::row_map& mapped = of_.held()->mapped_rows();
  const std::vector<std::int64_t> strides = all.strides();
  const std::int64_t inset = inset_of(strides, lower.values);
  const std::int64_t begin = lower.values[0], end = begin + user.extent(0);
  const box_elements copy{user, gets_};
  const char* const operation = gets_ ? "tensor_get_box" : "tensor_put_box";
  const auto what = gets_ ? window::row_access::get : window::row_access::put;
  auto others = std::make_unique<box_transfer>(operation, of_.held()->remote(), what, SYNCYTE_OP_REPLACE,
                                               rows_in(most_bytes, user));
  std::vector<std::int64_t> shape(user.shape().begin(), user.shape().end());
  for (std::int64_t first = begin; first < end; first += shape[0]) {
    const rows::row_range* const range = mapped.find_range(first);
    const int owner = all.partition().owner(first);
    const std::int64_t limit = range != nullptr ? range->first + range->count
                                                : std::min(all.partition().first(owner + 1), first + others->room());
    shape[0] = std::min(end, limit) - first;
    std::byte* const here = user.data() + (first - begin) * user.stride(0);
    if (range != nullptr) {
      copy(here, mapped.find(first) + inset, strides, shape);
      continue;
    }
    const std::size_t origin = all.offset_at_owner(owner, first) + static_cast<std::size_t>(inset);
    auto pieces = base::find_pieces(origin, strides, shape, all.element_bytes());
    others->add(make_part(owner, std::move(pieces), copy, here, shape), shape[0]);
  }
  return box_transfer::start(std::move(others));
}

copy_box::copy_box(whole_tensor& of, base::array_argument<std::int64_t> lower, const syncyte_buffer_t* array, bool gets)
    : box_operation(of, lower, array, gets ? "output" : "source"), gets_(gets) {
  if (gets) user_.require_writable();
  require_apart_from_box(of, lower_, user_, gets);
}

std::unique_ptr<access::transfer> copy_box::begin() { return copy(lower_, user_, one_round); }

void copy_box::run() {
  const std::size_t most = packed_bytes_in(round_bytes, piece_bytes());
  visit_box(lower_, *raw_, user_, most, [&](auto corner, const base::buffer& part) {
    if (const auto last = copy(corner, part, most)) last->wait();
  });
}

}  // namespace syncyte::tensor
