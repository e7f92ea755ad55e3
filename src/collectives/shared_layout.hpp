// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "distribution/layout.hpp"
#include "distribution/route.hpp"

namespace syncyte::collectives {

/// A layout of arrays among the ranks of a communicator, equal on all of them.
class shared_layout {
 public:
  shared_layout(std::shared_ptr<comm::communicator> comm, distribution::layout cut)
      : comm_(std::move(comm)), cut_(std::move(cut)) {}

  const std::shared_ptr<comm::communicator>& comm() const { return comm_; }
  const distribution::layout& cut() const { return cut_; }
  /// A line for each block. Thread-safe.
  const std::string& text() const;

  /// Names of the axes and units along them, with ", " between: for people. Both are empty, or have one for each axis.
  struct axis_names {
    std::string names, units;
  };
  /// Stays as it is once the axes have names.
  const axis_names& axes() const;
  /// Names the axes, of which each list has one for each axis, or none. Throws SYNCYTE_ERR_ARGUMENT the second time.
  void name_axes(const std::string& names, const std::string& units);

  /// Returns what this rank sends and receives when an array goes to another layout (distribution::find_route()). Keeps
  /// the last two routes: those of listed points take longer to find than to use. Thread-safe.
  std::shared_ptr<const distribution::route> route_to(const std::shared_ptr<const shared_layout>& other,
                                                      const std::optional<distribution::per_axis>& first) const;

 private:
  struct known_route {
    std::weak_ptr<const shared_layout> to;
    std::optional<distribution::per_axis> first;
    std::shared_ptr<const distribution::route> found;
  };

  mutable std::mutex mutex_;
  mutable std::array<std::string, 2> texts_;  // without and with the axes' names
  axis_names axes_;
  mutable std::deque<known_route> routes_;  // the newest is first
  std::shared_ptr<comm::communicator> comm_;
  distribution::layout cut_;
};

/// Makes a layout that every rank computes from its own arguments; they must come to the same one. Collective.
std::shared_ptr<shared_layout> make_layout(std::shared_ptr<comm::communicator> comm, const char* operation,
                                           const std::function<distribution::layout()>& compute);

/// Arguments of a rank that has chosen its own part of an array.
struct own_part {
  std::vector<std::int64_t> whole;                                       // extents, equal on all ranks
  const char* argument = nullptr;                                        // that has them, in messages
  distribution::shared_points rule = distribution::shared_points::none;  // equal on all ranks
  std::optional<base::error> error;                                      // found by the caller on this rank
};

/// Makes a layout of the blocks of cells that the ranks have chosen; finish(layout) adds points and ghosts. Collective.
std::shared_ptr<shared_layout> gather_blocks(
    std::shared_ptr<comm::communicator> comm, const char* operation, const own_part& mine,
    std::span<const distribution::box> boxes,
    const std::function<distribution::layout(const distribution::layout&)>& finish);

/// Makes a layout of the lists of points that the ranks have chosen; mine.rule is that of point_lists. Collective.
std::shared_ptr<shared_layout> gather_lists(std::shared_ptr<comm::communicator> comm, const char* operation,
                                            const own_part& mine, std::span<const distribution::point_list> lists);

/// A hash of everything that the layout consists of, for agreements: 0 or more.
std::int64_t hash_of(const distribution::layout& cut);

}  // namespace syncyte::collectives
