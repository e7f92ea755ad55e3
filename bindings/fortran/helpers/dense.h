/**
 * @file dense.h
 * @brief Arrays of any strides for operations that take contiguous buffers: sections go through a copy.
 */
#pragma once

#include "descriptor.h"

/** An array, and what an operation is given of it. */
typedef struct {
  syncyte_buffer_t buffer;  /**< contiguous */
  const CFI_cdesc_t* array; /**< what the caller gave */
  void* copy;               /**< its dense copy; null where the array is contiguous itself */
} fortran_dense_t;

/**
 * Describes an array as fortran_buffer() does, with a dense copy if it is not contiguous. On failure dense->buffer is
 * one that every function refuses. fortran_dense_close() must follow.
 */
syncyte_status_t fortran_dense_open(const CFI_cdesc_t* array, const char* name, bool is_read, fortran_dense_t* dense);

/** Frees the copy, if there is one; before that its elements go back into the array if is_written. */
void fortran_dense_close(fortran_dense_t* dense, bool is_written);
