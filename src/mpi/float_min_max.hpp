// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "syncyte/base.h"

namespace syncyte::mpi {

/// MIN and MAX of floating-point elements, which do not depend on the order of the ranks: NaN where any element is NaN,
/// and -0 less than +0. MPI's own operations leave both open, so that ranks may get different results. float16 and
/// bfloat16 are reduced as float32. MPI_OP_NULL for anything else. Made at the first use.
MPI_Op float_min_max_op(syncyte_dtype_t dtype, syncyte_op_t op);

/// Call it before MPI ends.
void free_float_min_max_ops();

}  // namespace syncyte::mpi
