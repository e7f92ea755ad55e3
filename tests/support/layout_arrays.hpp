// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The arrays of layouts with values that follow from the points that they hold: slow and obvious.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "distribution/layout.hpp"

namespace syncyte::reference {

using distribution::per_axis;

/// Calls visitor(place) for all places of a box, the last axis fastest.
template <class Visitor>
void for_each_place(const per_axis& count, Visitor&& visitor) {
  if (distribution::volume({{}, count}) == 0) return;
  per_axis place{};
  while (true) {
    visitor(std::as_const(place));
    std::size_t axis = place.size();
    while (axis > 0 && ++place[axis - 1] == count[axis - 1]) place[--axis] = 0;
    if (axis == 0) return;
  }
}

inline per_axis plus(per_axis a, const per_axis& b) {
  for (std::size_t axis = 0; axis < a.size(); ++axis) a[axis] += b[axis];
  return a;
}

/// A value that no other point of a small array has.
inline double value_at(const per_axis& point) {
  double result = 1;
  for (const std::int64_t index : point) result = result * 17 + static_cast<double>(index);
  return result;
}

constexpr double untouched = -1;  ///< a place that nobody has written
constexpr double stale = -2;      ///< a copy that is not the owner's

/// The array of one block without ghosts.
class dense_array {
 public:
  explicit dense_array(const per_axis& shape = {})
      : shape_(shape), values_(static_cast<std::size_t>(distribution::volume({{}, shape})), untouched) {}

  double& operator[](const per_axis& place) { return values_.at(index_of(place)); }
  std::vector<double> read(const per_axis& first, const per_axis& count) const {
    std::vector<double> result;
    for_each_place(count, [&](const per_axis& place) { result.push_back(values_.at(index_of(plus(first, place)))); });
    return result;
  }
  void write(const per_axis& first, const per_axis& count, const std::vector<double>& values) {
    std::size_t next = 0;
    for_each_place(count, [&](const per_axis& place) { (*this)[plus(first, place)] = values.at(next++); });
  }
  bool operator==(const dense_array&) const = default;

 private:
  std::size_t index_of(const per_axis& place) const {
    std::int64_t result = 0;
    for (std::size_t axis = 0; axis < place.size(); ++axis) result = result * shape_[axis] + place[axis];
    return static_cast<std::size_t>(result);
  }

  per_axis shape_;
  std::vector<double> values_;
};

/// The arrays of all ranks.
class arrays_of_all_ranks {
 public:
  explicit arrays_of_all_ranks(const distribution::layout& of) {
    for (int rank = 0; rank < of.size(); ++rank)
      for (const int block : of.blocks_of(rank)) arrays_.emplace(std::pair(rank, block), of.shape_of(block));
  }

  /// Each place has the value of its point; those outside of a box are untouched.
  static arrays_of_all_ranks with_values(const distribution::layout& of, const distribution::box& within) {
    arrays_of_all_ranks result(of);
    result.fill(of, distribution::holding::stored, within, true);
    return result;
  }
  /// Places have the values of an array of which this one is a box that begins at a point.
  static arrays_of_all_ranks with_values(const distribution::layout& of, const per_axis& first) {
    arrays_of_all_ranks result(of);
    result.fill(of, distribution::holding::stored, {{}, of.extents()}, true, first);
    return result;
  }
  static arrays_of_all_ranks with_values(const distribution::layout& of) { return with_values(of, {{}, of.extents()}); }
  /// Places that the block does not own are stale.
  static arrays_of_all_ranks with_values_of_owners(const distribution::layout& of) {
    arrays_of_all_ranks result(of);
    result.fill(of, distribution::holding::stored, {{}, of.extents()}, false);
    result.fill(of, distribution::holding::owned, {{}, of.extents()}, true);
    return result;
  }

  dense_array& at(int rank, int block) { return arrays_.at({rank, block}); }
  const dense_array& at(int rank, int block) const { return arrays_.at({rank, block}); }
  bool operator==(const arrays_of_all_ranks&) const = default;

 private:
  void fill(const distribution::layout& of, distribution::holding what, const distribution::box& within, bool valid,
            const per_axis& first = {}) {
    for (auto& [owner, array] : arrays_)
      for (const auto& part : of.parts_of(owner.second, what))
        for_each_place(part.points.count, [&](const per_axis& place) {
          const per_axis point = plus(part.points.first, place);
          if (distribution::volume(intersection(within, {point, distribution::box().count})) > 0)
            array[plus(part.offset, place)] = valid ? value_at(plus(first, point)) : stale;
        });
  }

  std::map<std::pair<int, int>, dense_array> arrays_;  // by rank and block
};

}  // namespace syncyte::reference
