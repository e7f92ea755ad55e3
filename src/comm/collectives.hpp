#pragma once

#include <cstdint>
#include <span>

#include "base/buffer.hpp"
#include "comm/collective.hpp"

namespace syncyte::comm {

/// The collectives of comm.h on checked buffers; each is one collective_call. Counts beyond 2^31 are cut into pieces.
/// `fact` is the caller's further fact that all ranks must share.
void barrier(communicator& comm);
void bcast(communicator& comm, const syncyte_buffer_t* buffer, int root, std::int64_t fact);
void allreduce(communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output, syncyte_op_t op,
               std::int64_t fact);
void allgather(communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output, std::int64_t fact);
void allgatherv(communicator& comm, const syncyte_buffer_t* input, const std::int64_t* counts,
                const syncyte_buffer_t* output, std::int64_t fact);
void alltoallv(communicator& comm, const syncyte_buffer_t* input, const std::int64_t* send_counts,
               const std::int64_t* recv_counts, const syncyte_buffer_t* output, std::int64_t fact);

/// Most elements that are handed to MPI at once. Tests lower it to reach the pieces with little memory.
std::int64_t piece_limit();
void set_piece_limit(std::int64_t elements);

}  // namespace syncyte::comm
