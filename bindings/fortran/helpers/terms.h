/**
 * @file terms.h
 * @brief Messages of the C interface in Fortran's terms: arguments without "options->", extents in Fortran's order.
 */
#pragma once

#include <stdint.h>

#include "syncyte.h"

/**
 * The thread's last error as a Fortran programmer should read it; valid until this thread's next call. What stands in
 * quotes (names, keys, paths) stays as it is.
 */
const char* fortran_last_error(void);

/**
 * Renames C's dimensions in the last error, if status is one: of an argument with ndim dimensions, "shape[0]" becomes
 * "dimension <ndim> of shape". Returns status.
 */
syncyte_status_t fortran_dimensions(syncyte_status_t status, int32_t ndim);

/**
 * C's axis for a dimension from 1 (the first one of Fortran is the last one of C), counted from the end. What is no
 * dimension becomes no axis.
 */
int32_t fortran_axis(int32_t dim);

/** The other way, for arrays with ndim dimensions; also of what fortran_axis() has made of a wrong dimension. */
int64_t fortran_dim(int64_t axis, int32_t ndim);

/**
 * Renames C's axes in the last error, if status is one: for arrays with ndim dimensions, "axis is 0" becomes "dim is
 * <ndim>". Returns status.
 */
syncyte_status_t fortran_axes(syncyte_status_t status, int32_t ndim);
