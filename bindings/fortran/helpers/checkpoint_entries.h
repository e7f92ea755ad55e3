/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file checkpoint_entries.h
 * @brief C functions for the Fortran methods of checkpoints, besides the C interface. See fortran.h.
 */
#pragma once

#include "fortran.h"
#include "syncyte/checkpoint.h"

/**
 * @brief Fills an entry with an array; fortran_entry_clear() frees its key and its buffer.
 * @param[in] key {string} name of the array
 * @param[in] array contiguous
 * @param[in] kind replicated or sharded
 * @param[in] dtype to take the array for if it can carry that (bytes of bool, bits of 16-bit floats), or 0
 * @param[out] entry the entry
 */
syncyte_status_t fortran_entry_fill(const char* key, const CFI_cdesc_t* array, syncyte_entry_kind_t kind,
                                    syncyte_dtype_t dtype, syncyte_checkpoint_entry_t* entry);

/**
 * @brief Fills an entry with this rank's rows of a tensor.
 * @param[in] key {string} name of the tensor
 * @param[in] tensor a tensor
 * @param[out] entry the entry
 */
syncyte_status_t fortran_entry_fill_tensor(const char* key, syncyte_tensor_t tensor, syncyte_checkpoint_entry_t* entry);

/**
 * @brief Frees an entry's key and buffer.
 * @param[in,out] entry the entry
 */
syncyte_status_t fortran_entry_clear(syncyte_checkpoint_entry_t* entry);

/**
 * @brief Reads rows of a key.
 * @param[in] checkpoint an open checkpoint
 * @param[in] key {string} the key
 * @param[in] first_row an integer, from 1
 * @param[in,out] array of as many rows as are to be read
 */
syncyte_status_t fortran_checkpoint_read(syncyte_checkpoint_t checkpoint, const char* key, const CFI_cdesc_t* first_row,
                                         CFI_cdesc_t* array);
