// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/shared_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "base/buffer.hpp"
#include "base/hash.hpp"
#include "collectives/mover.hpp"
#include "comm/collective_call.hpp"
#include "distribution/fact_list.hpp"
#include "mpi/small_collectives.hpp"

namespace syncyte::collectives {
namespace {

using distribution::box;
using distribution::layout;

/// The numbers of each rank.
std::vector<std::vector<std::int64_t>> numbers_of_all(comm::communicator& comm, const std::vector<std::int64_t>& mine) {
  std::vector<std::int64_t> counts{std::ssize(mine)};
  if (!comm.bypasses_mpi()) counts = mpi::allgather(std::ssize(mine), comm.data());
  std::vector<std::int64_t> all(static_cast<std::size_t>(mpi::sum_of(counts)));
  mover(comm, form::blocking)
      .allgather(reinterpret_cast<const std::byte*>(mine.data()), counts, reinterpret_cast<std::byte*>(all.data()),
                 SYNCYTE_INT64);
  std::vector<std::vector<std::int64_t>> result;
  auto next = all.begin();
  for (const std::int64_t count : counts) {
    result.emplace_back(next, next + count);
    next += count;
  }
  return result;
}

std::vector<distribution::rank_box> boxes_of_all(comm::communicator& comm, std::span<const box> mine) {
  std::vector<std::int64_t> own;
  for (const box& each : mine)
    for (const auto& numbers : {each.first, each.count}) own.insert(own.end(), numbers.begin(), numbers.end());
  const auto all = numbers_of_all(comm, own);
  std::vector<distribution::rank_box> result;
  for (int rank = 0; rank < std::ssize(all); ++rank)
    for (std::span<const std::int64_t> left = all[static_cast<std::size_t>(rank)]; !left.empty();) {
      box& each = result.emplace_back(rank).cells;
      std::ranges::copy(distribution::take(left, each.first.size()), each.first.begin());
      std::ranges::copy(distribution::take(left, each.count.size()), each.count.begin());
    }
  return result;
}

std::vector<distribution::rank_list> lists_of_all(comm::communicator& comm,
                                                  std::span<const distribution::point_list> mine) {
  std::vector<std::int64_t> own;
  for (const distribution::point_list& each : mine) {
    own.insert(own.end(), {each.ghosts, std::ssize(each.runs)});
    for (const distribution::range& run : each.runs) own.insert(own.end(), {run.first, run.count});
  }
  const auto all = numbers_of_all(comm, own);
  std::vector<distribution::rank_list> result;
  for (int rank = 0; rank < std::ssize(all); ++rank)
    for (std::span<const std::int64_t> left = all[static_cast<std::size_t>(rank)]; !left.empty();) {
      distribution::point_list& each = result.emplace_back(rank).points;
      each.ghosts = distribution::take(left);
      each.runs.resize(static_cast<std::size_t>(distribution::take(left)));
      for (distribution::range& run : each.runs) run = {distribution::take(left), distribution::take(left)};
    }
  return result;
}

const char* rule_name(std::int32_t rule) {
  switch (static_cast<distribution::shared_points>(rule)) {
    case distribution::shared_points::lower:
      return "lower";
    case distribution::shared_points::upper:
      return "upper";
    default:
      return "equal";
  }
}

/// Describes shared points, periodic axes, ghosts and cells that are dealt out; "" if there are none.
std::string points_text(const layout& cut) {
  const auto axes = static_cast<std::size_t>(cut.ndim());
  std::vector<std::size_t> shared, periodic, dealt;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (cut.axes()[axis].is_shared()) shared.push_back(axis);
    if (cut.axes()[axis].periodic) periodic.push_back(axis);
    if (cut.lists() == nullptr && !cut.is_contiguous(axis)) dealt.push_back(axis);
  }
  std::string result;
  const auto add = [&](const char* what, const std::vector<std::size_t>& listed) {
    if (!listed.empty()) result += fmt::format("; {} {}", what, fmt::join(listed, ", "));
  };
  add("nodes or faces, shared along", shared);
  if (!shared.empty()) result += fmt::format(" (truth {})", rule_name(static_cast<int>(cut.axes()[shared[0]].shared)));
  add("periodic along", periodic);
  add("dealt out in blocks along", dealt);
  const auto widths = [axes](const distribution::per_axis& numbers) {
    return base::shape_text(std::span(numbers).first(axes));
  };
  if (cut.ghosts() != distribution::ghost_widths{})
    result += fmt::format("; ghosts {} before, {} behind", widths(cut.ghosts().low), widths(cut.ghosts().high));
  return result;
}

/// The words, without the spaces around them.
std::vector<std::string> words_between_commas(const std::string& text) {
  std::vector<std::string> result;
  for (const auto part : std::views::split(text, ',')) {
    const std::string word(part.begin(), part.end());
    const auto first = word.find_first_not_of(' ');
    result.push_back(first == std::string::npos ? "" : word.substr(first, word.find_last_not_of(' ') - first + 1));
  }
  return result;
}

/// Facts that a message can name, where the hash of the layout would say nothing.
void add_point_facts(comm::collective_call& call, const layout& cut) {
  for (int axis = 0; axis < cut.ndim(); ++axis) {
    const auto number = static_cast<std::size_t>(axis);
    const distribution::points& of = cut.axes()[number];
    call.fact("shared (axis {})", of.is_shared(), {"shared", axis, cut.ndim()});
    call.fact("periodic (axis {})", of.periodic, {"periodic", axis, cut.ndim()});
    call.fact("ghosts before axis {}", cut.ghosts().low[number], {"ghosts", axis, cut.ndim()});
    call.fact("ghosts behind axis {}", cut.ghosts().high[number], {"ghosts", axis, cut.ndim()});
  }
}

/// Makes a layout of what each rank has chosen: exchange() brings it to all ranks, make() is each rank's own.
std::shared_ptr<shared_layout> gather(std::shared_ptr<comm::communicator> comm, const char* operation,
                                      const own_part& mine, const std::function<void()>& exchange,
                                      const std::function<layout()>& make) {
  comm::collective_call call(*comm, operation, comm::collective_call::always_agrees);
  call.attempt([&] {
    if (mine.error) throw *mine.error;
  });
  call.fact("axes", std::ssize(mine.whole));
  for (int axis = 0; axis < std::ssize(mine.whole); ++axis)
    call.fact("extent of axis {}", mine.whole[static_cast<std::size_t>(axis)],
              {mine.argument, axis, static_cast<int>(mine.whole.size())});
  call.named_fact("truth", static_cast<std::int32_t>(mine.rule), rule_name);
  call.agree();
  exchange();
  std::optional<layout> made;
  call.attempt([&] { made = make(); });
  if (made) {
    add_point_facts(call, *made);
    call.fact("hash of the layout", hash_of(*made));
  }
  call.agree();
  return std::make_shared<shared_layout>(std::move(comm), std::move(*made));
}

}  // namespace

const std::string& shared_layout::text() const {
  const std::lock_guard lock(mutex_);
  std::string& kept = texts_[axes_.names.empty() ? 0 : 1];
  if (!kept.empty()) return kept;
  const auto axes = static_cast<std::size_t>(cut_.ndim());
  const auto shown = [axes](const distribution::per_axis& numbers) {
    return base::shape_text(std::span(numbers).first(axes));
  };
  std::string result = fmt::format("array of shape {} over {}", shown(cut_.extents()), comm_->name());
  if (!axes_.names.empty()) result += fmt::format(", axes {}", axes_.names);
  if (!axes_.units.empty()) result += fmt::format(", in {}", axes_.units);
  result += points_text(cut_);
  for (int rank = 0; rank < cut_.size(); ++rank) {
    for (const int block : cut_.blocks_of(rank))
      result += fmt::format("\nrank {}: from {}, array of shape {}", rank, shown(cut_.first_of(block)),
                            shown(cut_.allocated_of(block)));
    if (cut_.blocks_of(rank).empty()) result += fmt::format("\nrank {}: no block", rank);
  }
  return kept = std::move(result);
}

const shared_layout::axis_names& shared_layout::axes() const {
  static const axis_names none;
  const std::lock_guard lock(mutex_);
  return axes_.names.empty() ? none : axes_;
}

void shared_layout::name_axes(const std::string& names, const std::string& units) {
  const auto joined = [this](const std::string& given, const char* argument) {
    const std::vector<std::string> words = words_between_commas(given);
    base::expect(std::ssize(words) == cut_.ndim(), SYNCYTE_ERR_ARGUMENT, argument, '"' + given + '"',
                 "{} names with commas between, one for each axis", cut_.ndim());
    return fmt::format("{}", fmt::join(words, ", "));
  };
  axis_names made{joined(names, "names"), units.empty() ? "" : joined(units, "units")};
  const std::lock_guard lock(mutex_);
  base::expect(axes_.names.empty(), SYNCYTE_ERR_ARGUMENT, "names", '"' + names + '"',
               "none: the axes have the names \"{}\" already", axes_.names);
  axes_ = std::move(made);
}

std::shared_ptr<const distribution::route> shared_layout::route_to(
    const std::shared_ptr<const shared_layout>& other, const std::optional<distribution::per_axis>& first) const {
  constexpr std::size_t most_routes = 2;
  const std::lock_guard lock(mutex_);
  for (const known_route& each : routes_)
    if (each.to.lock() == other && each.first == first) return each.found;
  const int rank = comm_->rank();
  auto found =
      std::make_shared<const distribution::route>(first ? distribution::find_route(cut_, other->cut(), rank, *first)
                                                        : distribution::find_route(cut_, other->cut(), rank));
  routes_.push_front({other, first, found});
  if (routes_.size() > most_routes) routes_.pop_back();
  return found;
}

std::int64_t hash_of(const layout& cut) {
  const std::vector<std::int64_t> numbers = cut.fingerprint();
  return static_cast<std::int64_t>(XXH3_64bits(numbers.data(), numbers.size() * sizeof numbers[0]) >> 1);
}

std::shared_ptr<shared_layout> make_layout(std::shared_ptr<comm::communicator> comm, const char* operation,
                                           const std::function<layout()>& compute) {
  comm::collective_call call(*comm, operation, comm::collective_call::always_agrees);
  std::optional<layout> made;
  call.attempt([&] { made = compute(); });
  if (made) {
    call.fact("axes", made->ndim());
    for (int axis = 0; axis < made->ndim(); ++axis)
      call.fact("extent of axis {}", made->extents()[static_cast<std::size_t>(axis)], {"extents", axis, made->ndim()});
    add_point_facts(call, *made);
    call.fact("hash of the layout", hash_of(*made));
  }
  call.agree();
  return std::make_shared<shared_layout>(std::move(comm), std::move(*made));
}

std::shared_ptr<shared_layout> gather_blocks(std::shared_ptr<comm::communicator> comm, const char* operation,
                                             const own_part& mine, std::span<const box> boxes,
                                             const std::function<layout(const layout&)>& finish) {
  std::vector<distribution::rank_box> all;
  return gather(
      comm, operation, mine, [&] { all = boxes_of_all(*comm, boxes); },
      [&] { return finish(layout::of_blocks(mine.whole, all, comm->size())); });
}

std::shared_ptr<shared_layout> gather_lists(std::shared_ptr<comm::communicator> comm, const char* operation,
                                            const own_part& mine, std::span<const distribution::point_list> lists) {
  std::vector<distribution::rank_list> all;
  return gather(
      comm, operation, mine, [&] { all = lists_of_all(*comm, lists); },
      [&] { return layout::of_lists(mine.whole, all, mine.rule, comm->size()); });
}

}  // namespace syncyte::collectives
