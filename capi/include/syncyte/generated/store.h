/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated from syncyte/store.h by bindings/generate; do not edit. */
/* clang-format off */
/**
 * @file generated/store.h
 * @brief Started forms of functions of syncyte/store.h, which includes this file.
 */
#ifndef SYNCYTE_GENERATED_STORE_H
#define SYNCYTE_GENERATED_STORE_H

#include "syncyte/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Starts syncyte_store_worker_pull(), as the head of syncyte/store.h says.
 * @param[in] worker a worker; it may be destroyed before the request has ended
 * @param[in] keys int64, contiguous, any number of dimensions; may be re-used on return
 * @param[out] values float32, contiguous, as many as the keys have; may not be read until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as store_worker_pull, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_ipull(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
    const syncyte_buffer_t* values, syncyte_request_t* request);

/**
 * @brief Starts syncyte_store_worker_push(), as the head of syncyte/store.h says.
 * @param[in] worker a worker; it may be destroyed before the request has ended
 * @param[in] keys int64, contiguous; may be re-used on return
 * @param[in] values float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as store_worker_push, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_ipush(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
    const syncyte_buffer_t* values, syncyte_request_t* request);

/**
 * @brief Starts syncyte_store_worker_set(), as the head of syncyte/store.h says.
 * @param[in] worker a worker; it may be destroyed before the request has ended
 * @param[in] keys int64, contiguous; may be re-used on return
 * @param[in] values float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as store_worker_set, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_iset(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
    const syncyte_buffer_t* values, syncyte_request_t* request);

/**
 * @brief Starts syncyte_store_worker_pull_unique(), as the head of syncyte/store.h says.
 * @param[in] worker a worker; it may be destroyed before the request has ended
 * @param[in] keys int64, contiguous, any number of dimensions; may be re-used on return
 * @param[out] distinct int64, contiguous, room for as many keys as the list has; complete on return
 * @param[out] inverse int64, contiguous, as many elements as the list has keys; complete on return
 * @param[out] values float32, contiguous, room for as many as the list's keys have; concatenated in the order of the
 * distinct keys; may not be read until the request has ended
 * @param[out] count number of distinct keys; complete on return
 * @param[out] request ends when the operation is complete, with its status
 * @return as store_worker_pull_unique, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_ipull_unique(syncyte_store_worker_t worker,
    const syncyte_buffer_t* keys, const syncyte_buffer_t* distinct, const syncyte_buffer_t* inverse,
    const syncyte_buffer_t* values, int64_t* count, syncyte_request_t* request);

/**
 * @brief Starts syncyte_store_worker_push_unique(), as the head of syncyte/store.h says.
 * @param[in] worker a worker; it may be destroyed before the request has ended
 * @param[in] keys int64, contiguous; may be re-used on return
 * @param[in] values float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as store_worker_push_unique, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_ipush_unique(syncyte_store_worker_t worker,
    const syncyte_buffer_t* keys, const syncyte_buffer_t* values, syncyte_request_t* request);

/**
 * @brief Starts syncyte_store_worker_localize(), as the head of syncyte/store.h says.
 * @param[in] worker a worker; it may be destroyed before the request has ended
 * @param[in] keys int64, contiguous; may be re-used on return
 * @param[out] request ends when the operation is complete, with its status
 * @return as store_worker_localize, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_ilocalize(syncyte_store_worker_t worker,
    const syncyte_buffer_t* keys, syncyte_request_t* request);

/**
 * @brief Starts syncyte_store_worker_pull_sample(), as the head of syncyte/store.h says.
 * @param[in] worker the worker that has prepared it; it may be destroyed before the request has ended
 * @param[in] sample its number
 * @param[out] keys int64, contiguous, at most as many as the sample has left; complete on return
 * @param[out] values float32, contiguous, as many as the keys have; may not be read until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as store_worker_pull_sample, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_ipull_sample(syncyte_store_worker_t worker, int64_t sample,
    const syncyte_buffer_t* keys, const syncyte_buffer_t* values, syncyte_request_t* request);

#ifdef __cplusplus
}
#endif

#endif
