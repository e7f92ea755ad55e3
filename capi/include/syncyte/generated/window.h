/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated from syncyte/window.h by bindings/generate; do not edit. */
/* clang-format off */
/**
 * @file generated/window.h
 * @brief Started forms of functions of syncyte/window.h, which includes this file.
 */
#ifndef SYNCYTE_GENERATED_WINDOW_H
#define SYNCYTE_GENERATED_WINDOW_H

#include "syncyte/window.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Starts syncyte_window_put(), as the head of syncyte/window.h says.
 * @param[in] window a window; it may be destroyed before the request has ended
 * @param[in] rank target
 * @param[in] offset bytes from the start of its part
 * @param[in] source contiguous; must stay unchanged until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as window_put, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_iput(syncyte_window_t window, int32_t rank, int64_t offset,
    const syncyte_buffer_t* source, syncyte_request_t* request);

/**
 * @brief Starts syncyte_window_get(), as the head of syncyte/window.h says.
 * @param[in] window a window; it may be destroyed before the request has ended
 * @param[in] rank target
 * @param[in] offset bytes from the start of its part
 * @param[out] target contiguous; may not be read until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as window_get, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_iget(syncyte_window_t window, int32_t rank, int64_t offset,
    const syncyte_buffer_t* target, syncyte_request_t* request);

/**
 * @brief Starts syncyte_window_accumulate(), as the head of syncyte/window.h says.
 * @param[in] window a window; it may be destroyed before the request has ended
 * @param[in] rank target
 * @param[in] offset bytes from the start of its part; a multiple of the element's size
 * @param[in] source contiguous; must stay unchanged until the request has ended
 * @param[in] op SYNCYTE_OP_SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR or REPLACE
 * @param[out] request ends when the operation is complete, with its status
 * @return as window_accumulate, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_iaccumulate(syncyte_window_t window, int32_t rank, int64_t offset,
    const syncyte_buffer_t* source, syncyte_op_t op, syncyte_request_t* request);

/**
 * @brief Starts syncyte_window_fetch_op(), as the head of syncyte/window.h says.
 * @param[in] window a window; it may be destroyed before the request has ended
 * @param[in] rank target
 * @param[in] offset bytes from the start of its part; a multiple of the element's size
 * @param[in] dtype element type
 * @param[in] operand one element; may be re-used on return
 * @param[in] op as in accumulate
 * @param[out] previous the old element; may not be read until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as window_fetch_op, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_ifetch_op(syncyte_window_t window, int32_t rank, int64_t offset,
    syncyte_dtype_t dtype, const void* operand, syncyte_op_t op, void* previous, syncyte_request_t* request);

/**
 * @brief Starts syncyte_window_compare_swap(), as the head of syncyte/window.h says.
 * @param[in] window a window; it may be destroyed before the request has ended
 * @param[in] rank target
 * @param[in] offset bytes from the start of its part; a multiple of the element's size
 * @param[in] dtype an integer type or bool
 * @param[in] expected one element; may be re-used on return
 * @param[in] desired one element; may be re-used on return
 * @param[out] previous the old element; equal to expected if desired was written; may not be read until the request has
 * ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as window_compare_swap, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_icompare_swap(syncyte_window_t window, int32_t rank, int64_t offset,
    syncyte_dtype_t dtype, const void* expected, const void* desired, void* previous, syncyte_request_t* request);

#ifdef __cplusplus
}
#endif

#endif
