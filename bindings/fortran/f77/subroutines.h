/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file subroutines.h
 * @brief The subroutines for Fortran 77, without the underscore that the compiler appends. Objects are INTEGERs, and 0
 * is none; `length` is that of the CHARACTER argument. Each does what the function of C does that it is named after,
 * and ends the job where that returns an error.
 *
 * Arrays are given with `dims`, their extents as they were declared (IDIM(2) of A(0:99,0:49) is 100, 50): the block or
 * box begins at the array's first element, and may be smaller.
 */
#pragma once

#include <stddef.h>

#include "syncyte.h"

SYNCYTE_EXPORT void syncyte_init_(void);
SYNCYTE_EXPORT void syncyte_finalize_(void);

SYNCYTE_EXPORT void syncyte_comm_world_(int32_t* comm);
/** `mpi_comm`: a communicator of MPI. */
SYNCYTE_EXPORT void syncyte_comm_from_mpi_(const int32_t* mpi_comm, int32_t* comm);
SYNCYTE_EXPORT void syncyte_comm_to_mpi_(const int32_t* comm, int32_t* mpi_comm);
/** `name`: of this rank's program; blank: its file's. */
SYNCYTE_EXPORT void syncyte_comm_split_program_(const int32_t* comm, const char* name, int32_t* part, size_t length);

/** This rank's block: `first(ndim)` counts from 1; a `count` of 0: no block. `ghosts` is for all dimensions and ends.
 */
SYNCYTE_EXPORT void syncyte_layout_blocks_(const int32_t* comm, const int32_t* ndim, const int32_t* whole,
                                           const int32_t* first, const int32_t* count, const int32_t* ghosts,
                                           int32_t* layout);
/** `shared(ndim)`: 1 for each dimension along which arrays hold the borders of cells, or 0. */
SYNCYTE_EXPORT void syncyte_layout_like_(const int32_t* grid, const int32_t* shared, const int32_t* periodic,
                                         const int32_t* ghosts, int32_t* layout);

SYNCYTE_EXPORT void syncyte_bundle_create_(const int32_t* comm, int32_t* bundle);
/** `array` is used in place by later calls: it must be in COMMON, which compilers expect other calls to change. */
SYNCYTE_EXPORT void syncyte_bundle_add_(const int32_t* bundle, const char* name, const int32_t* layout,
                                        const int32_t* dtype, const int32_t* dims, void* array, size_t length);
/** `depth` 0: all ghosts. */
SYNCYTE_EXPORT void syncyte_bundle_exchange_(const int32_t* bundle, const int32_t* depth);
/** `only(fields)`: 1 for each field that takes part. */
SYNCYTE_EXPORT void syncyte_bundle_exchange_some_(const int32_t* bundle, const int32_t* depth, const int32_t* fields,
                                                  const int32_t* only);
SYNCYTE_EXPORT void syncyte_bundle_accumulate_(const int32_t* bundle, const int32_t* depth);
SYNCYTE_EXPORT void syncyte_bundle_sum_(const int32_t* bundle);

/** A whole tensor by a layout, with `slots` versions. */
SYNCYTE_EXPORT void syncyte_tensor_create_(const int32_t* comm, const int32_t* dtype, const int32_t* layout,
                                           const int32_t* slots, const char* name, int32_t* tensor, size_t length);
SYNCYTE_EXPORT void syncyte_tensor_open_(const int32_t* comm, const char* name, int32_t* tensor, size_t length);
/** `array`: this rank's block, with its ghosts. */
SYNCYTE_EXPORT void syncyte_tensor_publish_(const int32_t* tensor, const int32_t* dims, void* array,
                                            const int32_t* step);
/** The box from `first(ndim)` on, of `count(ndim)` points. `milliseconds`: most that it waits; negative: without end.
 * `is_late` 1: there is no version whose step is `at_least` so high; `array` and `step` are as they were. */
SYNCYTE_EXPORT void syncyte_tensor_take_(const int32_t* tensor, const int32_t* ndim, const int32_t* first,
                                         const int32_t* count, const int32_t* dims, void* array,
                                         const int32_t* at_least, const int32_t* milliseconds, int32_t* step,
                                         int32_t* is_late);

/** Saves the fields of a bundle into a file, without ghosts. */
SYNCYTE_EXPORT void syncyte_checkpoint_save_(const int32_t* comm, const char* path, const int32_t* bundle,
                                             const int32_t* step, size_t length);
/** Loads them on any number of ranks, in any cut; `step`: what was given to save. */
SYNCYTE_EXPORT void syncyte_checkpoint_load_(const int32_t* comm, const char* path, const int32_t* bundle,
                                             int32_t* step, size_t length);

/** Drops an object of any kind, and sets its number to 0; a number that is none is ignored. */
SYNCYTE_EXPORT void syncyte_destroy_(int32_t* number);
