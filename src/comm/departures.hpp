// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "comm/agreement.hpp"

namespace syncyte::comm {

/// Departed ranks: they have entered finalize and have nothing in flight. A departed rank takes part in collectives of
/// the world only. It is marked on its node's board; ranks of other nodes must be asked (fabric/departure.hpp).

/// Marks this rank.
void mark_departed() noexcept;

/// Whether a rank of `comm` was marked so long ago that all messages that it had sent before must have arrived.
bool has_departed(const communicator& comm, int rank);

/// Whether this rank has departed, for the answer to ranks of other nodes.
bool has_departed();

/// The lowest rank of `comm` that has departed, other than this one; -1 if there is none. Only ranks that are awaited
/// count; all are if the function is empty.
int first_departed(const communicator& comm, const std::function<bool(int)>& is_awaited = {});

/// Whether `comm` is the world, to whose collectives a departed rank still comes.
bool is_world(const communicator& comm);

/// The error of a rank that waits for one that has departed.
agreed_error departed_error(const communicator& comm, int rank, const char* operation);

}  // namespace syncyte::comm
