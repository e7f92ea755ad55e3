#pragma once

#include <mpi.h>

#include "syncyte/base.h"

namespace syncyte::comm {

/// Throws SYNCYTE_ERR_ARGUMENT for an unknown op, SYNCYTE_ERR_UNSUPPORTED for one that dtype does not have.
void require_reducible(syncyte_dtype_t dtype, syncyte_op_t op);

/// MPI_Allreduce of `count` elements; a null input means in place. float16 and bfloat16 travel and are reduced as
/// float32, and are rounded once.
void reduce_piece(MPI_Comm comm, const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t op);

}  // namespace syncyte::comm
