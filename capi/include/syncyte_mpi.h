/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file syncyte_mpi.h
 * @brief Functions that need MPI's own header: communicators from an MPI_Comm.
 */
#ifndef SYNCYTE_MPI_H
#define SYNCYTE_MPI_H

#include <mpi.h>

#include "syncyte.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Makes a communicator from an MPI_Comm, which is duplicated and stays the caller's. Collective over mpi_comm.
 * @param[in] mpi_comm an intra-communicator
 * @param[in] options {optional} null for defaults
 * @param[out] comm the communicator
 * @return SYNCYTE_ERR_ARGUMENT for MPI_COMM_NULL, an inter-communicator and an invalid handle, on this rank alone: it
 * cannot notify the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_from_mpi(MPI_Comm mpi_comm, const syncyte_comm_options_t* options,
                                                      syncyte_comm_t* comm);

#ifdef __cplusplus
}
#endif

#endif
