// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "base/dtype.hpp"

namespace syncyte::mpi {

/// Throws SYNCYTE_ERR_MPI with MPI's own text unless code is MPI_SUCCESS.
void check(int code, const char* call);

/// MPI_Test of one request, without its status. Throws as check(), and SYNCYTE_ERR_PEER_DIED without a call of MPI
/// after the death of a rank.
bool has_ended(MPI_Request& request, const char* call);

/// The MPI type that moves elements of a dtype unchanged (float16 and bfloat16 travel as 16-bit integers).
MPI_Datatype type_of(syncyte_dtype_t dtype);

}  // namespace syncyte::mpi
