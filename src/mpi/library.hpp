// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace syncyte::mpi {

/// The loaded MPI library: the first words of MPI_Get_library_version, such as "Open MPI v4.1.4".
std::string library_name();

/// Throws SYNCYTE_ERR_VERSION if the process calls MPICH's functions, but Syncyte was compiled with Open MPI's header,
/// or the other way round: handles of one crash the other. Needs no MPI_Init.
void require_library_of_header();

/// Warns on the launcher's rank 0 if mpirun, srun or torchrun has started several ranks, but MPI has put each into a
/// world of its own, because the launcher belongs to another MPI or to none.
void warn_of_other_launcher(int world_size);

}  // namespace syncyte::mpi
