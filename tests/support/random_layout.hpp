// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Layouts of all kinds, drawn at random: the same ones for the same seed, on all ranks.

#include <algorithm>
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

/// A layout of arrays with 1 to 3 axes among ranks, of cells or of points, periodic or not, with ghosts.
inline distribution::layout random_layout(const std::vector<std::int64_t>& cells, int size, std::uint64_t seed,
                                          std::span<const distribution::points> points = {}) {
  using distribution::shared_points;
  random_numbers next(seed);
  const bool contiguous =
      std::ranges::any_of(points, [](const auto& each) { return each.periodic || each.is_shared(); });
  auto result =
      next.to(1) == 0 ? random_mesh_layout(cells, size, next, contiguous) : random_block_layout(cells, size, next);
  if (!points.empty()) result = result.with_points(points);
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
