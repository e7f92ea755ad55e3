// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/block_arrays.hpp"
#include "collectives/started_collective.hpp"
#include "distribution/layout.hpp"
#include "distribution/route.hpp"
#include "memory/scratch.hpp"

namespace syncyte::collectives {

/// Moves an array from one layout to another: each place of the target's blocks gets the value that the owner of its
/// point has. Ghosts are neither read nor written. The array is never whole anywhere: pairs of ranks exchange messages
/// in rounds, through memory of at most `buffer_bytes` on each rank.
class relocation final : public data_operation {
 public:
  relocation(comm::agreement& terms, form how, syncyte_dtype_t dtype, const block_arrays& from, const block_arrays& to,
             std::size_t buffer_bytes);

  void compare(comm::collective_call& call) override;
  void move(mover& by) override;

 private:
  /// Boxes that travel together.
  struct message {
    int peer;
    std::int64_t elements = 0;
    std::vector<distribution::shipment> boxes;
  };
  using round = std::vector<message>;

  std::int64_t elements_for_others(std::span<const distribution::shipment> all) const;
  /// The messages of all rounds, in order of peers; the one between two ranks has the same boxes on both.
  std::vector<round> in_rounds(std::span<const distribution::shipment> all) const;
  void exchange(mover& by);
  void copy_own() const;
  void pack(const message& what, std::byte* to) const;
  void unpack(const message& what, const std::byte* from) const;

  int rank_;
  syncyte_dtype_t dtype_;
  std::size_t element_bytes_;
  std::size_t buffer_bytes_;
  std::vector<base::buffer> sources_, targets_;  // by place among this rank's blocks
  std::vector<int> source_blocks_, target_blocks_;
  distribution::ghost_widths source_ghosts_, target_ghosts_;
  distribution::route route_;
  std::int64_t most_elements_;  // of a message, equal on all ranks
  memory::scratch memory_;      // of the messages of a round
};

}  // namespace syncyte::collectives
