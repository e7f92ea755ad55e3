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

}  // namespace

void copy_elements(const whole_tensor& of, std::span<const std::int64_t> lower, const base::buffer& user, bool gets,
                   box_transfer& others) {
  const layout& all = of.layout();
  const box_elements copy{user, gets};
  all.for_each_part(lower, user.shape(), [&](const owned_part& part) {
    std::byte* const here = user.data() + base::offset_of(user.strides(), part.inset);
    if (std::byte* const there = of.held()->find(all, part.owner, part.offset))
      return copy(here, there, part.strides, part.shape);
    std::vector<std::int64_t> shape = part.shape;
    const std::size_t row_bytes = base::volume(std::span(shape).subspan(1)) * all.element_bytes();
    for (std::int64_t first = 0; first < part.shape[0]; first += shape[0]) {
      shape[0] = std::min(part.shape[0] - first, others.room_for(row_bytes));
      const std::size_t origin = part.offset + static_cast<std::size_t>(first * part.strides[0]);
      auto pieces = base::find_pieces(origin, part.strides, shape, all.element_bytes());
      others.add(make_part(part.owner, std::move(pieces), copy, here + first * user.stride(0), shape),
                 static_cast<std::size_t>(shape[0]) * row_bytes);
    }
  });
}

std::unique_ptr<box_transfer> copies_of(const whole_tensor& of, const char* operation, bool gets,
                                        std::size_t most_bytes) {
  const auto what = gets ? window::row_access::get : window::row_access::put;
  return std::make_unique<box_transfer>(operation, of.held()->remote(), what, SYNCYTE_OP_REPLACE, most_bytes);
}

/// Copies a box; starts the last round of elements that are not mapped here, about `most_bytes` at most. Null: all is
/// copied.
std::unique_ptr<access::transfer> copy_box::copy(base::array_argument<std::int64_t> lower, const base::buffer& user,
                                                 std::size_t most_bytes) {
  if (user.elements() == 0) return nullptr;
  auto others = copies_of(of_, gets_ ? "tensor_get_box" : "tensor_put_box", gets_, most_bytes);
  copy_elements(of_, {lower.values, user.shape().size()}, user, gets_, *others);
  return box_transfer::start(std::move(others));
}

copy_box::copy_box(whole_tensor& of, base::array_argument<std::int64_t> lower, const syncyte_buffer_t* array, bool gets)
    : box_operation(of, lower, array, gets ? "output" : "source"), gets_(gets) {
  if (gets) user_.require_writable();
  require_apart_from_box(of, lower_, user_, gets);
}

std::unique_ptr<access::transfer> copy_box::begin() { return copy(lower_, user_, box_transfer::one_round); }

void copy_box::run() {
  const std::size_t most = packed_bytes_in(round_bytes, piece_bytes());
  visit_box(lower_, *raw_, user_, most, [&](auto corner, const base::buffer& part) {
    if (const auto last = copy(corner, part, most)) last->wait();
  });
}

}  // namespace syncyte::tensor
