#pragma once

#include <cstdint>
#include <memory>

#include "collectives/collectives.hpp"
#include "collectives/started_collective.hpp"

namespace syncyte::collectives {

/// The non-blocking collectives of nonblocking.h: each checks as the blocking one of its name, starts, and throws this
/// rank's own error at once. Contiguous buffers are the caller's to keep until the end; strided ones are copied, at the
/// start and at the end.
using started_t = std::shared_ptr<started_collective>;

started_t ibcast(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* buffer, int root,
                 const extras& extras);
started_t iallreduce(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input,
                     const syncyte_buffer_t* output, syncyte_op_t op, const extras& extras);
started_t iallgather_along(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input, int axis,
                           const std::int64_t* lengths, const syncyte_buffer_t* output, const extras& extras);
started_t ireduce_scatter_along(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input,
                                int axis, const std::int64_t* lengths, syncyte_op_t op, const syncyte_buffer_t* output,
                                const extras& extras);
started_t ialltoall_along(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input,
                          const axis_change& change, const syncyte_buffer_t* output, const extras& extras);

/// Takes part in the agreement of a collective that this rank cannot start; `operation` must stay for ever.
void irefuse(const std::shared_ptr<comm::communicator>& comm, const char* operation, const base::error& error);

}  // namespace syncyte::collectives
