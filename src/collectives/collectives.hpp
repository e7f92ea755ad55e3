#pragma once

#include <cstdint>
#include <memory>

#include "collectives/checks.hpp"
#include "collectives/extras.hpp"
#include "collectives/started_collective.hpp"
#include "comm/communicator.hpp"
#include "syncyte/collectives.h"

namespace syncyte::collectives {

/// The collectives of collectives.h on checked buffers; each is one collective_call. Counts beyond 2^31 are cut into
/// pieces. Those with an i before their names are the non-blocking ones of nonblocking.h: each checks as the blocking
/// one, starts, and throws this rank's own error at once. Contiguous buffers are the caller's to keep until the end;
/// strided ones are copied, at the start and at the end. Arguments are those of the C functions, in their order:
/// bindings/generate writes the C functions by that rule.
void barrier(comm::communicator& comm);
void bcast(comm::communicator& comm, int root, const syncyte_buffer_t* buffer, const extras& extras);
started_t ibcast(const std::shared_ptr<comm::communicator>& comm, int root, const syncyte_buffer_t* buffer,
                 const extras& extras);
void allreduce(comm::communicator& comm, const syncyte_buffer_t* input, syncyte_op_t op, const syncyte_buffer_t* output,
               const extras& extras);
started_t iallreduce(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input, syncyte_op_t op,
                     const syncyte_buffer_t* output, const extras& extras);
void allgather(comm::communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output,
               const extras& extras);
void allgatherv(comm::communicator& comm, const syncyte_buffer_t* input, given_counts counts,
                const syncyte_buffer_t* output, const extras& extras);
void alltoallv(comm::communicator& comm, const syncyte_buffer_t* input, given_counts send_counts,
               given_counts recv_counts, const syncyte_buffer_t* output, const extras& extras);
/// On a Cartesian communicator: a block to and from each neighbour.
void neighbor_alltoall(comm::communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output,
                       const extras& extras);

/// Reduces to root; a null input is output's contents, and output is used on root alone.
void reduce(comm::communicator& comm, const syncyte_buffer_t* input, syncyte_op_t op, int root,
            const syncyte_buffer_t* output, const extras& extras);
void scan(comm::communicator& comm, const syncyte_buffer_t* input, syncyte_op_t op, syncyte_scan_t from,
          const syncyte_buffer_t* output, const extras& extras);
void exscan(comm::communicator& comm, const syncyte_buffer_t* input, syncyte_op_t op, syncyte_scan_t from,
            const syncyte_buffer_t* output, const extras& extras);

/// Arrays with any strides that are cut along an axis; `counts` are all ranks' extents there. Negative axes count from
/// the end.
void counts(comm::communicator& comm, std::int64_t count, std::int64_t* counts, std::int64_t counts_length,
            const extras& extras);
void gather_along(comm::communicator& comm, const syncyte_buffer_t* input, int axis, given_counts counts, int root,
                  const syncyte_buffer_t* output, const extras& extras);
void allgather_along(comm::communicator& comm, const syncyte_buffer_t* input, int axis, given_counts counts,
                     const syncyte_buffer_t* output, const extras& extras);
started_t iallgather_along(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input, int axis,
                           given_counts counts, const syncyte_buffer_t* output, const extras& extras);
void scatter_along(comm::communicator& comm, const syncyte_buffer_t* input, int axis, given_counts counts, int root,
                   const syncyte_buffer_t* output, const extras& extras);
void reduce_scatter_along(comm::communicator& comm, const syncyte_buffer_t* input, int axis, given_counts counts,
                          syncyte_op_t op, const syncyte_buffer_t* output, const extras& extras);
started_t ireduce_scatter_along(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input,
                                int axis, given_counts counts, syncyte_op_t op, const syncyte_buffer_t* output,
                                const extras& extras);
/// gather_counts are of input, scatter_counts of output.
void alltoall_along(comm::communicator& comm, const syncyte_buffer_t* input, int gather_axis,
                    given_counts gather_counts, int scatter_axis, given_counts scatter_counts,
                    const syncyte_buffer_t* output, const extras& extras);
started_t ialltoall_along(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input,
                          int gather_axis, given_counts gather_counts, int scatter_axis, given_counts scatter_counts,
                          const syncyte_buffer_t* output, const extras& extras);

}  // namespace syncyte::collectives
