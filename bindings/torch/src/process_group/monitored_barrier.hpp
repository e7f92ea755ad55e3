// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

#include "syncyte/comm.hpp"

namespace syncyte::torch_binding::process_group {

/// A barrier by messages to rank 0 and back, which fails after a time: rank 0's error names the first rank, or all
/// ranks, that have not come; the others' that rank 0 did not answer. `number` counts the group's barriers of this
/// kind. Collective; a failed one leaves the group usable.
void monitored_barrier(const communicator& comm, std::uint64_t number, std::chrono::milliseconds timeout,
                       bool names_all_ranks);

}  // namespace syncyte::torch_binding::process_group
