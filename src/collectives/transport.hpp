#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "comm/communicator.hpp"

namespace syncyte::collectives {

/// MPI's v-collectives for any counts: dense elements of a dtype, the ranks' pieces one after the other in order of
/// ranks, counts[rank] elements each. No checks, no agreement: that is the callers', who have agreed. All collective;
/// input and output do not overlap.
///
/// Where the sum of counts does not fit MPI's int displacements, messages or broadcasts in pieces take their place; all
/// ranks must come to the same conclusion, so the sums must be equal on all of them.

void gather_pieces(comm::communicator& comm, const std::byte* input, std::span<const std::int64_t> counts, int root,
                   std::byte* output, syncyte_dtype_t dtype);
void allgather_pieces(comm::communicator& comm, const std::byte* input, std::span<const std::int64_t> counts,
                      std::byte* output, syncyte_dtype_t dtype);
void scatter_pieces(comm::communicator& comm, const std::byte* input, std::span<const std::int64_t> counts, int root,
                    std::byte* output, syncyte_dtype_t dtype);

/// `is_long`, equal on all ranks: some rank's counts do not fit.
void exchange_pieces(comm::communicator& comm, const std::byte* input, std::span<const std::int64_t> send_counts,
                     std::span<const std::int64_t> recv_counts, std::byte* output, syncyte_dtype_t dtype, bool is_long);

/// Every rank's piece is the sum (or what `op` says) over all ranks' inputs there; input holds all pieces. `scratch`
/// has reduce_scatter_scratch() bytes for the sum of counts.
void reduce_scatter_pieces(comm::communicator& comm, const std::byte* input, std::span<const std::int64_t> counts,
                           std::byte* output, syncyte_dtype_t dtype, syncyte_op_t op, std::byte* scratch);

}  // namespace syncyte::collectives
