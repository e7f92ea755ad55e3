// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "atomics/lock_table.hpp"
#include "topology/node_group.hpp"

namespace syncyte::window {

/// The header of each rank's part, in memory that the node shares: the rank's lock, and locks of elements.
struct part_header {
  static constexpr std::size_t element_locks = 64;

  std::uint64_t lock;  ///< 0 free; upper half: rank + 1 of an exclusive holder; lower half: number of shared ones
  std::uint64_t unused[7];
  std::uint64_t elements[element_locks];  ///< words of element_locks()
};
inline constexpr std::size_t part_alignment = 64;
static_assert(sizeof(part_header) % part_alignment == 0);

/// The locks of a part's elements, by their numbers, for operations wider than the processor's atomics.
inline atomics::lock_table element_locks(part_header& header, const topology::node_group& node,
                                         const std::string& name) {
  return {header.elements,
          node.rank,
          [&node](int other) { return node.is_alive(other); },
          name,
          {"element", "changed it"},
          [&node](int other) { return node.world_ranks[static_cast<std::size_t>(other)]; }};
}

}  // namespace syncyte::window
