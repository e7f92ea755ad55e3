// SPDX-License-Identifier: BSD-3-Clause
#include "distribution/point_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "distribution/fact_list.hpp"

namespace syncyte::distribution {
namespace {

[[noreturn]] void refuse_hole(std::int64_t point) {
  const std::string text = fmt::format("point {} is in no rank's list, or only as a ghost", point);
  base::refuse(SYNCYTE_ERR_ARGUMENT, {.argument = "points", .value = text, .expected = "lists that have each point"},
               text);
}

}  // namespace

point_list point_list::of(std::span<const std::int64_t> points, std::int64_t ghosts) {
  point_list result{{}, ghosts};
  for (const std::int64_t point : points)
    if (!result.runs.empty() && result.runs.back().end() == point)
      ++result.runs.back().count;
    else
      result.runs.push_back({point, 1});
  return result;
}

std::int64_t point_list::count() const {
  std::int64_t result = 0;
  for (const range& each : runs) result += each.count;
  return result;
}

point_lists::kind point_lists::kind_of(holding what) { return what == holding::owned ? kind::owned : kind::stored; }

bool point_lists::segment::is(kind what) const {
  switch (what) {
    case kind::stored:
      return !is_ghost;
    case kind::owned:
      return is_owned;
    case kind::copy:
      return !is_ghost && !is_owned;
    case kind::shared:
      return is_shared && !is_ghost;
    case kind::ghost:
      return is_ghost;
  }
  return false;
}

point_lists::point_lists(std::int64_t extent, std::span<const point_list> of_blocks, shared_points rule)
    : extent_(extent), rule_(rule), counts_(of_blocks.size()), of_blocks_(of_blocks.size()) {
  for (std::size_t block = 0; block < of_blocks.size(); ++block) {
    const point_list& list = of_blocks[block];
    for (const range& each : list.runs)
      base::expect(each.count > 0 && each.first >= 0 && each.first < extent && each.count <= extent - each.first,
                   SYNCYTE_ERR_ARGUMENT, "points", each.first < 0 ? each.first : each.end() - 1, "0 to {}", extent - 1);
    const std::int64_t count = list.count();
    base::expect(list.ghosts >= 0 && list.ghosts <= count, SYNCYTE_ERR_ARGUMENT, "ghosts", list.ghosts, "0 to {}",
                 count);
    counts_[block] = {count - list.ghosts, list.ghosts};
    has_ghosts_ = has_ghosts_ || list.ghosts > 0;
  }
  add_segments(of_blocks);
  choose_owners();
  count_owned();
  const std::vector<std::int64_t> all = facts();
  hash_ = static_cast<std::int64_t>(XXH3_64bits(all.data(), all.size() * sizeof all[0]) >> 1);
}

/// The runs of all lists, cut where some run begins or ends.
void point_lists::add_segments(std::span<const point_list> of_blocks) {
  std::vector<segment> whole;
  for (int block = 0; block < std::ssize(of_blocks); ++block) {
    const std::int64_t stored = counts_[static_cast<std::size_t>(block)].stored;
    std::int64_t offset = 0;
    for (const range& each : of_blocks[static_cast<std::size_t>(block)].runs) {
      const std::int64_t before_ghosts = std::clamp<std::int64_t>(stored - offset, 0, each.count);
      if (before_ghosts > 0) whole.push_back({each.first, before_ghosts, offset, block, false});
      if (before_ghosts < each.count)
        whole.push_back({each.first + before_ghosts, each.count - before_ghosts, offset + before_ghosts, block, true});
      offset += each.count;
    }
  }
  std::vector<std::int64_t> borders;
  for (const segment& each : whole) borders.insert(borders.end(), {each.first, each.first + each.count});
  std::ranges::sort(borders);
  const auto [unused, end] = std::ranges::unique(borders);
  borders.erase(unused, end);
  for (segment each : whole)
    for (auto next = std::ranges::upper_bound(borders, each.first); each.count > 0; ++next) {
      segment part = each;
      part.count = *next - each.first;
      each.first += part.count, each.offset += part.count, each.count -= part.count;
      segments_.push_back(part);
    }
  std::ranges::sort(segments_, {},
                    [](const segment& each) { return std::tuple(each.first, each.is_ghost, each.block, each.offset); });
  for (std::int64_t number = 0; number < std::ssize(segments_); ++number)
    of_blocks_[static_cast<std::size_t>(segments_[static_cast<std::size_t>(number)].block)].push_back(number);
}

void point_lists::choose_owners() {
  std::int64_t covered = 0;
  for (auto group = segments_.begin(); group != segments_.end();) {
    const auto end =
        std::find_if(group, segments_.end(), [&](const segment& each) { return each.first != group->first; });
    const auto ghosts = std::find_if(group, end, [](const segment& each) { return each.is_ghost; });
    if (group->first != covered || ghosts == group) refuse_hole(covered);
    (rule_ == shared_points::upper ? *std::prev(ghosts) : *group).is_owned = true;
    for (auto each = group; each != ghosts; ++each) each->is_shared = ghosts - group > 1;
    covered += group->count;
    group = end;
  }
  if (covered != extent_) refuse_hole(covered);
}

void point_lists::count_owned() {
  for (const std::vector<std::int64_t>& numbers : of_blocks_) {
    std::vector<segment*> in_order;
    for (const std::int64_t number : numbers) in_order.push_back(&segments_[static_cast<std::size_t>(number)]);
    std::ranges::sort(in_order, {}, &segment::offset);
    std::int64_t owned = 0;
    for (segment* const each : in_order) {
      each->owned_before = owned;
      if (each->is_owned) owned += each->count;
    }
  }
}

/// Calls visitor(segment, its part in the range) for those of some segments, which are in order, that have points of a
/// range.
template <class Numbers, class Visitor>
void point_lists::for_each_in(const Numbers& numbers, range some, Visitor&& visitor) const {
  auto next = std::ranges::partition_point(
      numbers, [&](std::int64_t number) { return segment_at(number).first + segment_at(number).count <= some.first; });
  for (; next != numbers.end() && segment_at(*next).first < some.end(); ++next) {
    const segment& each = segment_at(*next);
    visitor(each, clip({each.first, each.count, each.offset}, some));
  }
}

std::int64_t point_lists::first(int block) const {
  for (const std::int64_t number : segments_of(block))
    if (segment_at(number).offset == 0) return segment_at(number).first;
  return 0;
}

std::vector<run> point_lists::runs(int block, kind what) const {
  std::vector<run> all;
  for (const std::int64_t number : segments_of(block))
    if (const segment& each = segment_at(number); each.is(what)) all.push_back({each.first, each.count, each.offset});
  std::ranges::sort(all, {}, &run::offset);
  std::vector<run> result;
  for (const run& each : all)
    if (!result.empty() && result.back().first + result.back().count == each.first &&
        result.back().offset + result.back().count == each.offset)
      result.back().count += each.count;
    else
      result.push_back(each);
  return result;
}

std::vector<run> point_lists::runs_in(int block, range some, holding what) const {
  std::vector<run> result;
  for_each_in(segments_of(block), some, [&](const segment& each, const run& part) {
    if (each.is(kind_of(what))) result.push_back(part);
  });
  return result;
}

std::vector<piece> point_lists::pieces(range some, holding what) const {
  std::vector<piece> result;
  for_each_in(all_segments(), some, [&](const segment& each, const run& part) {
    if (each.is(kind_of(what))) result.push_back({each.block, part.first, part.count, part.offset});
  });
  return result;
}

std::vector<piece> point_lists::owned_pieces(range some) const {
  std::vector<piece> result;
  for_each_in(all_segments(), some, [&](const segment& each, const run& part) {
    if (each.is_owned)
      result.push_back({each.block, part.first, part.count, each.owned_before + part.offset - each.offset});
  });
  return result;
}

std::set<int> point_lists::blocks_at(range some) const {
  std::set<int> result;
  for_each_in(all_segments(), some, [&](const segment& each, const run&) { result.insert(each.block); });
  return result;
}

std::vector<std::int64_t> point_lists::facts() const {
  std::vector<std::int64_t> result{extent_, static_cast<std::int64_t>(rule_), blocks()};
  for (int block = 0; block < blocks(); ++block) {
    std::vector<run> all = runs(block, kind::stored);
    const std::vector<run> ghosts = runs(block, kind::ghost);
    all.insert(all.end(), ghosts.begin(), ghosts.end());
    result.insert(result.end(), {this->ghosts(block), std::ssize(all)});
    for (const run& each : all) result.insert(result.end(), {each.first, each.count});
  }
  return result;
}

point_lists point_lists::read(std::span<const std::int64_t>& facts) {
  const std::int64_t extent = take(facts);
  const auto rule = static_cast<shared_points>(take(facts));
  std::vector<point_list> of_blocks(static_cast<std::size_t>(take(facts)));
  for (point_list& each : of_blocks) {
    each.ghosts = take(facts);
    each.runs.resize(static_cast<std::size_t>(take(facts)));
    for (range& run : each.runs) run = {take(facts), take(facts)};
  }
  return {extent, of_blocks, rule};
}

}  // namespace syncyte::distribution
