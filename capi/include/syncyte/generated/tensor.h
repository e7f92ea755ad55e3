/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated from syncyte/tensor.h by bindings/generate; do not edit. */
/* clang-format off */
/**
 * @file generated/tensor.h
 * @brief Started forms of functions of syncyte/tensor.h, which includes this file.
 */
#ifndef SYNCYTE_GENERATED_TENSOR_H
#define SYNCYTE_GENERATED_TENSOR_H

#include "syncyte/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Starts syncyte_tensor_gather(), as the head of syncyte/tensor.h says.
 * @param[in] tensor a tensor; it may be destroyed before the request has ended
 * @param[in] index int32 or int64, contiguous, any number of dimensions; may be re-used on return
 * @param[out] output contiguous, of the tensor's dtype, index's elements times a row's elements; may not be read until
 * the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as tensor_gather, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_igather(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
    const syncyte_buffer_t* output, syncyte_request_t* request);

/**
 * @brief Starts syncyte_tensor_scatter(), as the head of syncyte/tensor.h says.
 * @param[in] tensor a tensor; it may be destroyed before the request has ended
 * @param[in] index int32 or int64, contiguous; may be re-used on return
 * @param[in] source contiguous, of the tensor's dtype, index's elements times a row's elements; must stay unchanged
 * until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as tensor_scatter, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_iscatter(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
    const syncyte_buffer_t* source, syncyte_request_t* request);

/**
 * @brief Starts syncyte_tensor_scatter_add(), as the head of syncyte/tensor.h says.
 * @param[in] tensor a tensor; it may be destroyed before the request has ended
 * @param[in] index int32 or int64, contiguous; may be re-used on return
 * @param[in] source contiguous, of the tensor's dtype, index's elements times a row's elements; must stay unchanged
 * until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as tensor_scatter_add, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_iscatter_add(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
    const syncyte_buffer_t* source, syncyte_request_t* request);

/**
 * @brief Starts syncyte_tensor_put_signal(), as the head of syncyte/tensor.h says. The signal follows when all owners
 * have the rows, without further calls. If rows of other nodes go by the fabric and counters by MPI RMA, the start
 * waits for the rows. If an owner of rows dies, the element is not changed.
 * @param[in] tensor a tensor; it may be destroyed before the request has ended
 * @param[in] index int32 or int64, contiguous; may be empty; may be re-used on return
 * @param[in] source as of scatter; must stay unchanged until the request has ended
 * @param[in] counters a tensor of int32 or int64, of any communicator; it may be destroyed before the request has ended
 * @param[in] element number of its element in row-major order
 * @param[in] value number that is added or set
 * @param[in] op SYNCYTE_OP_SUM: adds value; SYNCYTE_OP_REPLACE: sets the element to value
 * @param[out] request ends when the operation is complete, with its status
 * @return as tensor_put_signal, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_iput_signal(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
    const syncyte_buffer_t* source, syncyte_tensor_t counters, int64_t element, int64_t value, syncyte_op_t op,
    syncyte_request_t* request);

/**
 * @brief Starts syncyte_tensor_apply_gradients(), as the head of syncyte/tensor.h says. Gradients of a row that repeats
 * are summed, and an Adam update gets its number, in the start; if another node has the number, the start waits for the
 * answer of that node's library. The learning rate is that of the start.
 * @param[in] tensor a tensor with an optimizer; it may be destroyed before the request has ended
 * @param[in] index int32 or int64, contiguous; may be re-used on return
 * @param[in] gradients contiguous, of the tensor's dtype, index's elements times a row's elements; must stay unchanged
 * until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as tensor_apply_gradients, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_iapply_gradients(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
    const syncyte_buffer_t* gradients, syncyte_request_t* request);

/**
 * @brief Starts syncyte_tensor_get_box(), as the head of syncyte/tensor.h says. Elements of other nodes' rows need
 * packed memory of their size until the end; the test or wait that finds the end copies them to output.
 * @param[in] tensor a tensor; it may be destroyed before the request has ended
 * @param[in] lower_length length of lower: the tensor's dimensions
 * @param[in] lower first element of the box; may be re-used on return
 * @param[out] output as many dimensions as the tensor, any strides, the tensor's dtype; may not be read until the
 * request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as tensor_get_box, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_iget_box(syncyte_tensor_t tensor, int64_t lower_length,
    const int64_t* lower, const syncyte_buffer_t* output, syncyte_request_t* request);

/**
 * @brief Starts syncyte_tensor_put_box(), as the head of syncyte/tensor.h says. Elements of other nodes' rows need
 * packed memory of their size until the end.
 * @param[in] tensor a tensor; it may be destroyed before the request has ended
 * @param[in] lower_length length of lower: the tensor's dimensions
 * @param[in] lower first element of the box; may be re-used on return
 * @param[in] source as many dimensions as the tensor, any strides, the tensor's dtype; may be re-used on return
 * @param[out] request ends when the operation is complete, with its status
 * @return as tensor_put_box, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_iput_box(syncyte_tensor_t tensor, int64_t lower_length,
    const int64_t* lower, const syncyte_buffer_t* source, syncyte_request_t* request);

/**
 * @brief Starts syncyte_tensor_accumulate_box(), as the head of syncyte/tensor.h says. Elements of other nodes' rows
 * need packed memory of their size until the end.
 * @param[in] tensor a tensor; it may be destroyed before the request has ended
 * @param[in] lower_length length of lower: the tensor's dimensions
 * @param[in] lower first element of the box; may be re-used on return
 * @param[in] source as many dimensions as the tensor, any strides, the tensor's dtype; may be re-used on return
 * @param[in] alpha one element of the tensor's dtype, by which source is multiplied first, in that type; null: 1; may
 * be re-used on return
 * @param[in] op SYNCYTE_OP_SUM; for other than complex numbers also PROD, MIN and MAX; for integers and bool also LAND,
 * LOR, LXOR, BAND, BOR and BXOR
 * @param[out] request ends when the operation is complete, with its status
 * @return as tensor_accumulate_box, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_iaccumulate_box(syncyte_tensor_t tensor, int64_t lower_length,
    const int64_t* lower, const syncyte_buffer_t* source, const void* alpha, syncyte_op_t op,
    syncyte_request_t* request);

/**
 * @brief Starts syncyte_tensor_fetch_add(), as the head of syncyte/tensor.h says. The test or wait that finds the end
 * stores the old value.
 * @param[in] tensor a tensor of int32 or int64; it may be destroyed before the request has ended
 * @param[in] element number of the element in row-major order
 * @param[in] operand number to add
 * @param[out] previous the old value; may be null; may not be read until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as tensor_fetch_add, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_ifetch_add(syncyte_tensor_t tensor, int64_t element, int64_t operand,
    int64_t* previous, syncyte_request_t* request);

/**
 * @brief Starts syncyte_tensor_compare_swap(), as the head of syncyte/tensor.h says. The test or wait that finds the
 * end stores the old value.
 * @param[in] tensor a tensor of int32 or int64; it may be destroyed before the request has ended
 * @param[in] element number of the element in row-major order
 * @param[in] expected value to compare with
 * @param[in] desired value to write if they are equal
 * @param[out] previous the old value; may be null; may not be read until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as tensor_compare_swap, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_icompare_swap(syncyte_tensor_t tensor, int64_t element, int64_t expected,
    int64_t desired, int64_t* previous, syncyte_request_t* request);

#ifdef __cplusplus
}
#endif

#endif
