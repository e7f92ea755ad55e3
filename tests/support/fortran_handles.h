/* SPDX-License-Identifier: BSD-3-Clause */
/* Fortran's handles of communicators. MPI 5's standard ABI has no MPI_Fint; its integer handles are Fortran's. */
#ifndef FORTRAN_HANDLES_H
#define FORTRAN_HANDLES_H

#include <mpi.h>

#ifdef MPI_ABI_VERSION
static inline int fortran_handle_of(MPI_Comm comm) { return MPI_Comm_toint(comm); }
static inline MPI_Comm comm_of_fortran(int handle) { return MPI_Comm_fromint(handle); }
#else
static inline int fortran_handle_of(MPI_Comm comm) { return MPI_Comm_c2f(comm); }
static inline MPI_Comm comm_of_fortran(int handle) { return MPI_Comm_f2c(handle); }
#endif

#endif
