#pragma once

#include <mpi.h>

#include "base/dtype.hpp"

namespace syncyte::comm {

/// Throws SYNCYTE_ERR_MPI with MPI's own text unless code is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// MPI_Test of one request, without its status. Throws as check_mpi().
bool has_ended(MPI_Request& request, const char* call);

/// Waits for a request while everything that is under way goes on (progress.hpp). Throws as check_mpi().
void wait_for(MPI_Request& request, const char* call);

/// The MPI type that moves elements of a dtype unchanged (float16 and bfloat16 travel as 16-bit integers).
MPI_Datatype mpi_type(syncyte_dtype_t dtype);

}  // namespace syncyte::comm
