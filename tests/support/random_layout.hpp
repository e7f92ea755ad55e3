// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Layouts of all kinds, drawn at random: the same ones for the same seed, on all ranks.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "distribution/layout.hpp"
#include "reference.hpp"

namespace syncyte::reference {

/// Draws numbers from a seed, one after the other.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : seed_(seed) {}
  std::int64_t operator()(std::int64_t low, std::int64_t high) { return random_integer(seed_, 0, count_++, low, high); }
  int to(int high) { return static_cast<int>((*this)(0, high)); }

 private:
  std::uint64_t seed_;
  std::int64_t count_ = 0;
};

inline distribution::axis random_axis(std::int64_t cells, int parts, random_numbers& next, bool contiguous) {
  switch (contiguous ? next.to(1) : next.to(3)) {
    case 0:
      return distribution::axis::equal(cells, parts);
    case 1:
      return distribution::axis::explicit_lengths(
          uneven_lengths(static_cast<std::uint64_t>(next(0, 99)), cells, parts));
    case 2:
      return distribution::axis::cyclic(cells, parts);
    default:
      return distribution::axis::block_cyclic(cells, parts, next(1, 4));
  }
}

/// A grid of ranks of up to `size` places, some of whose dimensions cut axes; along the others are copies.
inline distribution::layout random_mesh_layout(const std::vector<std::int64_t>& cells, int size, random_numbers& next,
                                               bool contiguous) {
  distribution::mesh mesh;
  int places = 1;
  for (int dimension = 0; dimension < 3; ++dimension) {
    mesh.extents.push_back(1 + next.to(std::max(0, size / places - 1)));
    places *= mesh.extents.back();
  }
  for (int rank = 0; rank < size; ++rank) mesh.ranks.push_back(rank);
  for (int i = size - 1; i > 0; --i) std::swap(mesh.ranks[i], mesh.ranks[next.to(i)]);
  mesh.ranks.resize(places);
  std::vector<std::vector<int>> by(cells.size());
  for (int dimension = 0; dimension < 3; ++dimension)
    if (const int axis = next.to(static_cast<int>(cells.size())); axis < static_cast<int>(cells.size()))
      by[axis].push_back(dimension);
  std::vector<distribution::axis> axes;
  for (std::size_t axis = 0; axis < cells.size(); ++axis) {
    int parts = 1;
    for (const int dimension : by[axis]) parts *= mesh.extents[dimension];
    axes.push_back(random_axis(cells[axis], parts, next, contiguous));
  }
  return distribution::layout::on_mesh(axes, by, mesh, size);
}

/// Splits a box into up to `most` boxes that form no grid, and gives them to ranks; some have copies.
inline distribution::layout random_block_layout(const std::vector<std::int64_t>& cells, int size,
                                                random_numbers& next) {
  std::vector<distribution::box> boxes(1);
  std::copy(cells.begin(), cells.end(), boxes[0].count.begin());
  for (int split = next.to(2 * size); split > 0; --split) {
    auto& one = boxes[next.to(static_cast<int>(boxes.size()) - 1)];
    const int axis = next.to(static_cast<int>(cells.size()) - 1);
    distribution::box other = one;
    const std::int64_t kept = next(0, one.count[axis]);
    one.count[axis] = kept;
    other.first[axis] += kept;
    other.count[axis] -= kept;
    boxes.push_back(other);
  }
  std::vector<distribution::rank_box> blocks;
  for (const auto& each : boxes) {
    blocks.push_back({next.to(size - 1), each});
    if (next.to(3) == 0 && distribution::volume(each) > 0 && size > 1)
      blocks.push_back({(blocks.back().rank + 1) % size, each});
  }
  return distribution::layout::of_blocks(cells, blocks, size);
}

/// Lists of the points along the first axis in any order, of some ranks; some points are in several lists, or twice in
/// one, and some lists end with ghosts.
inline distribution::layout random_list_layout(const std::vector<std::int64_t>& extents, int size,
                                               random_numbers& next) {
  std::vector<std::vector<std::int64_t>> lists(static_cast<std::size_t>(1 + next.to(size)));
  const int last = static_cast<int>(lists.size()) - 1;
  const bool in_runs = next.to(1) == 0;
  int list = next.to(last);
  for (std::int64_t point = 0; point < extents[0]; ++point) {
    if (!in_runs || next.to(3) == 0) list = next.to(last);
    lists[list].push_back(point);
    for (int copies = std::max(0, next.to(5) - 3); copies > 0; --copies) lists[next.to(last)].push_back(point);
  }
  const int rank_of_last = next.to(size - 1);
  std::vector<distribution::rank_list> all;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    auto& points = lists[i];
    for (int at = static_cast<int>(points.size()) - 1; !in_runs && at > 0; --at)
      std::swap(points[at], points[next.to(at)]);
    const std::int64_t ghosts = extents[0] > 0 ? std::max(0, next.to(6) - 2) : 0;
    for (std::int64_t ghost = 0; ghost < ghosts; ++ghost) points.push_back(next(0, extents[0] - 1));
    const int rank = i + 1 < lists.size() ? static_cast<int>(i) : rank_of_last;
    all.push_back({rank, distribution::point_list::of(points, ghosts)});
  }
  std::ranges::stable_sort(all, {}, &distribution::rank_list::rank);
  constexpr std::array rules{distribution::shared_points::equal, distribution::shared_points::lower,
                             distribution::shared_points::upper};
  return distribution::layout::of_lists(extents, all, rules[static_cast<std::size_t>(next.to(2))], size);
}

/// A layout of arrays with 1 to 3 axes among ranks, of cells or of points, periodic or not, with ghosts;
/// or of lists of these points.
inline distribution::layout random_layout(const std::vector<std::int64_t>& cells, int size, std::uint64_t seed,
                                          std::span<const distribution::points> points = {}) {
  using distribution::shared_points;
  random_numbers next(seed);
  const bool contiguous =
      std::ranges::any_of(points, [](const auto& each) { return each.periodic || each.is_shared(); });
  auto result =
      next.to(1) == 0 ? random_mesh_layout(cells, size, next, contiguous) : random_block_layout(cells, size, next);
  if (!points.empty()) result = result.with_points(points);
  if (next.to(3) == 0) {
    const auto extents = result.extents();
    return random_list_layout({extents.begin(), extents.begin() + result.ndim()}, size, next);
  }
  distribution::ghost_widths ghosts;
  for (std::size_t axis = 0; axis < cells.size(); ++axis) ghosts.low[axis] = next(0, 2), ghosts.high[axis] = next(0, 2);
  return result.with_ghosts(ghosts);
}

/// Points of each axis, drawn at random.
inline std::vector<distribution::points> random_points(std::size_t ndim, std::uint64_t seed) {
  random_numbers next(seed);
  std::vector<distribution::points> result(ndim);
  for (auto& each : result) {
    each.periodic = next.to(2) == 0;
    each.shared = static_cast<distribution::shared_points>(next.to(3));
  }
  return result;
}

inline std::vector<std::int64_t> random_cells(std::uint64_t seed) {
  random_numbers next(seed);
  std::vector<std::int64_t> result(static_cast<std::size_t>(1 + next.to(2)));
  for (auto& each : result) each = next(1, 9);
  return result;
}

}  // namespace syncyte::reference
