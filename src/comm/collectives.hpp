#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/buffer.hpp"
#include "comm/collective.hpp"
#include "syncyte/comm.h"

namespace syncyte::comm {

/// What the caller brings into a collective besides buffers.
struct collective_extras {
  std::int64_t fact = 0;                  // a further fact that all ranks must share
  std::span<const syncyte_fact_t> facts;  // more of them, with names; the caller's
  std::optional<base::error> error;       // what the caller found wrong on this rank: all ranks are told
};

/// The collectives of comm.h on checked buffers; each is one collective_call. Counts beyond 2^31 are cut into pieces.
void barrier(communicator& comm);
void bcast(communicator& comm, const syncyte_buffer_t* buffer, int root, const collective_extras& extras);
void allreduce(communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output, syncyte_op_t op,
               const collective_extras& extras);
void allgather(communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output,
               const collective_extras& extras);
void allgatherv(communicator& comm, const syncyte_buffer_t* input, const std::int64_t* counts,
                const syncyte_buffer_t* output, const collective_extras& extras);
void alltoallv(communicator& comm, const syncyte_buffer_t* input, const std::int64_t* send_counts,
               const std::int64_t* recv_counts, const syncyte_buffer_t* output, const collective_extras& extras);

/// Most elements that are handed to MPI at once. Tests lower it to reach the pieces with little memory.
std::int64_t piece_limit();
void set_piece_limit(std::int64_t elements);

}  // namespace syncyte::comm
