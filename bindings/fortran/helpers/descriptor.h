/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file descriptor.h
 * @brief Common to the helpers: descriptors of Fortran's arrays, and errors.
 */
#pragma once

#include <stdbool.h>

#include "fortran.h"

/** Sets this thread's last error with a printf-like message, and returns status. */
syncyte_status_t fortran_fail(syncyte_status_t status, const char* format, ...) __attribute__((format(printf, 2, 3)));

/** Sets this thread's last error, with its fields, to "argument is <format>", and returns status. The format is of the
 * form "value; expected what", or a value alone; axis is the position in the argument, from 0, or -1. */
syncyte_status_t fortran_wrong(syncyte_status_t status, const char* argument, int64_t axis, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

/** Element type of an array, or 0 for one that Syncyte does not have. */
syncyte_dtype_t fortran_dtype(const CFI_cdesc_t* array);

/** Whether an array of type `have` may carry elements of type `stored`: equal, or the same bits where Fortran has no
 * such type (uint8 and bool in integer(1), 16-bit floats in integer(2)). */
bool fortran_carries(syncyte_dtype_t have, syncyte_dtype_t stored);

/** Name of a Fortran type, for messages, for example "real(8)". */
const char* fortran_type_name(const CFI_cdesc_t* array);

/** Fails unless the array is allocated, its extents are known and its rank is one that Syncyte takes. */
syncyte_status_t fortran_check(const CFI_cdesc_t* array, const char* name);

/** Whether the elements lie one after another; strides of dimensions of extent 1 do not matter. */
bool fortran_is_contiguous(const CFI_cdesc_t* array);

/** Fails unless an array is contiguous, of this type and as long as another one. */
syncyte_status_t fortran_check_result(const CFI_cdesc_t* result, const char* name, CFI_type_t type,
                                      const CFI_cdesc_t* like);

/** fortran_integers() of a vector with at most SYNCYTE_MAX_NDIM elements, reversed. */
syncyte_status_t fortran_reversed(const CFI_cdesc_t* array, const char* name, int32_t* count, int64_t* values);
