// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/collective_call.hpp"
#include "fabric/group.hpp"
#include "kv/spread_table.hpp"

namespace syncyte::kv {

struct move_options {
  std::int64_t foreign_bytes;  ///< memory for other nodes' keys on this node; negative, on all ranks: keys do not move
  intent_effect effect;        ///< equal on all ranks
};

/// Makes the spread_table of a communicator's ranks, and serves its requests. Collective; ends in an agreement.
/// `tables` have the keys of the node's ranks, by rank within the node; `memory` keeps their memory.
std::unique_ptr<spread_table> open_spread_table(comm::collective_call& call, std::shared_ptr<fabric::group> ranks,
                                                std::shared_ptr<const key_homes> homes, std::vector<table> tables,
                                                std::shared_ptr<void> memory, const move_options& moves,
                                                const key_locks::process& self);

}  // namespace syncyte::kv
