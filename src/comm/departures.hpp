#pragma once

#include "comm/agreement.hpp"

namespace syncyte::comm {

/// Ranks that have come to finalize and have nothing under way: from then on such a rank takes part in collectives of
/// the world only. Each is marked on its node's board; of ranks of other nodes nothing is known.

/// Marks this rank.
void mark_departed() noexcept;

/// Whether a rank of `comm` was marked so long ago that what it had sent before must have come.
bool has_departed(const communicator& comm, int rank);

/// The lowest rank of `comm` that has departed, other than this one; -1 if there is none.
int first_departed(const communicator& comm);

/// Whether `comm` is the world, to whose collectives a departed rank still comes.
bool is_world(const communicator& comm);

/// The error of a rank that waits for one that has departed.
agreed_error departed_error(const communicator& comm, int rank, const char* operation);

}  // namespace syncyte::comm
