#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/buffer.hpp"
#include "comm/collective.hpp"
#include "syncyte/collectives.h"

namespace syncyte::comm {

/// What the caller brings into a collective besides buffers.
struct collective_extras {
  std::int64_t fact = 0;                  // a further fact that all ranks must share
  std::span<const syncyte_fact_t> facts;  // more of them, with names; the caller's
  std::optional<base::error> error;       // what the caller found wrong on this rank: all ranks are told
};

/// The collectives of collectives.h on checked buffers; each is one collective_call. Counts beyond 2^31 are cut into
/// pieces.
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

/// As there: a null input is output's contents. Of reduce, output counts on root alone.
void reduce(communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output, syncyte_op_t op,
            int root, const collective_extras& extras);

/// Which ranks a scan's result covers, from the first or from the last to this one.
enum class scan_from { first, last };
void scan(communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output, syncyte_op_t op,
          scan_from start, const collective_extras& extras);
void exscan(communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output, syncyte_op_t op,
            scan_from start, const collective_extras& extras);

/// Arrays with any strides that are cut along an axis; `lengths` are all ranks' extents there. Negative axes count from
/// the end.
void lengths(communicator& comm, std::int64_t length, std::int64_t* lengths, const collective_extras& extras);
void gather_along(communicator& comm, const syncyte_buffer_t* input, int axis, const std::int64_t* lengths, int root,
                  const syncyte_buffer_t* output, const collective_extras& extras);
void allgather_along(communicator& comm, const syncyte_buffer_t* input, int axis, const std::int64_t* lengths,
                     const syncyte_buffer_t* output, const collective_extras& extras);
void scatter_along(communicator& comm, const syncyte_buffer_t* input, int axis, const std::int64_t* lengths, int root,
                   const syncyte_buffer_t* output, const collective_extras& extras);
void reduce_scatter_along(communicator& comm, const syncyte_buffer_t* input, int axis, const std::int64_t* lengths,
                          syncyte_op_t op, const syncyte_buffer_t* output, const collective_extras& extras);

/// The two partitions of an alltoall.
struct axis_change {
  int gather_axis;
  const std::int64_t* gather_lengths;  // of input
  int scatter_axis;
  const std::int64_t* scatter_lengths;  // of output
};
void alltoall_along(communicator& comm, const syncyte_buffer_t* input, const axis_change& change,
                    const syncyte_buffer_t* output, const collective_extras& extras);

}  // namespace syncyte::comm
