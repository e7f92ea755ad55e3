// SPDX-License-Identifier: BSD-3-Clause
#include "distribution/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "distribution/fact_list.hpp"

namespace syncyte::distribution {
namespace {

/// Throws SYNCYTE_ERR_ARGUMENT for blocks that are no division of the cells. `rank`: -1 for no rank in particular.
[[noreturn]] void refuse_blocks(int rank, const std::string& text) {
  base::refuse(SYNCYTE_ERR_ARGUMENT,
               {.argument = "blocks", .value = text, .expected = "blocks that hold each cell once", .rank = rank},
               text);
}

constexpr std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Calls visitor(numbers) with all combinations of one number below each bound, the last one fastest.
template <class Visitor>
void for_each_combination(std::span<const std::size_t> bounds, Visitor&& visitor) {
  if (std::ranges::find(bounds, 0U) != bounds.end()) return;
  std::vector<std::size_t> numbers(bounds.size());
  while (true) {
    visitor(std::as_const(numbers));
    std::size_t axis = bounds.size();
    while (axis > 0 && ++numbers[axis - 1] == bounds[axis - 1]) numbers[--axis] = 0;
    if (axis == 0) return;
  }
}

constexpr std::int64_t most_ghosts = INT32_MAX;

/// In place of the number of boxes, in facts().
constexpr std::int64_t cut_by_mesh = -1;
constexpr std::int64_t cut_by_lists = -2;

void check_ndim(std::size_t ndim) {
  base::expect(ndim >= 1 && ndim <= SYNCYTE_MAX_NDIM, SYNCYTE_ERR_ARGUMENT, "number of axes",
               static_cast<std::int64_t>(ndim), "1 to {}", SYNCYTE_MAX_NDIM);
}

/// Throws unless the number of all cells is at most most_cells.
void check_extents(std::span<const std::int64_t> whole, const char* argument = "cells") {
  check_ndim(whole.size());
  std::int64_t cells = 1;
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    const base::argument_name name(argument, axis, static_cast<int>(whole.size()));
    base::expect(whole[axis] >= 0, SYNCYTE_ERR_ARGUMENT, name, whole[axis], "0 or more");
    base::expect(!__builtin_mul_overflow(cells, std::max<std::int64_t>(whole[axis], 1), &cells) && cells <= most_cells,
                 SYNCYTE_ERR_ARGUMENT, name, whole[axis], "at most 2^62 elements in all");
  }
}

box whole_box(std::span<const std::int64_t> whole) {
  box result;
  std::ranges::copy(whole, result.count.begin());
  return result;
}

/// The part of an axis that the mesh's dimensions of `by` give to a place in the mesh.
int part_at(std::span<const int> place, std::span<const int> extents, std::span<const int> by) {
  int result = 0;
  for (const int dimension : by) result = result * extents[at(dimension)] + place[at(dimension)];
  return result;
}

void check_mesh(std::span<const axis> cells, std::span<const std::vector<int>> by, const mesh& on, int size) {
  std::int64_t places = 1;
  for (const int extent : on.extents) {
    base::expect(extent > 0, SYNCYTE_ERR_ARGUMENT, "extent of the mesh", extent, "1 or more");
    places *= extent;
    base::expect(places <= INT32_MAX, SYNCYTE_ERR_ARGUMENT, "places of the mesh", places, "at most 2^31 - 1");
  }
  base::expect(std::ssize(on.ranks) == places, SYNCYTE_ERR_ARGUMENT, "number of the mesh's ranks", std::ssize(on.ranks),
               "{}, one for each place", places);
  for (const int rank : on.ranks)
    base::expect(rank >= -1 && rank < size, SYNCYTE_ERR_ARGUMENT, "rank of the mesh", rank, "-1 to {}", size - 1);
  std::vector<int> used(on.extents.size());
  for (std::size_t axis = 0; axis < cells.size(); ++axis) {
    std::int64_t parts = 1;
    for (const int dimension : by[axis]) {
      base::expect(dimension >= 0 && at(dimension) < used.size(), SYNCYTE_ERR_ARGUMENT, "dimension of the mesh",
                   dimension, "0 to {}", std::ssize(used) - 1);
      base::expect(used[at(dimension)]++ == 0, SYNCYTE_ERR_ARGUMENT, "dimension of the mesh", dimension,
                   "one that cuts no other axis");
      parts *= on.extents[at(dimension)];
    }
    base::expect(cells[axis].parts() == parts, SYNCYTE_ERR_ARGUMENT, {"parts", axis}, cells[axis].parts(),
                 "{}, the places along the mesh's dimensions that cut the axis", parts);
  }
}

void check_blocks(std::span<const std::int64_t> whole, std::span<const rank_box> blocks, int size) {
  const box all = whole_box(whole);
  for (const rank_box& each : blocks) {
    base::expect(each.rank >= 0 && each.rank < size, SYNCYTE_ERR_ARGUMENT, "rank of a block", each.rank, "0 to {}",
                 size - 1);
    for (std::size_t axis = 0; axis < all.first.size(); ++axis) {
      const auto [first, count] = std::pair(each.cells.first[axis], each.cells.count[axis]);
      if (first < 0 || count < 0 || first > all.count[axis] || count > all.count[axis] - first)
        refuse_blocks(each.rank, fmt::format("a block of rank {} has {} cells from {} on along axis {}, which has {}",
                                             each.rank, count, first, axis, all.count[axis]));
    }
  }
}

void check_cover(const patches& cells, std::span<const std::int64_t> whole,
                 const std::vector<std::vector<int>>& holders) {
  std::int64_t covered = 0;
  for (int number = 0; number < std::ssize(cells.boxes()); ++number) {
    const box& each = cells.boxes()[at(number)];
    if (volume(each) == 0) continue;
    covered += volume(each);
    for (const int other : cells.meeting(each))
      if (other != number)
        refuse_blocks(holders[at(number)][0],
                      fmt::format("blocks of ranks {} and {} overlap", holders[at(number)][0], holders[at(other)][0]));
  }
  const std::int64_t all = volume(whole_box(whole));
  if (covered != all)
    refuse_blocks(-1, fmt::format("the blocks have {} of {} cells: no rank has the others", covered, all));
}

}  // namespace

std::vector<block_part> boxes_of(int block, std::span<const std::vector<run>> runs) {
  std::vector<std::size_t> bounds;
  for (const auto& axis : runs) bounds.push_back(axis.size());
  std::vector<block_part> result;
  for_each_combination(bounds, [&](const std::vector<std::size_t>& numbers) {
    block_part& part = result.emplace_back(block_part{block, {}, {}});
    for (std::size_t axis = 0; axis < runs.size(); ++axis) {
      const run& each = runs[axis][numbers[axis]];
      part.points.first[axis] = each.first;
      part.points.count[axis] = each.count;
      part.offset[axis] = each.offset;
    }
  });
  return result;
}

layout layout::on_mesh(std::span<const axis> cells, std::span<const std::vector<int>> by, const mesh& on, int size) {
  std::vector<std::int64_t> whole;
  for (const axis& each : cells) whole.push_back(each.extent());
  check_extents(whole);
  check_mesh(cells, by, on, size);
  layout result;
  result.size_ = size;
  std::vector<cut> cuts;
  std::int64_t blocks = 1;
  for (const axis& each : cells) {
    cuts.emplace_back(each, points());
    result.points_.push_back(cuts.back().of());
    blocks *= each.parts();
  }
  std::vector<std::vector<int>> holders(static_cast<std::size_t>(blocks));
  std::vector<std::size_t> places(on.extents.begin(), on.extents.end());
  std::size_t next = 0;
  for_each_combination(places, [&](const std::vector<std::size_t>& numbers) {
    const std::vector<int> place(numbers.begin(), numbers.end());
    std::int64_t block = 0;
    for (std::size_t axis = 0; axis < cells.size(); ++axis)
      block = block * cells[axis].parts() + part_at(place, on.extents, by[axis]);
    if (const int rank = on.ranks[next++]; rank >= 0) holders[static_cast<std::size_t>(block)].push_back(rank);
  });
  result.cells_ = std::move(cuts);
  result.hold(std::move(holders));
  return result;
}

layout layout::of_blocks(std::span<const std::int64_t> whole, std::span<const rank_box> blocks, int size) {
  check_extents(whole);
  check_blocks(whole, blocks, size);
  layout result;
  result.size_ = size;
  for (const std::int64_t cells : whole) result.points_.push_back({cells});
  std::vector<box> boxes;
  std::vector<std::vector<int>> holders;
  std::map<std::pair<per_axis, per_axis>, std::size_t> known;
  for (const rank_box& each : blocks) {
    const bool is_empty = volume(each.cells) == 0;
    const auto [found, is_new] = known.try_emplace({each.cells.first, each.cells.count}, boxes.size());
    if (is_new || is_empty) {
      boxes.push_back(each.cells);
      holders.push_back({each.rank});
      continue;
    }
    auto& ranks = holders[found->second];
    if (std::ranges::find(ranks, each.rank) != ranks.end())
      refuse_blocks(each.rank, fmt::format("rank {} has the same block twice", each.rank));
    ranks.push_back(each.rank);
  }
  const patches cells(std::move(boxes));
  check_cover(cells, whole, holders);
  result.cells_ = cells;
  result.hold(std::move(holders));
  return result;
}

layout layout::of_lists(std::span<const std::int64_t> whole, std::span<const rank_list> lists, shared_points rule,
                        int size) {
  check_extents(whole, "extents");
  layout result;
  result.size_ = size;
  for (const std::int64_t points : whole) result.points_.push_back({points});
  std::vector<point_list> of_blocks;
  std::vector<std::vector<int>> holders;
  for (const auto& [rank, points] : lists) {
    of_blocks.push_back(points);
    holders.push_back({rank});
  }
  result.cells_ = std::make_shared<const point_lists>(whole[0], of_blocks, rule);
  result.hold(std::move(holders));
  return result;
}

const point_lists* layout::lists() const {
  const auto* const lists = std::get_if<std::shared_ptr<const point_lists>>(&cells_);
  return lists != nullptr ? lists->get() : nullptr;
}

void layout::hold(std::vector<std::vector<int>> ranks_of_blocks) {
  holders_ = std::move(ranks_of_blocks);
  held_.resize(at(size_));
  for (std::size_t number = 0; number < holders_.size(); ++number) {
    std::ranges::sort(holders_[number]);
    const auto twice = std::ranges::adjacent_find(holders_[number]);
    if (twice != holders_[number].end()) refuse_blocks(*twice, fmt::format("rank {} has the same block twice", *twice));
    for (const int rank : holders_[number]) held_[at(rank)].push_back(static_cast<int>(number));
    if (holders_[number].empty() && volume({{}, shape_of(static_cast<int>(number))}) > 0)
      refuse_blocks(-1, fmt::format("no rank has block {}", number));
  }
}

layout layout::with_points(std::span<const points> axes) const {
  base::expect(axes.size() == points_.size(), SYNCYTE_ERR_ARGUMENT, "number of axes", axes.size(), "{}",
               points_.size());
  base::expect(lists() == nullptr, SYNCYTE_ERR_ARGUMENT, "layout", "a list of points", "blocks of cells");
  layout result = *this;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const std::int64_t cells = points_[axis].cells;
    result.points_[axis] = axes[axis];
    result.points_[axis].cells = cells;
    if (auto* const cuts = std::get_if<std::vector<cut>>(&result.cells_))
      (*cuts)[axis] = cut((*cuts)[axis].cells(), axes[axis]);
  }
  return result;
}

layout layout::with_ghosts(const ghost_widths& widths) const {
  for (int axis = 0; axis < static_cast<int>(widths.low.size()); ++axis)
    for (const std::int64_t width : {widths.low[at(axis)], widths.high[at(axis)]})
      base::expect(width >= 0 && width <= (axis < ndim() ? most_ghosts : 0), SYNCYTE_ERR_ARGUMENT,
                   {"ghosts", axis, ndim()}, width, "0 to {}", axis < ndim() ? most_ghosts : 0);
  base::expect(lists() == nullptr || widths == ghost_widths(), SYNCYTE_ERR_ARGUMENT, "ghosts", "given",
               "those that the lists of points have");
  layout result = *this;
  result.ghosts_ = widths;
  return result;
}

per_axis layout::extents() const {
  per_axis result = box().count;
  for (std::size_t axis = 0; axis < points_.size(); ++axis) result[axis] = points_[axis].extent();
  return result;
}

range layout::cells_of(int block, std::size_t axis) const {
  const box& cells = std::get<patches>(cells_).boxes()[at(block)];
  return volume(cells) > 0 ? range{cells.first[axis], cells.count[axis]} : range{cells.first[axis], 0};
}

/// The part of an axis that a block of a mesh has.
int layout::part_of(int block, std::size_t axis) const {
  const auto& cuts = std::get<std::vector<cut>>(cells_);
  for (std::size_t later = cuts.size() - 1; later > axis; --later) block /= cuts[later].parts();
  return block % cuts[axis].parts();
}

std::vector<run> layout::runs_of(int block, std::size_t axis, holding what) const {
  if (const auto* const cuts = std::get_if<std::vector<cut>>(&cells_))
    return (*cuts)[axis].runs(part_of(block, axis), what);
  if (const point_lists* const of = lists())
    return axis > 0 ? std::vector<run>{{0, points_[axis].cells, 0}}
                    : of->runs(block, what == holding::owned ? point_lists::kind::owned : point_lists::kind::stored);
  return points_[axis].runs_of(cells_of(block, axis), what);
}

per_axis layout::shape_of(int block) const {
  per_axis result = box().count;
  if (const point_lists* const of = lists()) {
    result = extents();
    result[0] = of->stored(block);
    return result;
  }
  for (std::size_t axis = 0; axis < points_.size(); ++axis) {
    const auto* const cuts = std::get_if<std::vector<cut>>(&cells_);
    result[axis] = cuts != nullptr ? (*cuts)[axis].stored(part_of(block, axis))
                                   : points_[axis].stored(cells_of(block, axis)).count;
  }
  return result;
}

per_axis layout::allocated_of(int block) const {
  per_axis result = shape_of(block);
  for (std::size_t axis = 0; axis < points_.size(); ++axis) result[axis] += ghosts_.low[axis] + ghosts_.high[axis];
  if (const point_lists* const of = lists()) result[0] += of->ghosts(block);
  return result;
}

per_axis layout::first_of(int block) const {
  per_axis result{};
  if (const point_lists* const of = lists()) {
    result[0] = of->first(block);
    return result;
  }
  const per_axis shape = shape_of(block);
  for (std::size_t axis = 0; axis < points_.size(); ++axis) {
    if (shape[axis] == 0) continue;
    const auto* const cuts = std::get_if<std::vector<cut>>(&cells_);
    result[axis] = cuts != nullptr ? (*cuts)[axis].first(part_of(block, axis)) : cells_of(block, axis).first;
  }
  return result;
}

std::vector<block_part> layout::parts_of(int block, holding what) const {
  std::vector<std::vector<run>> runs;
  for (std::size_t axis = 0; axis < points_.size(); ++axis) runs.push_back(runs_of(block, axis, what));
  return boxes_of(block, runs);
}

std::vector<block_part> layout::parts_of(int block, holding what, const box& within) const {
  std::vector<std::vector<run>> runs;
  for (std::size_t axis = 0; axis < points_.size(); ++axis) {
    const range some{within.first[axis], within.count[axis]};
    if (lists() != nullptr && axis == 0) {
      runs.push_back(lists()->runs_in(block, some, what));
      continue;
    }
    runs.emplace_back();
    for (const run& each : runs_of(block, axis, what))
      if (const run both = clip(each, some); both.count > 0) runs.back().push_back(both);
  }
  return boxes_of(block, runs);
}

bool layout::is_contiguous(std::size_t axis) const {
  if (lists() != nullptr) return axis > 0;
  const auto* const cuts = std::get_if<std::vector<cut>>(&cells_);
  return cuts == nullptr || (*cuts)[axis].cells().is_contiguous();
}

/// Blocks of patches that store points of a box.
std::vector<int> layout::blocks_meeting(const box& some) const {
  std::vector<std::vector<range>> cells;
  std::vector<std::size_t> bounds;
  for (std::size_t axis = 0; axis < points_.size(); ++axis) {
    cells.push_back(points_[axis].cells_that_store({some.first[axis], some.count[axis]}));
    bounds.push_back(cells.back().size());
  }
  std::vector<int> result;
  for_each_combination(bounds, [&](const std::vector<std::size_t>& numbers) {
    box part;
    for (std::size_t axis = 0; axis < numbers.size(); ++axis) {
      part.first[axis] = cells[axis][numbers[axis]].first;
      part.count[axis] = cells[axis][numbers[axis]].count;
    }
    const std::vector<int> found = std::get<patches>(cells_).meeting(part);
    result.insert(result.end(), found.begin(), found.end());
  });
  std::ranges::sort(result);
  const auto [first, last] = std::ranges::unique(result);
  result.erase(first, last);
  return result;
}

/// Pieces of the first axis, whole along the others as far as they lie in a box.
std::vector<block_part> layout::with_rows(const box& some, std::span<const piece> rows) const {
  std::vector<block_part> result;
  const box inside = intersection(some, {{}, extents()});
  if (volume(inside) == 0) return result;
  for (const piece& each : rows) {
    block_part& part = result.emplace_back(block_part{each.part, inside, inside.first});
    part.points.first[0] = each.first;
    part.points.count[0] = each.count;
    part.offset[0] = each.offset;
  }
  return result;
}

std::vector<block_part> layout::owned_parts_in(const box& some) const {
  if (lists() != nullptr) return with_rows(some, lists()->owned_pieces({some.first[0], some.count[0]}));
  return parts_in(some, holding::owned);
}

std::vector<block_part> layout::parts_in(const box& some, holding what) const {
  std::vector<block_part> result;
  if (std::holds_alternative<patches>(cells_)) {
    for (const int block : blocks_meeting(some)) {
      const std::vector<block_part> parts = parts_of(block, what, some);
      result.insert(result.end(), parts.begin(), parts.end());
    }
    return result;
  }
  if (lists() != nullptr) return with_rows(some, lists()->pieces({some.first[0], some.count[0]}, what));
  const auto& cuts = std::get<std::vector<cut>>(cells_);
  std::vector<std::vector<piece>> pieces;
  std::vector<std::size_t> bounds;
  for (std::size_t axis = 0; axis < cuts.size(); ++axis) {
    pieces.push_back(cuts[axis].pieces({some.first[axis], some.count[axis]}, what));
    bounds.push_back(pieces.back().size());
  }
  for_each_combination(bounds, [&](const std::vector<std::size_t>& numbers) {
    block_part part{0, {}, {}};
    for (std::size_t axis = 0; axis < cuts.size(); ++axis) {
      const piece& each = pieces[axis][numbers[axis]];
      part.block = part.block * cuts[axis].parts() + each.part;
      part.points.first[axis] = each.first;
      part.points.count[axis] = each.count;
      part.offset[axis] = each.offset;
    }
    result.push_back(part);
  });
  return result;
}

int layout::owner(const per_axis& point) const {
  const auto found = parts_in({point, box().count}, holding::owned);
  base::expect(!found.empty(), SYNCYTE_ERR_INDEX, "point", "outside", "a point of the array");
  return found.front().block;
}

layout layout::among(std::span<const int> ranks, int size) const {
  layout result = *this;
  result.size_ = size;
  result.held_.clear();
  std::vector<std::vector<int>> holders = holders_;
  for (std::vector<int>& block : holders)
    for (int& rank : block) rank = ranks[at(rank)];
  result.hold(std::move(holders));
  return result;
}

/// The facts, with a mark in place of the lists' own.
std::vector<std::int64_t> layout::facts_but_lists() const {
  std::vector<std::int64_t> result{size_, ndim()};
  for (const points& axis : points_)
    result.insert(result.end(), {axis.cells, axis.periodic, static_cast<std::int64_t>(axis.shared)});
  const auto append = [&result](const auto& numbers) { result.insert(result.end(), numbers.begin(), numbers.end()); };
  append(ghosts_.low);
  append(ghosts_.high);
  if (const auto* const cuts = std::get_if<std::vector<cut>>(&cells_)) {
    result.push_back(cut_by_mesh);
    for (const cut& each : *cuts) append(each.cells().facts());
  } else if (const auto* const blocks = std::get_if<patches>(&cells_)) {
    result.push_back(std::ssize(blocks->boxes()));
    for (const box& each : blocks->boxes()) append(each.first), append(each.count);
  } else {
    result.push_back(cut_by_lists);
  }
  result.push_back(blocks());
  for (const std::vector<int>& ranks : holders_) {
    result.push_back(std::ssize(ranks));
    append(ranks);
  }
  return result;
}

std::vector<std::int64_t> layout::facts() const {
  std::vector<std::int64_t> result = facts_but_lists();
  if (lists() == nullptr) return result;
  const std::vector<std::int64_t> of_lists = lists()->facts();
  result.insert(result.end(), of_lists.begin(), of_lists.end());
  return result;
}

std::vector<std::int64_t> layout::fingerprint() const {
  std::vector<std::int64_t> result = facts_but_lists();
  if (lists() != nullptr) result.push_back(lists()->hash());
  return result;
}

layout layout::from_facts(std::span<const std::int64_t> facts) {
  const auto take_axes = [&facts](per_axis& to) { std::ranges::copy(take(facts, to.size()), to.begin()); };
  layout result;
  result.size_ = static_cast<int>(take(facts));
  result.points_.resize(static_cast<std::size_t>(take(facts)));
  for (points& axis : result.points_) axis = {take(facts), take(facts) != 0, static_cast<shared_points>(take(facts))};
  take_axes(result.ghosts_.low);
  take_axes(result.ghosts_.high);
  const std::int64_t boxes = take(facts);
  if (boxes == cut_by_mesh) {
    std::vector<cut> cuts;
    for (const points& each : result.points_) cuts.emplace_back(axis::read(facts), each);
    result.cells_ = std::move(cuts);
  } else if (boxes != cut_by_lists) {
    std::vector<box> all(static_cast<std::size_t>(boxes));
    for (box& each : all) take_axes(each.first), take_axes(each.count);
    result.cells_ = patches(std::move(all));
  }
  std::vector<std::vector<int>> holders(static_cast<std::size_t>(take(facts)));
  for (std::vector<int>& ranks : holders) {
    const auto taken = take(facts, static_cast<std::size_t>(take(facts)));
    ranks.assign(taken.begin(), taken.end());
  }
  if (boxes == cut_by_lists) result.cells_ = std::make_shared<const point_lists>(point_lists::read(facts));
  result.hold(std::move(holders));
  return result;
}

}  // namespace syncyte::distribution
