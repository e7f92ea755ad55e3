// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "watchdog/long_wait.hpp"

namespace syncyte::comm {

/// The agreements of ranks of one node, in memory that they share: all ranks get the highest of all ranks' votes.
///
/// In each step of an agreement a rank shows the highest votes that it knows, and reads those of some other ranks.
/// After step s, from 0, it knows the votes of width^(s + 1) ranks from itself on: it is the root of a tree with
/// `width` children at each node. If width is at least the number of ranks, there is one step.
///
/// A rank has two slots for each step, which agreements use in turn. When it ends an agreement, all ranks have begun
/// it, so they have read all slots of the agreement before, which the next one overwrites.
class node_votes {
 public:
  using votes = std::array<std::uint64_t, 3>;

  /// One step up to 32 ranks.
  static int usual_width(int ranks) { return ranks <= 32 ? 32 : 8; }

  /// Distances of the ranks that a rank reads in each step: rank + distance, modulo ranks.
  static std::vector<std::vector<int>> steps(int ranks, int width);

  /// Bytes of the memory that the ranks share, which must be zero at first.
  static std::size_t bytes(int ranks, int width);

  node_votes(std::byte* memory, int rank, int ranks, int width);

  /// Collective. While it waits, all operations make progress; throws what `wait` throws.
  votes highest(const votes& mine, watchdog::long_wait& wait);

 private:
  struct slot;

  slot& slot_of(int rank, std::size_t step) const;
  void await(const slot& awaited, watchdog::long_wait& wait) const;

  std::byte* memory_;
  int rank_;
  int ranks_;
  std::vector<std::vector<int>> steps_;
  std::uint64_t agreement_ = 0;  // number of the last agreement that this rank has begun
};

}  // namespace syncyte::comm
