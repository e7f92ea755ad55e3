/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file rows.h
 * @brief Rows of any array in this process's memory.
 */
#ifndef SYNCYTE_ROWS_H
#define SYNCYTE_ROWS_H

#include "syncyte/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Reads rows of an array: output[i] = table[index[i]], converted if the types differ. Local, without MPI;
 * callable at any time, by several threads at once. Rows may repeat.
 *
 * float16, bfloat16, float32 and float64 are converted into each other, rounded to nearest even; float64 is converted
 * to 16-bit types by way of float32.
 *
 * All three may be on one device: the operation is queued on the stream of memory_set_stream(), or complete on return
 * if there is none. An index that is out of range is skipped then; it is the error of the call or, if it was queued, of
 * the next call for a table of this device, or of tensor_sync() of a tensor on it, that finds it done; its row of the
 * output is zeros.
 * @param[in] table 1 or more dimensions, any strides; the dimensions after the first form a row, which is contiguous in
 * device memory
 * @param[in] index {contiguous} int32 or int64, contiguous, any number of dimensions
 * @param[out] output {contiguous} contiguous, index's elements times a row's elements; must not overlap the table
 * @return SYNCYTE_ERR_INDEX (names the first index that is out of range and its position; nothing is written in host
 * memory), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT (output overlaps the table, or they lie on
 * different devices), SYNCYTE_ERR_UNSUPPORTED (a build without kernels).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_rows_gather(const syncyte_buffer_t* table, const syncyte_buffer_t* index,
                                                    const syncyte_buffer_t* output);

#ifdef __cplusplus
}
#endif

#endif
