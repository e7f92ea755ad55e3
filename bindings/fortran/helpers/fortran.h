/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file fortran.h
 * @brief C functions for the Fortran methods, besides Syncyte's C interface: arrays and integers behind Fortran's
 * descriptors.
 *
 * A CFI_cdesc_t is an array or scalar of any type and rank; dimensions are reversed on the way, so that Fortran's last
 * one is C's first. A function that fails sets the thread's last error, in Fortran's terms. `name` is the dummy
 * argument's, for the message.
 */
#pragma once

#include <ISO_Fortran_binding.h>

#include "syncyte.h"

/** Ranks that get the error if an argument is wrong on one rank. */
typedef int32_t fortran_scope_t;
enum fortran_scope_values {
  FORTRAN_ERROR_HERE = 0,              /**< this rank */
  FORTRAN_ERROR_EVERYWHERE = 1,        /**< all ranks, if the communicator checks (SYNCYTE_CHECK) */
  FORTRAN_ERROR_EVERYWHERE_ALWAYS = 2, /**< all ranks, with SYNCYTE_CHECK=off too */
  FORTRAN_ERROR_IN_REQUEST = 3,        /**< all ranks, at the end of the started operation */
  FORTRAN_ERROR_AT_NEIGHBOURS = 4      /**< this rank and its neighbours */
};

/**
 * @brief Takes part in an operation whose arguments are wrong on this rank; the thread's last error is the reason.
 * @param[in] scope the ranks that get the error
 * @param[in] comm the operation's communicator, or its halo; null for an error on this rank alone
 * @param[in] status of the error
 * @param[in] operation {string} the C function's name without "syncyte_"
 * @return the status for the caller
 */
syncyte_status_t fortran_refuse(fortran_scope_t scope, void* comm, syncyte_status_t status, const char* operation);

/**
 * @brief The thread's last error in Fortran's terms, for example "rank 2: comm_gather (world): root
 * is 3; expected 0 to 2".
 * @return a text that is valid until this thread's next call
 */
const char* fortran_last_error(void);

/**
 * @brief Prints the thread's last error and a backtrace, and ends the job on all ranks.
 * @param[in] status of the error
 * @return never
 */
syncyte_status_t fortran_end_job(syncyte_status_t status);

/**
 * @brief Describes an array.
 * @param[in] array any array
 * @param[in] name {string} of the dummy argument
 * @param[out] buffer the description
 */
syncyte_status_t fortran_buffer(const CFI_cdesc_t* array, const char* name, syncyte_buffer_t* buffer);

/**
 * @brief Describes an array that may carry elements of another type.
 * @param[in] array any array
 * @param[in] name {string} of the dummy argument
 * @param[in] stored element type to take it for if the array's can carry that, or 0
 * @param[out] buffer the description
 */
syncyte_status_t fortran_buffer_as(const CFI_cdesc_t* array, const char* name, syncyte_dtype_t stored,
                                   syncyte_buffer_t* buffer);

/**
 * @brief Describes an array, or a contiguous copy of a section, which fortran_release() frees.
 * @param[in] array any array
 * @param[in] name {string} of the dummy argument
 * @param[out] buffer the description
 */
syncyte_status_t fortran_dense_buffer(const CFI_cdesc_t* array, const char* name, syncyte_buffer_t* buffer);

/**
 * @brief Frees the copy that fortran_dense_buffer() or fortran_integers_buffer() has made.
 * @param[in] array the array
 * @param[in] is_written 1: the copy's elements go back first
 * @param[in,out] buffer its description
 */
syncyte_status_t fortran_release(const CFI_cdesc_t* array, int32_t is_written, syncyte_buffer_t* buffer);

/**
 * @brief Checks that two scalars have one type.
 * @param[in] array a scalar
 * @param[in] like another one
 * @param[in] name {string} of the first
 */
syncyte_status_t fortran_alike(const CFI_cdesc_t* array, const CFI_cdesc_t* like, const char* name);

/**
 * @brief Reads a scalar integer of any kind.
 * @param[in] scalar an integer
 * @param[in] name {string} of the dummy argument
 * @param[out] value its value
 */
syncyte_status_t fortran_integer(const CFI_cdesc_t* scalar, const char* name, int64_t* value);

/**
 * @brief Writes a scalar integer of any kind.
 * @param[in,out] scalar {optional} an integer; absent is fine
 * @param[in] name {string} of the dummy argument
 * @param[in] value the value
 */
syncyte_status_t fortran_set_integer(const CFI_cdesc_t* scalar, const char* name, int64_t value);

/**
 * @brief Number of elements of an array.
 * @param[in] array any array
 * @return 0 for one of assumed size, or with too many elements.
 */
int64_t fortran_count(const CFI_cdesc_t* array);

/**
 * @brief Reads integers of any kind, rank and strides in array element order.
 * @param[in] array integers
 * @param[in] name {string} of the dummy argument
 * @param[in] is_reversed 1: in reverse order
 * @param[out] values {array(elements of array)} the numbers
 */
syncyte_status_t fortran_integers(const CFI_cdesc_t* array, const char* name, int32_t is_reversed, int64_t* values);

/**
 * @brief Reads a number of integers that is known; fortran_integers() reads any.
 * @param[in] array integers
 * @param[in] name {string} of the dummy argument
 * @param[in] count expected number
 * @param[out] values {array(count)} the numbers
 */
syncyte_status_t fortran_some_integers(const CFI_cdesc_t* array, const char* name, int64_t count, int64_t* values);

/**
 * @brief Describes integers as a contiguous array of int64: the array itself, or a copy that fortran_release() frees.
 * @param[in] array integers of any kind, rank and strides
 * @param[in] name {string} of the dummy argument
 * @param[out] buffer the description
 */
syncyte_status_t fortran_integers_buffer(const CFI_cdesc_t* array, const char* name, syncyte_buffer_t* buffer);

/**
 * @brief Writes integers of any kind, rank and strides, as fortran_integers() reads them.
 * @param[in,out] array integers
 * @param[in] name {string} of the dummy argument
 * @param[in] values {array(elements of array)} the numbers
 */
syncyte_status_t fortran_set_integers(const CFI_cdesc_t* array, const char* name, const int64_t* values);

/**
 * @brief MPI's handle of a communicator: an integer, or a type(MPI_Comm), which holds one by the MPI standard.
 * @param[in] handle an integer or a type(MPI_Comm)
 * @param[in] name {string} of the dummy argument
 * @param[out] value the handle
 */
syncyte_status_t fortran_handle(const CFI_cdesc_t* handle, const char* name, int32_t* value);

/**
 * @brief The axis of a dimension, counted from the end.
 * @param[in] dim from 1 to the array's rank
 * @param[in] array array that has the dimension
 * @param[in] name {string} of the dummy argument
 * @param[in] array_name {string} of the array
 * @param[out] axis -dim
 */
syncyte_status_t fortran_axis(int32_t dim, const syncyte_buffer_t* array, const char* name, const char* array_name,
                              int32_t* axis);

/**
 * @brief Row numbers of a tensor, from 0, read from numbers from 1.
 * @param[in] index integer(4) or integer(8)
 * @param[in] rows the tensor has
 * @param[out] buffer the numbers; syncyte_memory_free() frees its data
 */
syncyte_status_t fortran_rows(const CFI_cdesc_t* index, int64_t rows, syncyte_buffer_t* buffer);

/**
 * @brief Home ranks of a store's keys.
 * @param[in] store a store
 * @param[in] keys integers of any kind, from 0
 * @param[in,out] ranks integer(4), contiguous, as many elements
 */
syncyte_status_t fortran_store_owner(syncyte_store_t store, const CFI_cdesc_t* keys, CFI_cdesc_t* ranks);

/**
 * @brief Which of a store's keys are at this node.
 * @param[in] store a store
 * @param[in] keys integers of any kind, from 0
 * @param[in,out] flags integer(4), contiguous, as many elements
 */
syncyte_status_t fortran_store_is_local(syncyte_store_t store, const CFI_cdesc_t* keys, CFI_cdesc_t* flags);

/**
 * @brief Ranks at whose node the values of a store's keys are.
 * @param[in] store a store
 * @param[in] keys integers of any kind, from 0
 * @param[in,out] ranks integer(4), contiguous, as many elements
 */
syncyte_status_t fortran_store_locate(syncyte_store_t store, const CFI_cdesc_t* keys, CFI_cdesc_t* ranks);

/**
 * @brief Gives keys that were lost with a node their homes' last values.
 * @param[in] store a store
 * @param[in] keys integers of any kind, from 0
 * @param[in,out] flags integer(4), contiguous, as many elements
 */
syncyte_status_t fortran_store_adopt_last(syncyte_store_t store, const CFI_cdesc_t* keys, CFI_cdesc_t* flags);

/**
 * @brief Numbers of values of a store's keys.
 * @param[in] store a store
 * @param[in] keys integers of any kind, from 0
 * @param[in,out] lengths integer(8), contiguous, as many elements
 */
syncyte_status_t fortran_store_lengths(syncyte_store_t store, const CFI_cdesc_t* keys, CFI_cdesc_t* lengths);

/**
 * @brief Owners of rows of a tensor.
 * @param[in] tensor a tensor
 * @param[in] index integer(4) or integer(8), from 1
 * @param[in,out] ranks integer(4), contiguous, as many elements
 */
syncyte_status_t fortran_tensor_owner(syncyte_tensor_t tensor, const CFI_cdesc_t* index, CFI_cdesc_t* ranks);

/**
 * @brief Reads a patch of a tensor, the elements lo to hi.
 * @param[in] tensor a tensor
 * @param[in] lo any integers from 1, as many as dimensions
 * @param[in] hi any integers, as many as dimensions
 * @param[in,out] array any strides; its extents are those of lo to hi; it may lack dimensions of extent 1
 */
syncyte_status_t fortran_tensor_get(syncyte_tensor_t tensor, const CFI_cdesc_t* lo, const CFI_cdesc_t* hi,
                                    CFI_cdesc_t* array);

/**
 * @brief Writes a patch of a tensor, as fortran_tensor_get() reads it.
 * @param[in] tensor a tensor
 * @param[in] lo any integers from 1, as many as dimensions
 * @param[in] hi any integers, as many as dimensions
 * @param[in] array as of fortran_tensor_get()
 */
syncyte_status_t fortran_tensor_put(syncyte_tensor_t tensor, const CFI_cdesc_t* lo, const CFI_cdesc_t* hi,
                                    const CFI_cdesc_t* array);

/**
 * @brief Combines a patch of a tensor with alpha * array, by syncyte_tensor_accumulate_box().
 * @param[in] tensor a tensor
 * @param[in] lo any integers from 1, as many as dimensions
 * @param[in] hi any integers, as many as dimensions
 * @param[in] array as of fortran_tensor_get()
 * @param[in] alpha {optional} one element of the tensor's type
 * @param[in] op how the elements are combined
 */
syncyte_status_t fortran_tensor_acc(syncyte_tensor_t tensor, const CFI_cdesc_t* lo, const CFI_cdesc_t* hi,
                                    const CFI_cdesc_t* array, const CFI_cdesc_t* alpha, syncyte_op_t op);

/**
 * @brief Starts fortran_tensor_acc(), by syncyte_tensor_iaccumulate_box().
 * @param[in] tensor a tensor
 * @param[in] lo any integers from 1, as many as dimensions
 * @param[in] hi any integers, as many as dimensions
 * @param[in] array as of fortran_tensor_get(); it may be re-used on return
 * @param[in] alpha {optional} one element of the tensor's type
 * @param[in] op how the elements are combined
 * @param[out] request ends when the elements are combined; needs no MPI
 */
syncyte_status_t fortran_tensor_iacc(syncyte_tensor_t tensor, const CFI_cdesc_t* lo, const CFI_cdesc_t* hi,
                                     const CFI_cdesc_t* array, const CFI_cdesc_t* alpha, syncyte_op_t op,
                                     syncyte_request_t* request);

/**
 * @brief Owners of a patch of a tensor. Elements of longer outputs behind the owners become -1 (ranks) or 0.
 * @param[in] tensor a tensor
 * @param[in] lo any integers from 1, as many as dimensions
 * @param[in] hi any integers, as many as dimensions
 * @param[in,out] ranks {optional} any integers, at most as many as the communicator's ranks: owners
 * @param[in,out] first {optional} likewise: each owner's first row in the patch
 * @param[in,out] last {optional} likewise: its last row
 * @param[out] count number of owners
 */
syncyte_status_t fortran_tensor_locate(syncyte_tensor_t tensor, const CFI_cdesc_t* lo, const CFI_cdesc_t* hi,
                                       CFI_cdesc_t* ranks, CFI_cdesc_t* first, CFI_cdesc_t* last, int64_t* count);

/**
 * @brief Number from 0 of an element of a tensor.
 * @param[in] tensor a tensor
 * @param[in] element number from 1 in array element order, or subscripts
 * @param[out] number in C's order
 */
syncyte_status_t fortran_element(syncyte_tensor_t tensor, const CFI_cdesc_t* element, int64_t* number);

/**
 * @brief Waits for a row's lock.
 * @param[in] tensor a tensor
 * @param[in] row number of the row, from 1
 */
syncyte_status_t fortran_tensor_lock(syncyte_tensor_t tensor, int64_t row);

/**
 * @brief Releases a row's lock.
 * @param[in] tensor a tensor
 * @param[in] row number of the row, from 1
 */
syncyte_status_t fortran_tensor_unlock(syncyte_tensor_t tensor, int64_t row);

/**
 * @brief Fits an array to a box of a tensor: dimensions that the array lacks have extent 1.
 * @param[in] global the tensor's shape
 * @param[in,out] buffer the array
 * @param[in] length of first
 * @param[in,out] first {array(length)} the box's first element in C's order; from 1, then from 0
 */
syncyte_status_t fortran_box(const syncyte_buffer_t* global, syncyte_buffer_t* buffer, int64_t length, int64_t* first);

/**
 * @brief The place of an element in a window, in bytes.
 * @param[in] first number of the element, from 1
 * @param[in] array whose type the element has
 * @param[out] offset from the start of the part
 */
syncyte_status_t fortran_place(const CFI_cdesc_t* first, const syncyte_buffer_t* array, int64_t* offset);

/**
 * @brief Makes a halo.
 * @param[in] cart a Cartesian communicator
 * @param[in] array one of the halo's arrays
 * @param[in] low integers
 * @param[in] high {optional} integers; absent: as low
 * @param[in] axes {optional} integers
 * @param[in] corners 0 or 1
 * @param[out] halo the halo
 */
syncyte_status_t fortran_halo_create(syncyte_comm_t cart, const CFI_cdesc_t* array, const CFI_cdesc_t* low,
                                     const CFI_cdesc_t* high, const CFI_cdesc_t* axes, int32_t corners,
                                     syncyte_halo_t* halo);

/**
 * @brief Moves rows of up to 8 arrays, in place, to other ranks.
 * @param[in] comm a communicator
 * @param[in] destinations integers: the rank that each row goes to
 * @param[in,out] rows integer: number of rows of this rank then
 * @param[in,out] array any array, with at least as many rows as destinations
 * @param[in,out] array2 {optional} likewise
 * @param[in,out] array3 {optional} likewise
 * @param[in,out] array4 {optional} likewise
 * @param[in,out] array5 {optional} likewise
 * @param[in,out] array6 {optional} likewise
 * @param[in,out] array7 {optional} likewise
 * @param[in,out] array8 {optional} likewise
 */
syncyte_status_t fortran_relocate_rows(syncyte_comm_t comm, const CFI_cdesc_t* destinations, CFI_cdesc_t* rows,
                                       CFI_cdesc_t* array, CFI_cdesc_t* array2, CFI_cdesc_t* array3,
                                       CFI_cdesc_t* array4, CFI_cdesc_t* array5, CFI_cdesc_t* array6,
                                       CFI_cdesc_t* array7, CFI_cdesc_t* array8);

/**
 * @brief Makes a layout on a mesh of ranks. Integers of any kind; dimensions are those of Fortran's arrays.
 * @param[in] comm a communicator
 * @param[in] cells integers: cells along each dimension
 * @param[in] mesh {optional} integers: ranks along each dimension of the mesh; absent: all along one
 * @param[in] axes {optional} integers: dimension of the array that each dimension of the mesh cuts, 0: none; absent:
 * the last ones
 * @param[in] lengths {optional} integers: cells of each part, dimension by dimension
 * @param[in] ghosts {optional} integers: before the first point, one number or one for each dimension
 * @param[in] ghosts_high {optional} integers: behind the last point; absent: as ghosts
 * @param[in] shared {optional} integers: the dimensions along which arrays hold the borders of cells
 * @param[in] periodic {optional} integers: the dimensions that are periodic
 * @param[in] truth rule for points that two blocks store
 * @param[in] ceil 0 or 1, as in syncyte_layout_options_t
 * @param[in] block {optional} integer, as in syncyte_layout_options_t
 * @param[in] weighted 0 or 1, as in syncyte_layout_options_t
 * @param[out] layout the layout
 */
syncyte_status_t fortran_layout_mesh(syncyte_comm_t comm, const CFI_cdesc_t* cells, const CFI_cdesc_t* mesh,
                                     const CFI_cdesc_t* axes, const CFI_cdesc_t* lengths, const CFI_cdesc_t* ghosts,
                                     const CFI_cdesc_t* ghosts_high, const CFI_cdesc_t* shared,
                                     const CFI_cdesc_t* periodic, syncyte_truth_t truth, int32_t ceil,
                                     const CFI_cdesc_t* block, int32_t weighted, syncyte_layout_t* layout);

/**
 * @brief Makes a layout of blocks that the ranks have chosen.
 * @param[in] comm a communicator
 * @param[in] whole integers: cells along each dimension
 * @param[in] first {optional} integers: the first cell of each block, from 1: block by block; absent: no block
 * @param[in] count {optional} integers: cells of each block, as many as first
 * @param[in] ghosts {optional} as of fortran_layout_mesh()
 * @param[in] ghosts_high {optional} as of fortran_layout_mesh()
 * @param[in] shared {optional} as of fortran_layout_mesh()
 * @param[in] periodic {optional} as of fortran_layout_mesh()
 * @param[in] truth rule for points that two blocks store
 * @param[out] layout the layout
 */
syncyte_status_t fortran_layout_blocks(syncyte_comm_t comm, const CFI_cdesc_t* whole, const CFI_cdesc_t* first,
                                       const CFI_cdesc_t* count, const CFI_cdesc_t* ghosts,
                                       const CFI_cdesc_t* ghosts_high, const CFI_cdesc_t* shared,
                                       const CFI_cdesc_t* periodic, syncyte_truth_t truth, syncyte_layout_t* layout);

/**
 * @brief Makes a layout of the points that the ranks have listed.
 * @param[in] comm a communicator
 * @param[in] whole integers: extents of the whole array
 * @param[in] points {optional} integers: the points of this rank's array, from 1; absent: no array
 * @param[in] ghosts {optional} integer: number of the last ones, which are ghosts
 * @param[in] truth which copy of a point is right
 * @param[out] layout the layout
 */
syncyte_status_t fortran_layout_indices(syncyte_comm_t comm, const CFI_cdesc_t* whole, const CFI_cdesc_t* points,
                                        const CFI_cdesc_t* ghosts, syncyte_truth_t truth, syncyte_layout_t* layout);

/**
 * @brief Makes a layout of the same blocks for arrays of other points.
 * @param[in] grid a layout
 * @param[in] ghosts {optional} as of fortran_layout_mesh()
 * @param[in] ghosts_high {optional} as of fortran_layout_mesh()
 * @param[in] shared {optional} as of fortran_layout_mesh()
 * @param[in] periodic {optional} as of fortran_layout_mesh()
 * @param[in] truth rule for points that two blocks store
 * @param[out] layout the new layout
 */
syncyte_status_t fortran_layout_like(syncyte_layout_t grid, const CFI_cdesc_t* ghosts, const CFI_cdesc_t* ghosts_high,
                                     const CFI_cdesc_t* shared, const CFI_cdesc_t* periodic, syncyte_truth_t truth,
                                     syncyte_layout_t* layout);

/**
 * @brief Finds who has a point.
 * @param[in] layout a layout
 * @param[in] point integers: the point, from 1
 * @param[out] rank the owner
 * @param[out] index {array(8)} place in the block's array, from 0, in Fortran's order of dimensions
 * @param[out] block number of the block among the owner's, from 0
 */
syncyte_status_t fortran_layout_pieces(syncyte_layout_t layout, const CFI_cdesc_t* point, int32_t* rank, int64_t* index,
                                       int32_t* block);

/**
 * @brief Names the dimensions of a layout.
 * @param[in] layout a layout
 * @param[in] names {string} a name for each dimension, with commas between, in Fortran's order
 * @param[in] units {string, optional} likewise
 */
syncyte_status_t fortran_layout_name_axes(syncyte_layout_t layout, const char* names, const char* units);

/**
 * @brief Moves an array from one layout to another.
 * @param[in] layout the array's layout
 * @param[in] array {optional} this rank's array; absent on a rank without a block
 * @param[in] to the layout to move to
 * @param[in,out] target {optional} this rank's array there
 * @param[in] dtype element type, or 0: that of the arrays
 * @param[in] buffer_bytes {optional} integer: most memory for messages; absent: the default
 * @param[in] first {optional} integers: first point of one array in the other one, of which it is a box; from 1
 */
syncyte_status_t fortran_layout_relocate(syncyte_layout_t layout, const CFI_cdesc_t* array, syncyte_layout_t to,
                                         CFI_cdesc_t* target, syncyte_dtype_t dtype, const CFI_cdesc_t* buffer_bytes,
                                         const CFI_cdesc_t* first);

/**
 * @brief Does the adjoint of fortran_layout_relocate().
 * @param[in] layout the array's layout
 * @param[in] target {optional} this rank's array in `to`; absent on a rank without a block
 * @param[in] to the target's layout
 * @param[in,out] array {optional} this rank's array
 * @param[in] dtype element type, or 0: that of the arrays
 * @param[in] buffer_bytes {optional} integer: most memory for messages; absent: the default
 * @param[in] first {optional} integers: first point of one array in the other one, of which it is a box; from 1
 */
syncyte_status_t fortran_layout_relocate_adjoint(syncyte_layout_t layout, const CFI_cdesc_t* target,
                                                 syncyte_layout_t to, CFI_cdesc_t* array, syncyte_dtype_t dtype,
                                                 const CFI_cdesc_t* buffer_bytes, const CFI_cdesc_t* first);

/**
 * @brief Adds a field to a bundle.
 * @param[in] bundle a bundle
 * @param[in] name {string} of the field
 * @param[in,out] array {optional} this rank's array; absent on a rank without a block
 * @param[in] layout the field's
 * @param[in] dtype element type, or 0: that of the array
 */
syncyte_status_t fortran_bundle_add(syncyte_bundle_t bundle, const char* name, CFI_cdesc_t* array,
                                    syncyte_layout_t layout, syncyte_dtype_t dtype);

/**
 * @brief Gives a field of a bundle another array.
 * @param[in] bundle a bundle
 * @param[in] name {string} of the field
 * @param[in,out] array {optional} this rank's array; absent on a rank without a block
 */
syncyte_status_t fortran_bundle_set_array(syncyte_bundle_t bundle, const char* name, CFI_cdesc_t* array);

/**
 * @brief Publishes this rank's part of the next version, by syncyte_tensor_publish().
 * @param[in] tensor a tensor with slots
 * @param[in] array {optional} this rank's array, with its ghosts; absent on a rank without a block
 * @param[in] step the caller's number of the version
 */
syncyte_status_t fortran_tensor_publish(syncyte_tensor_t tensor, const CFI_cdesc_t* array, int64_t step);

/**
 * @brief Reads a box of the newest version, by syncyte_tensor_take().
 * @param[in] tensor a tensor with slots
 * @param[in] lower any integers from 1, as many as the field's dimensions
 * @param[in,out] array any strides; dimensions that it lacks have extent 1
 * @param[in] at_least lowest step that is taken
 * @param[in] timeout seconds; less than 0: no limit
 * @param[out] step the step of the version
 */
syncyte_status_t fortran_tensor_take(syncyte_tensor_t tensor, const CFI_cdesc_t* lower, CFI_cdesc_t* array,
                                     int64_t at_least, double timeout, int64_t* step);

/**
 * @brief This process's rank in a tensor's communicator.
 * @param[in] tensor a tensor
 * @param[out] rank its rank
 */
syncyte_status_t fortran_own_rank(syncyte_tensor_t tensor, int32_t* rank);

/**
 * @brief Points to this rank's rows of a tensor.
 * @param[in] tensor a tensor
 * @param[in,out] pointer {pointer} of the tensor's rank and type
 */
syncyte_status_t fortran_tensor_local(syncyte_tensor_t tensor, CFI_cdesc_t* pointer);

/**
 * @brief Points to the rows of a node's ranks.
 * @param[in] tensor a tensor
 * @param[in,out] pointer {pointer} of the tensor's rank and type
 * @param[out] first_row from 1, or 0 if the node's ranks are not consecutive
 */
syncyte_status_t fortran_tensor_node(syncyte_tensor_t tensor, CFI_cdesc_t* pointer, int64_t* first_row);

/**
 * @brief Points to memory of a shared cache.
 * @param[in] cache a cache
 * @param[in] first from 1, in elements of the pointer's type from the start of the cache
 * @param[in] shape {optional} integers; absent: all up to the end
 * @param[in,out] pointer {pointer} as many dimensions as shape has elements
 */
syncyte_status_t fortran_cache_pointer(syncyte_cache_t cache, int64_t first, const CFI_cdesc_t* shape,
                                       CFI_cdesc_t* pointer);

/**
 * @brief Points to a new block of a shared cache, or to nothing if the calling thread has inserted no slice.
 * @param[in] shape integers
 * @param[in,out] pointer {pointer} as many dimensions as shape has elements
 */
syncyte_status_t fortran_cache_allocate(const CFI_cdesc_t* shape, CFI_cdesc_t* pointer);

/**
 * @brief Frees a block of a shared cache.
 * @param[in,out] pointer {pointer} of fortran_cache_allocate(), or null; then null
 */
syncyte_status_t fortran_cache_free(CFI_cdesc_t* pointer);

/**
 * @brief Whether an array begins in a slice of a shared cache.
 * @param[in] array any array
 * @param[out] holds 1 or 0
 */
syncyte_status_t fortran_cache_holds(const CFI_cdesc_t* array, int32_t* holds);

/**
 * @brief Points to a tensor of a bound model, and waits for it.
 * @param[in] model a model
 * @param[in] name {string} of the tensor
 * @param[in,out] pointer {pointer} of the tensor's rank and type
 */
syncyte_status_t fortran_model_find(syncyte_model_t model, const char* name, CFI_cdesc_t* pointer);

/**
 * @brief Points to a rank's part of a window.
 * @param[in] window a window
 * @param[in] rank rank that contributed the part
 * @param[in] shape {optional} integers; absent: all of the part
 * @param[in,out] pointer {pointer} as many dimensions as shape has elements
 */
syncyte_status_t fortran_window_pointer(syncyte_window_t window, int32_t rank, const CFI_cdesc_t* shape,
                                        CFI_cdesc_t* pointer);
