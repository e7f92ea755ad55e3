// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "base/buffer.hpp"

namespace syncyte::mpi {

/// Whether MPI reads and writes a kind of memory. Host memory always; CUDA's where this build has CUDA, the machine a
/// device, and the MPI library says so (MPIX_Query_cuda_support(), of Open MPI and MPICH) or SYNCYTE_CUDA_AWARE=on
/// does: not all libraries can be asked. Call it after MPI_Init. Throws SYNCYTE_ERR_ARGUMENT for an unknown kind.
bool takes(syncyte_memory_t memory);

/// Agrees on job_takes_device_memory(): whether MPI takes memory of devices on any rank of the job. Collective.
void agree_on_device_memory(MPI_Comm world);
bool job_takes_device_memory();

/// Throws SYNCYTE_ERR_UNSUPPORTED for a buffer in memory that this build or MPI does not take, SYNCYTE_ERR_ARGUMENT for
/// a device that does not exist; returns the buffer.
const base::buffer& require_taken(const base::buffer& buffer);

}  // namespace syncyte::mpi
