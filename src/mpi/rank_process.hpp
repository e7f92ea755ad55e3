// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace syncyte::mpi {

/// Throws SYNCYTE_ERR_UNSUPPORTED in a process that a rank has started, because MPI_Init would take it for that rank.
/// The environment variable SYNCYTE_RANK_PROCESS, which children inherit, names the rank's process. Only warns if that
/// process has imported Python's package without a start: it may be a script that starts the real program.
void refuse_second_process_of_rank();

/// Sets SYNCYTE_RANK_PROCESS, unless the launcher's variables name no rank and job.
void name_rank_process();

}  // namespace syncyte::mpi
