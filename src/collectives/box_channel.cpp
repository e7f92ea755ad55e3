// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/box_channel.hpp"

#include <algorithm>

namespace syncyte::collectives {
namespace {

using distribution::shipment;

std::int64_t elements_of(const shipment& box) { return distribution::volume({{}, box.count}); }

/// The pieces of a box, of at most some number of elements each, in row-major order. A piece has one index of the axes
/// before `axis`, up to `length` of `axis`, and all of the others.
struct box_cut {
  std::size_t axis = 0;
  std::int64_t length;
  std::int64_t parts;   // of the axis
  std::int64_t pieces;  // of the box

  box_cut(const shipment& box, std::int64_t most) {
    std::int64_t inner = elements_of(box);  // elements of an index of the axes before
    pieces = 1;
    for (; axis + 1 < box.count.size() && inner / box.count[axis] > most; ++axis) {
      inner /= box.count[axis];
      pieces *= box.count[axis];
    }
    length = std::clamp<std::int64_t>(most / (inner / box.count[axis]), 1, box.count[axis]);
    parts = (box.count[axis] + length - 1) / length;
    pieces *= parts;
  }

  shipment piece(const shipment& box, std::int64_t number) const {
    shipment result = box;
    const std::int64_t first = number % parts * length;
    result.offset[axis] += first;
    result.count[axis] = std::min(length, box.count[axis] - first);
    number /= parts;
    for (std::size_t outer = axis; outer-- > 0; number /= box.count[outer]) {
      result.offset[outer] += number % box.count[outer];
      result.count[outer] = 1;
    }
    return result;
  }
};

}  // namespace

box_message box_channel::next() {
  box_message result;
  for (; box_ < boxes_.size(); ++box_, piece_ = 0) {
    const std::int64_t whole = elements_of(boxes_[box_]);
    if (piece_ == 0 && whole <= most_) {
      if (result.elements + whole > most_) return result;
      result.elements += whole;
      result.boxes.push_back(boxes_[box_]);
      continue;
    }
    for (const box_cut cut(boxes_[box_], most_); piece_ < cut.pieces; ++piece_) {
      const shipment piece = cut.piece(boxes_[box_], piece_);
      if (result.elements + elements_of(piece) > most_) return result;
      result.elements += elements_of(piece);
      result.boxes.push_back(piece);
    }
  }
  return result;
}

std::vector<box_channel> channels_of(std::span<const shipment> all, int rank, std::int64_t most) {
  std::vector<box_channel> result;
  for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
    while (end < all.size() && all[end].peer == all[first].peer) ++end;
    if (all[first].peer != rank) result.emplace_back(all.subspan(first, end - first), most);
  }
  return result;
}

}  // namespace syncyte::collectives
