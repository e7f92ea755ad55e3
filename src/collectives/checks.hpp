#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>

#include "base/buffer.hpp"
#include "collectives/extras.hpp"
#include "comm/agreement.hpp"

namespace syncyte::collectives {

/// A contiguous buffer in host memory.
base::buffer checked(const syncyte_buffer_t* raw, const char* argument);

/// A contiguous buffer in memory that MPI takes, for what only moves elements.
base::buffer checked_to_move(const syncyte_buffer_t* raw, const char* argument);

/// Throws SYNCYTE_ERR_ARGUMENT if two contiguous buffers share memory.
void require_apart(const base::buffer& input, const base::buffer& output);

void require_root(const comm::communicator& comm, int root);

/// Sum of one count for each rank, each 0 or more; throws SYNCYTE_ERR_ARGUMENT, naming the rank, otherwise.
std::int64_t checked_sum(const std::int64_t* counts, int size, const char* argument);

/// What the caller brings as facts.
void add_facts(comm::agreement& terms, const extras& extras);

}  // namespace syncyte::collectives
