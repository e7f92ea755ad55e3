/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated from syncyte/halo.h by bindings/generate; do not edit. */
/* clang-format off */
/**
 * @file generated/halo.h
 * @brief Started forms of functions of syncyte/halo.h, which includes this file.
 */
#ifndef SYNCYTE_GENERATED_HALO_H
#define SYNCYTE_GENERATED_HALO_H

#include "syncyte/halo.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Starts syncyte_halo_exchange(), as the head of syncyte/halo.h says.
 * @param[in] halo a halo; it may be destroyed before the request has ended
 * @param[in,out] array array of the halo's dtype and shape; any strides, but 0 only if the extent is 1; must stay and
 * may not be read in its ghosts nor written in cells that ghosts copy until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as halo_exchange, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_halo_iexchange(syncyte_halo_t halo, const syncyte_buffer_t* array,
    syncyte_request_t* request);

/**
 * @brief Starts syncyte_halo_accumulate(), as the head of syncyte/halo.h says.
 * @param[in] halo a halo; it may be destroyed before the request has ended
 * @param[in,out] array array of the halo's dtype and shape; any strides, but 0 only if the extent is 1; may be neither
 * read nor written until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as halo_accumulate, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_halo_iaccumulate(syncyte_halo_t halo, const syncyte_buffer_t* array,
    syncyte_request_t* request);

#ifdef __cplusplus
}
#endif

#endif
