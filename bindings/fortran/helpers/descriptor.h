/**
 * @file descriptor.h
 * @brief From Fortran's array descriptors (ISO_Fortran_binding.h) to Syncyte's buffers and numbers.
 *
 * Dimensions are reversed on the way: the last one of Fortran is the first one of C. A failing helper returns a status
 * and keeps a message in the words of a Fortran programmer (from 1, dimensions as in Fortran) for fortran_report().
 */
#pragma once

#include <ISO_Fortran_binding.h>
#include <stdbool.h>

#include "syncyte.h"

/** Keeps a printf-like message of this thread and returns status. */
syncyte_status_t fortran_fail(syncyte_status_t status, const char* format, ...) __attribute__((format(printf, 2, 3)));

/** Makes the message kept by fortran_fail() the thread's last error; returns status. */
syncyte_status_t fortran_report(syncyte_status_t status);

/** A local failure that a collective was still told of: the local message stays, otherwise the collective's answer. */
syncyte_status_t fortran_settle(syncyte_status_t local, syncyte_status_t collective);

/** Element type of an array, or 0 for one that Syncyte does not have. */
syncyte_dtype_t fortran_dtype(const CFI_cdesc_t* array);

/** Whether an array of type `have` may carry elements of type `stored`: equal, or the same bits where Fortran has no
 * such type (uint8 and bool in integer(1), 16-bit floats in integer(2)). */
bool fortran_carries(syncyte_dtype_t have, syncyte_dtype_t stored);

/** Name of a Fortran type, for messages, for example "real(8)". */
const char* fortran_type_name(const CFI_cdesc_t* array);

/**
 * Describes an array. On failure buffer is one that every function of Syncyte refuses with the same status, so that a
 * collective can still be entered with it. `stored` is the element type to take it for if it carries that, or 0.
 */
syncyte_status_t fortran_buffer(const CFI_cdesc_t* array, const char* name, syncyte_dtype_t stored,
                                syncyte_buffer_t* buffer);

/** Elements of an array; -1 for one of assumed size. */
int64_t fortran_count(const CFI_cdesc_t* array);

/** Whether the elements lie one after another; strides of dimensions of extent 1 do not matter. */
bool fortran_is_contiguous(const CFI_cdesc_t* array);

/** Reads a scalar integer of any kind. */
syncyte_status_t fortran_integer(const CFI_cdesc_t* scalar, const char* name, int64_t* value);

/** Writes a scalar integer of any kind; absent (null) is fine. */
syncyte_status_t fortran_set_integer(const CFI_cdesc_t* scalar, const char* name, int64_t value);

/** Reads an array of integers of any kind, rank and strides in array element order; values has room for capacity. */
syncyte_status_t fortran_integers(const CFI_cdesc_t* array, const char* name, int64_t capacity, int64_t* values);

/** Writes an array that fortran_integers() can read, in array element order. */
syncyte_status_t fortran_set_integers(const CFI_cdesc_t* array, const char* name, const int64_t* values);

/** Reads a vector of at most SYNCYTE_MAX_NDIM integers and reverses it. */
syncyte_status_t fortran_reversed(const CFI_cdesc_t* array, const char* name, int32_t* count, int64_t* values);
