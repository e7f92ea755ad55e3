#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/node_reduction.hpp"
#include "syncyte/base.h"

namespace syncyte::collectives {

/// Throws SYNCYTE_ERR_ARGUMENT for an unknown op, SYNCYTE_ERR_UNSUPPORTED for one that dtype does not have.
void require_reducible(syncyte_dtype_t dtype, syncyte_op_t op);

/// The MPI operation for elements of a dtype; of float16 and bfloat16 none.
MPI_Op mpi_op(syncyte_dtype_t dtype, syncyte_op_t op);

/// float16 and bfloat16, which travel as float32.
bool is_half(syncyte_dtype_t dtype);
void widen_half(const void* half, std::int64_t count, syncyte_dtype_t dtype, float* wide);
void round_half(const float* wide, std::int64_t count, syncyte_dtype_t dtype, void* half);

/// MPI's reductions of dense elements, any number of them, in the arithmetic of their dtype: float16 and bfloat16
/// travel and are reduced as float32, and are rounded once; sums and products of bool are logic. `input` may be
/// `output`: in place. No checks, no agreement.

/// `nearby`: see communicator::nearby(); null for messages in any case.
void allreduce_elements(MPI_Comm comm, comm::node_reduction* nearby, const void* input, void* output,
                        std::int64_t count, syncyte_dtype_t dtype, syncyte_op_t op);
/// `output` counts on root only.
void reduce_to(MPI_Comm comm, const void* input, void* output, std::int64_t count, int root, syncyte_dtype_t dtype,
               syncyte_op_t op);
/// Over ranks 0 to this one.
void scan_elements(MPI_Comm comm, const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype,
                   syncyte_op_t op);
/// Identity elements of the reduction.
void fill_identity(void* output, std::int64_t count, syncyte_dtype_t dtype, syncyte_op_t op);
/// Over ranks 0 to the one before; rank 0 gets what changes nothing: 0 for SUM, 1 for PROD, the highest value for MIN.
void exscan_elements(MPI_Comm comm, const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype,
                     syncyte_op_t op);
/// Not in place; the counts' sum fits an int. `scratch` has reduce_scatter_scratch() bytes for that sum.
void reduce_scatter(MPI_Comm comm, comm::node_reduction* nearby, const void* input, void* output,
                    const std::vector<int>& counts, syncyte_dtype_t dtype, syncyte_op_t op, void* scratch);
std::size_t reduce_scatter_scratch(std::int64_t elements, syncyte_dtype_t dtype);

}  // namespace syncyte::collectives
