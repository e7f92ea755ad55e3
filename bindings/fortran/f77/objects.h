/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file objects.h
 * @brief What the subroutines for Fortran 77 have in common: integers for objects, texts, arrays, and errors, which end
 * the job.
 *
 * INTEGER is int32_t, a CHARACTER argument has its length behind all others, and the compiler appends an underscore to
 * names: so do gfortran, ifx, flang and nvfortran. One thread at a time makes and drops objects.
 */
#pragma once

#include "fortran.h"

typedef enum { F77_NONE, F77_COMM, F77_LAYOUT, F77_BUNDLE, F77_TENSOR } f77_kind_t;

/** Kind of the object behind an integer. */
f77_kind_t f77_kind(int32_t number);

/** The object behind an integer; null, which C's functions refuse on all ranks, unless it is one of this kind. */
void* f77_object(int32_t number, f77_kind_t kind);

/** An integer for an object; 0 for null. */
int32_t f77_number(void* object, f77_kind_t kind);

/** Gives an object's integer back. */
void f77_forget(int32_t number);

/** Ends the job with the last error's message unless the status is SYNCYTE_SUCCESS. */
void f77_require(syncyte_status_t status);

/** A text without the blanks at its end, which the caller frees; null if nothing is left. Ends the job if there is a
 * zero character in it. */
char* f77_text(const char* characters, size_t length);

/** A step as an INTEGER; ends the job if it is larger. */
int32_t f77_step(int64_t step);

/** Copies a number for each dimension into C's order, less `base`. */
void f77_reversed(const int32_t* numbers, int32_t ndim, int64_t base, int64_t* result);

/**
 * @brief Describes the part of an array that begins at its first element, as LDA does in BLAS: COMMON blocks are larger
 * than what a rank has.
 * @param[in] array first element
 * @param[in] dtype element type
 * @param[in] dims the array's extents as it was declared, in Fortran's order
 * @param[in,out] part ndim and shape are set, in C's order; the rest is filled. Where the array is smaller than the
 * part, the shape becomes the array's, which C's functions refuse
 */
void f77_part(void* array, syncyte_dtype_t dtype, const int32_t* dims, syncyte_buffer_t* part);
