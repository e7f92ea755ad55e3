// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file mpi.hpp
/// Communicators from an MPI_Comm; the only header of the C++ interface that needs MPI's.

#include "syncyte/comm.hpp"
#include "syncyte_mpi.h"

namespace syncyte {

/// A duplicate of an MPI_Comm, which the caller keeps. Collective over it.
inline communicator from_mpi(MPI_Comm mpi_comm, const comm_options& options = {}) {
  return communicator(detail::new_comm(options, syncyte_comm_from_mpi, mpi_comm));
}

}  // namespace syncyte
