/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file tensor.h
 * @brief Whole tensors: one N-dimensional array over the memory of all ranks, partitioned by rows (the first
 * dimension), or by a layout (layout.h).
 *
 * Any rank reads, writes and adds to any row without a call by its owner. On a node these are loads and stores, visible
 * to other ranks in the processor's memory order: all ranks see data written before tensor_sync() (collective) after
 * it; a rank that reads a counter by an acquire (tensor_load, tensor_wait, or an atomic) sees data written before the
 * release (tensor_store, tensor_fetch_add, tensor_compare_swap, tensor_put_signal) that wrote the counter. Between
 * nodes they are requests to a thread of the owner; without UCX they are MPI RMA (window.h says when the target must
 * enter MPI), and adds return SYNCYTE_ERR_UNSUPPORTED. All functions except create, wrap and sync are local and
 * thread-safe.
 *
 * The started form of an operation (tensor_igather for tensor_gather; see generated/tensor.h) does not wait for other
 * ranks. What it does to rows of this node is done on return, the rest without further calls. Its request needs no MPI:
 * any thread may test it or wait for it. Started operations in flight at one time are not ordered with each other;
 * tensor_flush() and tensor_sync() do not wait for them. Test and wait return SYNCYTE_ERR_PEER_DIED if an owner died or
 * is out of reach, or a row is damaged. Without the fabric (between nodes by MPI RMA) the whole operation happens in
 * the start.
 *
 * An array argument may be a view of the tensor's own rows (tensor_local, tensor_node, or memory that was wrapped). If
 * the call would read a byte that it writes at another place, the result would depend on the order of the copies: it
 * returns SYNCYTE_ERR_ARGUMENT, names the row, and changes nothing; pass a copy. A row may be copied to itself, rows
 * may be copied to other rows, and a row may be added to itself if the index has it once. Rows are compared only if the
 * array lies in memory of the tensor's mapped rows. Rows that another rank writes meanwhile are not seen: call sync
 * between its writes and this rank's reads.
 *
 * Several ranks may have parts of a row of a tensor that is cut by a layout. Gather and scatter read and write it part
 * by part, and boxes, counters and, on ranks of at most one block, tensor_local() are as of other tensors. What needs
 * whole rows returns SYNCYTE_ERR_UNSUPPORTED: owners, the node's view, row locks, scatter_add, put_signal, optimizers.
 * An array argument must not share memory with a part of the box, unless it is exactly this part; of rows, with the
 * tensor.
 *
 * The rows of a tensor in device memory (options->memory) lie on the devices of the ranks. It is cut by rows. If the
 * ranks are on several nodes it needs the fabric, and operations on rows are complete on return, also with a stream; an
 * index that is out of range is then the error of the call, which has changed nothing. tensor_local() and tensor_node()
 * return addresses that kernels of this rank's device load and store; gather, scatter and scatter_add take an index and
 * an array on this rank's device. They are queued on the stream of memory_set_stream(), or complete on return if there
 * is none, or if the communicator's check level is full. An index that is out of range is skipped, and the error of the
 * call, or, if it was queued, of the next flush, sync or operation on rows that finds it done. Kernels must not write
 * what they read: the arrays lie outside the tensor. If scatter has a row several times, any of its sources stays.
 * Floating-point sums of scatter_add depend on the order; it needs devices that add to each other's memory atomically.
 * tensor_flush() and tensor_sync() wait for the queued operations and for the thread's stream. On a stream that is
 * captured into a CUDA graph they, operations between nodes, and those that wait return SYNCYTE_ERR_UNSUPPORTED; so do
 * all other operations, and started forms, always.
 */
#ifndef SYNCYTE_TENSOR_H
#define SYNCYTE_TENSOR_H

#include "syncyte/base.h"
#include "syncyte/comm.h"
#include "syncyte/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A whole tensor. */
typedef struct syncyte_tensor_s* syncyte_tensor_t;

/** Options of a new tensor. */
typedef struct syncyte_tensor_options_t {
  size_t struct_size; /**< sizeof(syncyte_tensor_options_t) */
  const char* name;   /**< may be null, which is a name of its own; equal on all ranks */
  int64_t local_rows; /**< {default(-1)} number of this rank's rows; -1: equal parts, with the remainder on the first
                           ranks. All ranks pass -1, or all pass numbers that add up to shape[0] */
  syncyte_memory_t memory; /**< where the rows lie, equal on all ranks; of SYNCYTE_MEMORY_CUDA, those of each rank on
                                its device */
  int32_t device;          /**< {default(-1)} this rank's device for SYNCYTE_MEMORY_CUDA; -1: that of the thread's
                                context, or 0. Ranks may use the same one, and see different ones */
  int64_t* released;     /**< may be null; for wrap: set to 1 (a release store) when no rank uses this rank's array any
                              more. The caller owns it; it must live as long as the array */
  int32_t row_locks;     /**< 1: rows have locks, for tensor_lock(), of 8 bytes each; 0: no locks. Equal on all ranks */
  int32_t deterministic; /**< 1: scatter_add, and accumulate_box with SYNCYTE_OP_SUM, of floating-point and complex
                            numbers take effect in tensor_sync(), with the same bits for every order of the adds and
                            for every rank that makes them; 0: they take effect at once. Equal on all ranks */
  const char* label;     /**< name for messages, if not null; ranks may differ */
} syncyte_tensor_options_t;

/** All defaults: `syncyte_tensor_options_t options = SYNCYTE_TENSOR_OPTIONS_INIT;`. Zeros would mean local_rows 0. */
#define SYNCYTE_TENSOR_OPTIONS_INIT \
  {sizeof(syncyte_tensor_options_t), NULL, -1, SYNCYTE_MEMORY_HOST, -1, NULL, 0, 0, NULL}

/** Comparison: one of ::syncyte_compare_values. */
typedef int32_t syncyte_compare_t;

/** Comparisons of tensor_wait(). */
enum syncyte_compare_values {
  SYNCYTE_COMPARE_EQ = 1, /**< equal */
  SYNCYTE_COMPARE_NE = 2, /**< not equal */
  SYNCYTE_COMPARE_GE = 3, /**< greater or equal */
  SYNCYTE_COMPARE_LE = 4  /**< less or equal */
};

/** Optimizer: one of ::syncyte_optimizer_values. */
typedef int32_t syncyte_optimizer_t;

/** Optimizers of tensor_set_optimizer(). All are lazy: an update changes only rows that have a gradient. */
enum syncyte_optimizer_values {
  SYNCYTE_OPTIMIZER_SGD = 1,     /**< gradient descent, as torch.optim.SGD; with momentum if options->momentum > 0 */
  SYNCYTE_OPTIMIZER_ADAGRAD = 2, /**< AdaGrad, as torch.optim.Adagrad */
  SYNCYTE_OPTIMIZER_ADAM = 3     /**< Adam, as torch.optim.SparseAdam */
};

/** Hyperparameters; an optimizer ignores those that it does not have. */
typedef struct syncyte_optimizer_options_t {
  size_t struct_size; /**< sizeof(syncyte_optimizer_options_t) */
  double momentum;    /**< {default(0.0)} SGD: 0 to less than 1 */
  double beta1;       /**< {default(0.9)} Adam: decay of the mean of gradients, 0 to less than 1 */
  double beta2;       /**< {default(0.999)} Adam: decay of the mean of squares, 0 to less than 1 */
  double eps;         /**< {default(-1.0)} AdaGrad and Adam: added to the divisor; negative: torch's default, 1e-10 for
                           AdaGrad and 1e-8 for Adam */
} syncyte_optimizer_options_t;

/** All defaults: `syncyte_optimizer_options_t options = SYNCYTE_OPTIMIZER_OPTIONS_INIT;`. */
#define SYNCYTE_OPTIMIZER_OPTIONS_INIT {sizeof(syncyte_optimizer_options_t), 0.0, 0.9, 0.999, -1.0}

/**
 * @brief {by_hand} Makes a tensor of zeros. Collective; facts: dtype, shape, kind of partition, options->name. Named
 * tensors that programs make in different orders are an error.
 * @param[in] comm its ranks
 * @param[in] dtype element type
 * @param[in] ndim number of dimensions, 1 to SYNCYTE_MAX_NDIM
 * @param[in] shape {array(ndim)} global extents, in elements; 0 is allowed
 * @param[in] options {optional} null for defaults
 * @param[out] tensor the tensor
 * @return SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (negative, or more than 2^63 - 1 bytes), SYNCYTE_ERR_ARGUMENT (local_rows
 * do not add up), SYNCYTE_ERR_MEMORY (more than the node has), SYNCYTE_ERR_MISMATCH, SYNCYTE_ERR_UNSUPPORTED.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_create(syncyte_comm_t comm, syncyte_dtype_t dtype, int32_t ndim,
                                                      const int64_t* shape, const syncyte_tensor_options_t* options,
                                                      syncyte_tensor_t* tensor);

/**
 * @brief {by_hand} Makes a tensor of arrays that the ranks already have. Collective; facts: dtype, all extents but the
 * first, options->name. The caller owns the memory, which must live until a collective point frees the tensor;
 * options->released is set then. The memory is not shared: other ranks access it as they access other nodes' rows, on
 * the same node too, and there is no node view.
 * @param[in] comm its ranks
 * @param[in,out] local {contiguous, kept} this rank's rows, contiguous; shape[0] may differ between ranks and may be
 * 0. In device memory only if comm has one rank
 * @param[in] options {optional} null for defaults; local_rows must be -1
 * @param[out] tensor the tensor
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_wrap(syncyte_comm_t comm, const syncyte_buffer_t* local,
                                                    const syncyte_tensor_options_t* options, syncyte_tensor_t* tensor);

/**
 * @brief {by_hand} Makes a tensor of zeros that is cut by a layout: each point is stored once, by the first rank that
 * has its right copy, without ghosts. Collective, with tensor_open() on ranks that do not have the layout; facts:
 * dtype, layout, options->name.
 * @param[in] comm its ranks; those of the layout may be some of them
 * @param[in] dtype element type
 * @param[in] layout the layout, of this communicator or of another one of its ranks
 * @param[in] slots {default(0)} number of versions of the field that the tensor keeps, for tensor_publish() and
 * tensor_take(); it is the first extent of the tensor, before those of the layout. 0: there are no versions
 * @param[in] options {optional} null for defaults; row_locks, deterministic and local_rows have their defaults
 * @param[out] tensor the tensor
 * @return SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (more than 2^63 - 1 bytes), SYNCYTE_ERR_ARGUMENT (a
 * block of a rank outside comm), SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_MISMATCH, SYNCYTE_ERR_UNSUPPORTED.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_create_by_layout(syncyte_comm_t comm, syncyte_dtype_t dtype,
                                                                syncyte_layout_t layout, int64_t slots,
                                                                const syncyte_tensor_options_t* options,
                                                                syncyte_tensor_t* tensor);

/**
 * @brief {by_hand} Takes part in tensor_create_by_layout() of other ranks by the tensor's name alone: element type,
 * shape and layout are theirs. Collective, with their call; facts: name.
 * @param[in] comm its ranks
 * @param[in] name {string} the name that the others give
 * @param[out] tensor the tensor
 * @return SYNCYTE_ERR_ARGUMENT (no name; no rank has a layout), SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_MISMATCH (the others
 * make a tensor of another name, which the message says).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_open(syncyte_comm_t comm, const char* name, syncyte_tensor_t* tensor);

/**
 * @brief {by_hand, cxx_by_hand} Cuts a tensor anew, in place: the handle and the values stay, each rank has another
 * part. A rank may use this to balance loads, or to pass from rows to the blocks of a solver and back. Collective;
 * facts: tensor, layout. It is a sync, too. Until it returns, a rank has the memory of both parts; that of the old one
 * is freed at a later collective point. Wrapped arrays are released in this way. No other thread may use the tensor
 * meanwhile, and a child that was forked before goes on reading the old memory.
 * @param[in] tensor a tensor without slots and optimizer, of which no rank has a view (tensor_local, tensor_node), a
 * second reference, an operation in flight or a lock. Views without a reference of their own are not seen: they end
 * @param[in] layout the layout, of the tensor's shape and communicator, or of another one of its ranks; null
 * on all ranks: the tensor is cut by rows
 * @param[in] local_rows {default(-1)} without a layout, as syncyte_tensor_options_t::local_rows; otherwise -1
 * @return SYNCYTE_ERR_BUSY (views, references, operations, locks), SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT,
 * SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_MISMATCH, SYNCYTE_ERR_UNSUPPORTED (slots, an optimizer; a layout for a tensor with
 * row_locks or deterministic), SYNCYTE_ERR_PEER_DIED; the tensor then is as before.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_relocate(syncyte_tensor_t tensor, syncyte_layout_t layout,
                                                        int64_t local_rows);

/**
 * @brief {by_hand, cxx_by_hand} Publishes this rank's part of the next version of a tensor with slots: copies the
 * points that it owns from the arrays of its blocks. The version is complete when all ranks that own points have
 * published it. Local; does not wait for ranks that take versions, and for those that publish only if it is slots - 1
 * versions ahead of them (with one slot, 1), until all other ranks have ended: all must publish equally often.
 * Thread-safe.
 * @param[in] tensor a tensor with slots
 * @param[in] count number of arrays: this rank's blocks
 * @param[in] arrays {array(count), optional} the arrays of this rank's blocks, ghosts included, with any strides, in
 * memory that is not the tensor's
 * @param[in] step the caller's number of the version, equal on all ranks that own points, and more than that of the
 * last one. After an error because another rank has another one, the right one may be given
 * @return SYNCYTE_ERR_ARGUMENT (step, number of arrays), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_UNSUPPORTED
 * (no slots), SYNCYTE_ERR_PEER_DIED.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_publish(syncyte_tensor_t tensor, int64_t count,
                                                       const syncyte_buffer_t* arrays, int64_t step);

/**
 * @brief {by_hand, cxx_by_hand} Reads the box [lower, lower + extent of output) of the newest complete version of a
 * tensor with slots, after waiting, mostly asleep, for one whose step is at_least or more. All elements are of one
 * version: if it is overwritten meanwhile, a newer one is read. With two slots or more, the newest one stays until
 * there is another; with one slot there is none while ranks publish. Local.
 * @param[in] tensor a tensor with slots
 * @param[in] lower_length length of lower: the layout's axes
 * @param[in] lower {array(lower_length)} first element of the box in the field
 * @param[in] at_least {default(INT64_MIN)} lowest step that is taken
 * @param[in] timeout {default(-1.0)} seconds; less than 0: no limit
 * @param[out] output {tensor_dtype} as many dimensions as the layout, any strides, the tensor's dtype, in memory that
 * is not the tensor's; undefined after an error
 * @param[out] step the step of the version
 * @return as get_box; SYNCYTE_ERR_TIMEOUT, SYNCYTE_ERR_UNSUPPORTED (no slots), SYNCYTE_ERR_PEER_DIED (a rank has died,
 * or the first rank that publishes has ended before it has published a version that is new enough).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_take(syncyte_tensor_t tensor, int64_t lower_length, const int64_t* lower,
                                                    int64_t at_least, double timeout, const syncyte_buffer_t* output,
                                                    int64_t* step);

/**
 * @brief Adds a reference: every exported view holds one. Local, thread-safe, without MPI; works after finalize.
 * @param[in] tensor a tensor
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_retain(syncyte_tensor_t tensor);

/**
 * @brief Drops a reference. Local, thread-safe, without MPI; works after finalize. Memory is freed at a collective
 * point once all ranks have dropped the tensor; ranks may drop tensors in any order.
 * @param[in] tensor a tensor
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_release(syncyte_tensor_t tensor);

/**
 * @brief Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_tensor_release().
 * @param[in,out] tensor a tensor
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_destroy(syncyte_tensor_t* tensor);

/**
 * @brief {lookup, by_hand, cxx_by_hand} Returns element type and global shape. Local.
 * @param[in] tensor a tensor
 * @param[in,out] global struct_size set by the caller; the rest is filled, with data null
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_describe(syncyte_tensor_t tensor, syncyte_buffer_t* global);

/**
 * @brief {lookup, cxx_by_hand} Returns a new reference to the tensor's communicator. Local.
 * @param[in] tensor a tensor
 * @param[out] comm the communicator
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_comm(syncyte_tensor_t tensor, syncyte_comm_t* comm);

/**
 * @brief {lookup, by_hand, cxx_by_hand} Returns a new reference to the layout of a tensor that is cut by one, among all
 * ranks of the tensor. Local.
 * @param[in] tensor a tensor
 * @param[out] layout the layout; null if the tensor is cut by rows
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_layout(syncyte_tensor_t tensor, syncyte_layout_t* layout);

/**
 * @brief {lookup, cxx_by_hand} Returns the rows that a rank owns. Local.
 * @param[in] tensor a tensor
 * @param[in] rank {traced} owner
 * @param[out] first its first row; if it has none, the next rank's first row
 * @param[out] count number of rows
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_rows(syncyte_tensor_t tensor, int32_t rank, int64_t* first,
                                                    int64_t* count);

/**
 * @brief {lookup, cxx_by_hand} Returns the owners of rows, in O(log P) each or better. Local.
 * @param[in] tensor a tensor
 * @param[in] count number of rows
 * @param[in] index {array(count)} global row numbers
 * @param[out] ranks {array(count)} their owners
 * @return SYNCYTE_ERR_INDEX, naming index and position.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_owner(syncyte_tensor_t tensor, int64_t count, const int64_t* index,
                                                     int32_t* ranks);

/**
 * @brief {lookup, cxx_by_hand} Returns the owners of a box, in ascending order, and the part of the box that each owns:
 * all of the box's elements in rows first to first + rows - 1. Local; O(owners). To learn the number of owners, pass
 * capacity 0.
 * @param[in] tensor a tensor
 * @param[in] lower_length length of lower: the tensor's dimensions
 * @param[in] lower {array(lower_length)} first element of the box
 * @param[in] extent_length length of extent: the tensor's dimensions
 * @param[in] extent {array(extent_length)} the box's shape, in elements
 * @param[in] capacity length of ranks, first and rows; further owners are only counted
 * @param[out] ranks {array(capacity), optional} owners
 * @param[out] first {array(capacity), optional} each owner's first row of the box, a global number
 * @param[out] rows {array(capacity), optional} number of each owner's rows of the box, 1 or more
 * @param[out] count number of owners; 0 if the box has no elements
 * @return SYNCYTE_ERR_INDEX outside the tensor, SYNCYTE_ERR_SHAPE (another number of dimensions, a negative extent),
 * SYNCYTE_ERR_ARGUMENT (a negative capacity).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_locate_box(syncyte_tensor_t tensor, int64_t lower_length,
                                                          const int64_t* lower, int64_t extent_length,
                                                          const int64_t* extent, int64_t capacity, int32_t* ranks,
                                                          int64_t* first, int64_t* rows, int64_t* count);

/**
 * @brief {lookup, by_hand, cxx_by_hand} Returns a view of this rank's rows, or of its block. Local. The view is valid
 * while there is a reference to the tensor: retain it for as long as the view lives.
 * @param[in] tensor a tensor
 * @param[in,out] view struct_size set by the caller; contiguous; shape[0] is the number of local rows. Of a block: its
 * points without ghosts, and without shared points that another rank has; all extents are 0 if there is none. With
 * slots, the first extent is their number
 * @return SYNCYTE_ERR_UNSUPPORTED if the rank has several blocks.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_local(syncyte_tensor_t tensor, syncyte_buffer_t* view);

/**
 * @brief {lookup, by_hand, cxx_by_hand} Returns a view of the rows of all ranks of this node, in one address range, in
 * rank order. Local. Lifetime as tensor_local().
 * @param[in] tensor a tensor
 * @param[in,out] view struct_size set by the caller; contiguous; shape[0] is the number of the node's rows
 * @param[out] first_row if the node's ranks are consecutive, the global number of the view's first row, so that view
 * row i is global row first_row + i; otherwise -1: the view then holds the ranges of tensor_rows() for the node's
 * ranks, one after another
 * @return SYNCYTE_ERR_UNSUPPORTED for a wrapped tensor of several ranks.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_node(syncyte_tensor_t tensor, syncyte_buffer_t* view,
                                                    int64_t* first_row);

/**
 * @brief {lookup} Lets a device of this process access a tensor: kernels of that device may use the addresses of
 * tensor_local() and tensor_node(). Local. Host memory is registered with the driver until the tensor is freed; what
 * kernels do with it has ended before a call of the library, such as tensor_sync(), orders it for others.
 * @param[in] tensor a tensor; not a wrapped one
 * @param[in] device the device's number
 * @return SYNCYTE_ERR_ARGUMENT (there is no such device), SYNCYTE_ERR_UNSUPPORTED (a wrapped tensor; the device cannot
 * access the memory of all devices of the tensor, or host memory at the host's addresses), SYNCYTE_ERR_BUSY (the caller
 * has registered the memory), SYNCYTE_ERR_MEMORY.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_allow_device(syncyte_tensor_t tensor, int32_t device);

/**
 * @brief {forked_child, started} Reads rows: output[i] = tensor[index[i]]. Local; a forked child may call it. Rows may
 * repeat.
 * @param[in] tensor a tensor
 * @param[in] index {contiguous, index(tensor)} int32 or int64, contiguous, any number of dimensions
 * @param[out] output {contiguous, tensor_dtype, traced, kept_if_started} contiguous, of the tensor's dtype, index's
 * elements times a row's elements
 * @return SYNCYTE_ERR_INDEX (names index and position; in host memory nothing is written), SYNCYTE_ERR_TYPE,
 * SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT (output is in memory of other rows that are read, or of index).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_gather(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
                                                      const syncyte_buffer_t* output);

/**
 * @brief {started} Writes rows: tensor[index[i]] = source[i]. Local. If a row repeats, its last source stays. A row
 * that two ranks write at once, or that is added to meanwhile, is undefined.
 * @param[in] tensor a tensor
 * @param[in] index {contiguous, index(tensor)} int32 or int64, contiguous
 * @param[in] source {contiguous, tensor_dtype, traced, kept_if_started} contiguous, of the tensor's dtype, index's
 * elements times a row's elements
 * @return as gather; SYNCYTE_ERR_ARGUMENT if source or index is in memory of other rows that are written.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_scatter(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
                                                       const syncyte_buffer_t* source);

/**
 * @brief {started} Adds to rows: tensor[index[i]] += source[i]. Local. No add is lost when several ranks add at once. A
 * row that repeats is added to several times, in an undefined order. bool: logical or. Each element is added
 * atomically; of a complex number, each component: a rank that reads it meanwhile may see the components of different
 * adds.
 *
 * In a tensor made with options->deterministic, rows of floating-point or complex numbers change in the next
 * tensor_sync(): the owner sums exactly what all ranks have added to a row since the last one, adds the sum to the row,
 * and rounds once, to nearest even. The result has the same bits whatever the timing, the number of ranks, and the
 * ranks that add. A sum of zero is +0. Until then this rank keeps the sum of each row that it has added to: usually 32
 * to 40 bytes for each real number, and at most 560, if the magnitudes of a row's numbers span all exponents of
 * float64.
 * @param[in] tensor a tensor
 * @param[in] index {contiguous, index(tensor)} int32 or int64, contiguous
 * @param[in] source {contiguous, tensor_dtype, traced, kept_if_started} contiguous, of the tensor's dtype, index's
 * elements times a row's elements
 * @return as scatter; SYNCYTE_ERR_PEER_DIED if a process died while it added to one of the rows (the row is damaged,
 * the message names it; rows before it have been added), or if an owner died or is out of reach;
 * SYNCYTE_ERR_UNSUPPORTED if a row lies on another node and there is no fabric.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_scatter_add(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
                                                           const syncyte_buffer_t* source);

/**
 * @brief {by_hand, started, cxx_by_hand} Writes rows, then signals: tensor[index[i]] = source[i], and then adds value
 * to an element of counters, or sets it. A rank that sees the new element (by tensor_wait or tensor_load) sees all the
 * rows, whoever owns them: the signal is given after all owners have the rows. Local.
 * @param[in] tensor a tensor
 * @param[in] index {contiguous, index(tensor)} int32 or int64, contiguous; may be empty
 * @param[in] source {contiguous, tensor_dtype, kept_if_started} as of scatter
 * @param[in] counters a tensor of int32 or int64, of any communicator
 * @param[in] element {index(counters)} number of its element in row-major order
 * @param[in] value {default(1)} number that is added or set
 * @param[in] op SYNCYTE_OP_SUM: adds value; SYNCYTE_OP_REPLACE: sets the element to value
 * @return as scatter and tensor_fetch_add, SYNCYTE_ERR_ARGUMENT for another op. After an error of the arguments neither
 * rows nor element are changed; after another error the element is not.
 * @started The signal follows when all owners have the rows, without further calls. If rows of other nodes go by the
 * fabric and counters by MPI RMA, the start waits for the rows. If an owner of rows dies, the element is not changed.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_put_signal(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
                                                          const syncyte_buffer_t* source, syncyte_tensor_t counters,
                                                          int64_t element, int64_t value, syncyte_op_t op);

/**
 * @brief {by_hand, cxx_by_hand} Gives the tensor an optimizer, which tensor_apply_gradients() uses, with a new state of
 * zeros; an optimizer that the tensor had is dropped. Collective; facts: the tensor, optimizer, whether there is
 * momentum. The hyperparameters are this rank's: they apply to its own gradients. No thread may call
 * tensor_apply_gradients() meanwhile.
 * @param[in] tensor a tensor of float16, bfloat16, float32 or float64
 * @param[in] optimizer kind of optimizer
 * @param[in] lr learning rate, 0 or more
 * @param[in] options {optional} null for defaults
 * @return SYNCYTE_ERR_TYPE, SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_MISMATCH, SYNCYTE_ERR_UNSUPPORTED
 * (the tensor is on devices that cannot change each other's memory atomically).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_set_optimizer(syncyte_tensor_t tensor, syncyte_optimizer_t optimizer,
                                                             double lr, const syncyte_optimizer_options_t* options);

/**
 * @brief {free_function} Changes the learning rate of this rank's later calls of tensor_apply_gradients(). Local.
 * @param[in] tensor a tensor with an optimizer
 * @param[in] lr learning rate, 0 or more
 * @return SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_UNSUPPORTED (the tensor has no optimizer).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_set_learning_rate(syncyte_tensor_t tensor, double lr);

/**
 * @brief {started} Updates rows by the tensor's optimizer: gradients[i] belongs to tensor[index[i]]. Local; rows of
 * other nodes are updated by their owners' library. Gradients of a row that repeats are summed first, so that each call
 * updates a row once. Calls of several ranks for the same row are separate updates, done one after another in any
 * order, each exactly once. On return all are done; all ranks see them after tensor_sync(). An Adam update's number,
 * which corrects the moments' bias, is the number of calls for this tensor by all ranks so far. A row that is written
 * or added to meanwhile is undefined.
 * @param[in] tensor a tensor with an optimizer
 * @param[in] index {contiguous, index(tensor)} int32 or int64, contiguous
 * @param[in] gradients {contiguous, tensor_dtype, kept_if_started, traced} contiguous, of the tensor's dtype, index's
 * elements times a row's elements
 * @return as scatter_add; SYNCYTE_ERR_ARGUMENT also if gradients lie in the optimizer's state of these rows;
 * SYNCYTE_ERR_UNSUPPORTED also if the tensor has no optimizer. After SYNCYTE_ERR_PEER_DIED some rows may have been
 * updated, and others not.
 * @started Gradients of a row that repeats are summed, and an Adam update gets its number, in the start; if another
 * node has the number, the start waits for the answer of that node's library. The learning rate is that of the start.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_apply_gradients(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
                                                               const syncyte_buffer_t* gradients);

/**
 * @brief {lookup, by_hand, cxx_by_hand} Returns a new reference to the tensor that holds the optimizer's state, to save
 * it or restore it. Local.
 * @param[in] tensor a tensor with an optimizer
 * @param[out] state float32 (float64 for float64), shape {rows, slots, elements of a row}, partitioned as the tensor:
 * SGD's momentum; AdaGrad's sum of squares; Adam's means of gradients and of squares. Null if there is none. Rows of
 * fewer than 16 bytes may have further, unused slots
 * @return SYNCYTE_ERR_UNSUPPORTED (the tensor has no optimizer).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_optimizer_state(syncyte_tensor_t tensor, syncyte_tensor_t* state);

/**
 * @brief {lookup, by_hand, cxx_by_hand} Returns a new reference to the tensor that holds the optimizer's number of
 * updates. Local.
 * @param[in] tensor a tensor with an optimizer
 * @param[out] steps int64, shape {1}. Null unless the optimizer is Adam
 * @return SYNCYTE_ERR_UNSUPPORTED (the tensor has no optimizer).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_optimizer_steps(syncyte_tensor_t tensor, syncyte_tensor_t* steps);

/**
 * @brief {forked_child, started} Reads the box [lower, lower + extent of output) of the tensor. Local; a forked child
 * may call it.
 * @param[in] tensor a tensor
 * @param[in] lower_length length of lower: the tensor's dimensions
 * @param[in] lower {array(lower_length)} first element of the box
 * @param[out] output {tensor_dtype, traced, kept_if_started} as many dimensions as the tensor, any strides, the
 * tensor's dtype
 * @return SYNCYTE_ERR_INDEX outside the tensor, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_ARGUMENT (output is in
 * memory of other elements of the box).
 * @started Elements of other nodes' rows need packed memory of their size until the end; the test or wait that finds
 * the end copies them to output.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_get_box(syncyte_tensor_t tensor, int64_t lower_length,
                                                       const int64_t* lower, const syncyte_buffer_t* output);

/**
 * @brief {started} Writes the box [lower, lower + extent of source) of the tensor. Local. Visible to other ranks as in
 * scatter.
 * @param[in] tensor a tensor
 * @param[in] lower_length length of lower: the tensor's dimensions
 * @param[in] lower {array(lower_length)} first element of the box
 * @param[in] source {tensor_dtype, traced} as many dimensions as the tensor, any strides, the tensor's dtype
 * @return as get_box, for source.
 * @started Elements of other nodes' rows need packed memory of their size until the end.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_put_box(syncyte_tensor_t tensor, int64_t lower_length,
                                                       const int64_t* lower, const syncyte_buffer_t* source);

/**
 * @brief {started, cxx_by_hand} Combines each element of the box [lower, lower + extent of source) with alpha * source:
 * with SYNCYTE_OP_SUM, tensor[box] += alpha * source. Local; done at the owners on return. Each element is combined
 * atomically, also with other ranks' accumulate_box and scatter_add, so no contribution is lost; of complex numbers,
 * each component is added atomically. The box as a whole is not atomic. Views, put_box, scatter and counters do not
 * take part: call sync between them and accumulates to the same elements. Sums of a tensor made with
 * options->deterministic change in the next sync, by whole rows: there an element outside of the box that is -0 becomes
 * +0.
 * @param[in] tensor a tensor
 * @param[in] lower_length length of lower: the tensor's dimensions
 * @param[in] lower {array(lower_length)} first element of the box
 * @param[in] source {tensor_dtype, traced} as many dimensions as the tensor, any strides, the tensor's dtype
 * @param[in] alpha {optional} one element of the tensor's dtype, by which source is multiplied first, in that type;
 * null: 1
 * @param[in] op SYNCYTE_OP_SUM; for other than complex numbers also PROD, MIN and MAX; for integers and bool also LAND,
 * LOR, LXOR, BAND, BOR and BXOR
 * @return as put_box; SYNCYTE_ERR_ARGUMENT for an unknown op or SYNCYTE_OP_REPLACE, SYNCYTE_ERR_UNSUPPORTED for an op
 * that the dtype lacks, or if a row is reached by MPI RMA; SYNCYTE_ERR_PEER_DIED as scatter_add.
 * @started Elements of other nodes' rows need packed memory of their size until the end.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_accumulate_box(syncyte_tensor_t tensor, int64_t lower_length,
                                                              const int64_t* lower, const syncyte_buffer_t* source,
                                                              const void* alpha, syncyte_op_t op);

/**
 * @brief {started, cxx_by_hand(started)} Adds to one element of an int32 or int64 tensor and returns its old value;
 * atomic, acquire and release. Local.
 * @param[in] tensor a tensor of int32 or int64
 * @param[in] element {index(tensor)} number of the element in row-major order
 * @param[in] operand number to add
 * @param[out] previous {optional, kept_if_started} the old value
 * @started The test or wait that finds the end stores the old value.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_fetch_add(syncyte_tensor_t tensor, int64_t element, int64_t operand,
                                                         int64_t* previous);

/**
 * @brief {started, cxx_by_hand(started)} Writes desired to one element if it equals expected, and returns its old
 * value; atomic, acquire and release. Local.
 * @param[in] tensor a tensor of int32 or int64
 * @param[in] element {index(tensor)} number of the element in row-major order
 * @param[in] expected value to compare with
 * @param[in] desired value to write if they are equal
 * @param[out] previous {optional, kept_if_started} the old value
 * @started The test or wait that finds the end stores the old value.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_compare_swap(syncyte_tensor_t tensor, int64_t element, int64_t expected,
                                                            int64_t desired, int64_t* previous);

/**
 * @brief {forked_child, free_function} Reads one element of an int32 or int64 tensor; acquire. Local; a forked child
 * may call it.
 * @param[in] tensor a tensor of int32 or int64
 * @param[in] element {index(tensor)} number of the element in row-major order
 * @param[out] value its value
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_load(syncyte_tensor_t tensor, int64_t element, int64_t* value);

/**
 * @brief {free_function} Writes one element of an int32 or int64 tensor; release: a rank that reads the new value sees
 * all earlier writes of this rank (on the same node; on other nodes, those before a flush). Local.
 * @param[in] tensor a tensor of int32 or int64
 * @param[in] element {index(tensor)} number of the element in row-major order
 * @param[in] value its new value
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_store(syncyte_tensor_t tensor, int64_t element, int64_t value);

/**
 * @brief {forked_child, free_function, cxx_by_hand} Waits, mostly asleep, until a comparison of one element of an int32
 * or int64 tensor is true; acquire. Local; a forked child may call it.
 * @param[in] tensor a tensor of int32 or int64
 * @param[in] element {index(tensor)} number of the element in row-major order
 * @param[in] compare comparison of the element with value
 * @param[in] value value to compare with
 * @param[in] timeout {default(-1)} seconds, 0 or more; negative: no limit
 * @param[out] found {optional} the element's value for which the comparison is true
 * @return SYNCYTE_ERR_TIMEOUT after timeout seconds; SYNCYTE_ERR_PEER_DIED if any rank of the job dies meanwhile, since
 * it may be the one that would change the element, and if all other ranks of the tensor have come to finalize: then
 * this rank's other threads alone could change it. Ranks of other nodes are asked by the fabric, after a second.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_wait(syncyte_tensor_t tensor, int64_t element, syncyte_compare_t compare,
                                                    int64_t value, double timeout, int64_t* found);

/**
 * @brief {free_function} Waits, mostly asleep, until it has a row's lock. Local. The lock excludes other holders of it,
 * and nothing else: operations on the row take no notice, so the holder may call all of them. Writes of earlier holders
 * are visible to the holder. Each row has its own lock, so a rank may hold several; ranks that take them in different
 * orders may wait for each other for ever. A second lock of the row by this rank waits too, for an unlock by another
 * thread. There is no started form: a rank would hold a lock that it started from a moment that it does not know.
 * @param[in] tensor a tensor made with row_locks 1
 * @param[in] row a row's number
 * @return SYNCYTE_ERR_UNSUPPORTED for a tensor without row_locks, SYNCYTE_ERR_INDEX, SYNCYTE_ERR_PEER_DIED if the
 * holder or, on another node, the row's owner has died, or if the holder has come to finalize.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_lock(syncyte_tensor_t tensor, int64_t row);

/**
 * @brief {free_function} Completes this rank's writes, as flush, and releases a row's lock. Local. Any thread of the
 * rank may call it.
 * @param[in] tensor a tensor made with row_locks 1
 * @param[in] row a row's number
 * @return as lock; SYNCYTE_ERR_ARGUMENT if this rank does not hold the lock.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_unlock(syncyte_tensor_t tensor, int64_t row);

/**
 * @brief Completes this rank's writes at their owners. Local.
 * @param[in] tensor a tensor
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_flush(syncyte_tensor_t tensor);

/**
 * @brief Synchronizes the tensor: after it, all ranks see all earlier writes of all ranks. Collective; also frees
 * objects that all ranks have dropped, and makes the adds of a tensor with options->deterministic. Adds that another
 * thread makes meanwhile may wait for the next call.
 * @param[in] tensor a tensor
 * @return SYNCYTE_ERR_MISMATCH if ranks pass different tensors: adds wait for the next call. SYNCYTE_ERR_MEMORY: the
 * adds of a tensor with options->deterministic may be lost.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_tensor_sync(syncyte_tensor_t tensor);

#ifdef __cplusplus
}
#endif

#include "syncyte/generated/tensor.h"

#endif
