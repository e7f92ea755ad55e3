/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated from syncyte/bundle.h by bindings/generate; do not edit. */
/* clang-format off */
/**
 * @file generated/bundle.h
 * @brief Started forms of functions of syncyte/bundle.h, which includes this file.
 */
#ifndef SYNCYTE_GENERATED_BUNDLE_H
#define SYNCYTE_GENERATED_BUNDLE_H

#include "syncyte/bundle.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Starts syncyte_bundle_exchange(), as the head of syncyte/bundle.h says.
 * @param[in] bundle a bundle; its arrays may not be read in their ghosts nor written until the end; it may be destroyed
 * before the request has ended
 * @param[in] depth ghosts at each end of an axis, at most those of the widest field; 0: all. A field with fewer ghosts
 * has all of them filled
 * @param[in] only_length length of only: the number of fields; ignored if only is null
 * @param[in] only 1 for each field that takes part, otherwise 0, in the order in which the fields were added; null:
 * all; may be re-used on return
 * @param[out] request ends when the operation is complete, with its status
 * @return as bundle_exchange, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_iexchange(syncyte_bundle_t bundle, int64_t depth, int64_t only_length,
    const int32_t* only, syncyte_request_t* request);

/**
 * @brief Starts syncyte_bundle_accumulate(), as the head of syncyte/bundle.h says.
 * @param[in] bundle a bundle; its arrays may be neither read nor written until the end; it may be destroyed before the
 * request has ended
 * @param[in] depth as of syncyte_bundle_exchange()
 * @param[in] only_length length of only: the number of fields; ignored if only is null
 * @param[in] only as of syncyte_bundle_exchange(); may be null; may be re-used on return
 * @param[out] request ends when the operation is complete, with its status
 * @return as bundle_accumulate, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_iaccumulate(syncyte_bundle_t bundle, int64_t depth, int64_t only_length,
    const int32_t* only, syncyte_request_t* request);

/**
 * @brief Starts syncyte_bundle_sum(), as the head of syncyte/bundle.h says.
 * @param[in] bundle a bundle; its arrays may be neither read nor written until the end; it may be destroyed before the
 * request has ended
 * @param[in] only_length length of only: the number of fields; ignored if only is null
 * @param[in] only as of syncyte_bundle_exchange(); may be null; may be re-used on return
 * @param[out] request ends when the operation is complete, with its status
 * @return as bundle_sum, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_isum(syncyte_bundle_t bundle, int64_t only_length, const int32_t* only,
    syncyte_request_t* request);

#ifdef __cplusplus
}
#endif

#endif
