// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "syncyte/base.h"

namespace syncyte::collectives {

/// Throws SYNCYTE_ERR_ARGUMENT for an unknown op, SYNCYTE_ERR_UNSUPPORTED for one that dtype does not have.
void require_reducible(syncyte_dtype_t dtype, syncyte_op_t op);

/// The MPI operation for elements of a dtype; there is none for float16 and bfloat16.
MPI_Op mpi_op(syncyte_dtype_t dtype, syncyte_op_t op);

/// Writes identity elements of the reduction: 0 for SUM, 1 for PROD, the highest value for MIN.
void fill_identity(void* output, std::int64_t count, syncyte_dtype_t dtype, syncyte_op_t op);

}  // namespace syncyte::collectives
