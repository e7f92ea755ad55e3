/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file layout.h
 * @brief Layouts: how an array is cut into the ranks' parts, and relocation of an array from one layout to another.
 *
 * The cells of a box, 0 to cells[axis] - 1 along each axis, are divided among blocks. A block is the array of one rank,
 * or of several ranks with equal copies; a rank has any number of blocks, or none. A layout is cut by a mesh of ranks
 * (syncyte_layout_create_mesh()), or takes the blocks that a code has chosen (syncyte_layout_create_blocks()).
 * On an unstructured mesh each rank lists its own points (syncyte_layout_create_indices()).
 *
 * Arrays hold the cells, or, by syncyte_layout_options_t and syncyte_layout_like():
 * - along a *shared* axis the points on the borders of the cells, cell i between points i and i + 1. There is one point
 *   more than cells, or as many if the axis is periodic: its last point is point 0. Each block stores the points of all
 *   its cells, so that two blocks store the point on their border; `truth` says which copy is right. With two axes
 *   shared the points are nodes, with one they are faces;
 * - *ghosts*: further points around a block, for a halo. They count in the shape of a block's array.
 *
 * A layout belongs to a communicator. All ranks make it together, and it is equal on all of them.
 */
#ifndef SYNCYTE_LAYOUT_H
#define SYNCYTE_LAYOUT_H

#include "syncyte/collectives.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A layout. */
typedef struct syncyte_layout_s* syncyte_layout_t;

/** Which copy of a point is right where two blocks store it: one of ::syncyte_truth_values. */
typedef int32_t syncyte_truth_t;

/** Rules for points that two blocks store. */
enum syncyte_truth_values {
  SYNCYTE_TRUTH_EQUAL = 0, /**< all copies are equal */
  SYNCYTE_TRUTH_LOWER = 1, /**< the copy of the block with the lower cells */
  SYNCYTE_TRUTH_UPPER = 2  /**< the copy of the block with the higher cells */
};

/** What the arrays of a layout hold beside cells, and how a mesh divides them. */
typedef struct syncyte_layout_options_t {
  size_t struct_size;                    /**< sizeof(syncyte_layout_options_t) */
  int64_t ghosts_low[SYNCYTE_MAX_NDIM];  /**< ghosts before the first point of each axis, 0 or more */
  int64_t ghosts_high[SYNCYTE_MAX_NDIM]; /**< ghosts behind the last point */
  int32_t shared[SYNCYTE_MAX_NDIM];      /**< 1: points on the borders of cells along this axis; 0: cells */
  int32_t periodic[SYNCYTE_MAX_NDIM];    /**< 1: the axis is periodic */
  syncyte_truth_t truth;                 /**< rule for points that two blocks store */
  int32_t ceil;                          /**< of a mesh: 1: parts of ceil(cells / parts) cells, the last ones shorter
                                            or empty, as PyTorch's DTensor cuts; 0: equal parts, the first
                                            cells % parts of which have one cell more */
  int64_t block;                         /**< of a mesh: cells that are dealt out to the parts in blocks of this
                                            length; 0: each part has consecutive cells */
  int32_t weighted;                      /**< of a mesh: 1: lengths are weights, 0 or more, and an axis is cut in
                                            proportion to them */
} syncyte_layout_options_t;

/** All defaults: `syncyte_layout_options_t options = SYNCYTE_LAYOUT_OPTIONS_INIT;`. */
#define SYNCYTE_LAYOUT_OPTIONS_INIT {sizeof(syncyte_layout_options_t), {0}, {0}, {0}, {0}, 0, 0, 0, 0}

/** Options of a relocation. */
typedef struct syncyte_relocate_options_t {
  size_t struct_size;   /**< sizeof(syncyte_relocate_options_t) */
  int64_t buffer_bytes; /**< {default(8388608)} most memory for messages on each rank; equal on all ranks */
  const int64_t* first; /**< null: both layouts are of arrays of the same extents; otherwise one array is a box of the
                           other one, this is its first point there, for each axis, and only the box is moved */
  const syncyte_collective_options_t* collective; /**< what all collectives take, read during the call; null for
                                                     defaults */
} syncyte_relocate_options_t;

/** All defaults: `syncyte_relocate_options_t options = SYNCYTE_RELOCATE_OPTIONS_INIT;`. */
#define SYNCYTE_RELOCATE_OPTIONS_INIT {sizeof(syncyte_relocate_options_t), 8388608, NULL, NULL}

/** A layout as a rank sees it, or one of a rank's blocks. */
typedef struct syncyte_layout_info_t {
  size_t struct_size;                /**< sizeof(syncyte_layout_info_t) */
  int64_t extents[SYNCYTE_MAX_NDIM]; /**< points of the whole array along each axis */
  int64_t first[SYNCYTE_MAX_NDIM];   /**< of a block: its first point, ghosts not counted */
  int64_t shape[SYNCYTE_MAX_NDIM];   /**< of a block: extents of its array, ghosts included */
  int32_t ndim;                      /**< number of axes */
  int32_t blocks;                    /**< number of the rank's blocks */
  int32_t listed;                    /**< 1: of listed points (syncyte_layout_create_indices()) */
} syncyte_layout_info_t;

/** Points of a box that one block has. */
typedef struct syncyte_layout_piece_t {
  int64_t first[SYNCYTE_MAX_NDIM]; /**< first point */
  int64_t count[SYNCYTE_MAX_NDIM]; /**< points along each axis, 1 or more */
  int64_t index[SYNCYTE_MAX_NDIM]; /**< place of the first point in the block's array, ghosts counted */
  int32_t rank;                    /**< the owner: the first rank of the block with the right copy */
  int32_t block;                   /**< number of the block among the rank's */
} syncyte_layout_piece_t;

/**
 * @brief {by_hand} Makes a layout whose axes are cut by the dimensions of a mesh. The first ranks of comm are on the
 * mesh in row-major order; those beyond it have no block. Collective; facts: the layout.
 * @param[in] comm a communicator, which the layout keeps alive
 * @param[in] ndim number of axes, 1 to SYNCYTE_MAX_NDIM
 * @param[in] cells {array(ndim)} cells along each axis
 * @param[in] mesh_ndim dimensions of the mesh, 1 to SYNCYTE_MAX_NDIM
 * @param[in] mesh {array(mesh_ndim)} ranks along each dimension of the mesh
 * @param[in] lengths_length length of lengths: the parts of all cut axes; ignored if lengths is null
 * @param[in] lengths {array(lengths_length), optional} cells of each part of the cut axes, axis by axis, or its weight,
 * without ceil and block; null: as the options say
 * @param[in] axes_length length of axes: mesh_ndim
 * @param[in] axes {array(axes_length)} the axis that each dimension of the mesh cuts; -1: it cuts none, and its ranks
 * have equal copies. If several cut one axis, the parts of the first one are cut further by the next
 * @param[in] options {optional} null for defaults
 * @param[out] layout the layout
 * @return SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_MISMATCH.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_create_mesh(syncyte_comm_t comm, int32_t ndim, const int64_t* cells,
                                                           int32_t mesh_ndim, const int32_t* mesh,
                                                           int64_t lengths_length, const int64_t* lengths,
                                                           int64_t axes_length, const int32_t* axes,
                                                           const syncyte_layout_options_t* options,
                                                           syncyte_layout_t* layout);

/**
 * @brief {by_hand} Makes a layout of blocks that the ranks have chosen. Each rank gives its own; together they hold
 * each cell once. Equal blocks of several ranks are copies. Collective; facts: cells, options.
 * @param[in] comm a communicator, which the layout keeps alive
 * @param[in] ndim number of axes, 1 to SYNCYTE_MAX_NDIM
 * @param[in] cells {array(ndim)} cells of the whole array along each axis
 * @param[in] firsts_length length of firsts: ndim for each of this rank's blocks, which may be none
 * @param[in] firsts {array(firsts_length), optional} first cell of each block, counted from 0
 * @param[in] counts_length length of counts: that of firsts
 * @param[in] counts {array(counts_length), optional} cells of each block along each axis, 0 or more
 * @param[in] options {optional} null for defaults; ceil, block and weighted are 0
 * @param[out] layout the layout
 * @return SYNCYTE_ERR_ARGUMENT (a block beyond the array; overlapping blocks; cells in no block), SYNCYTE_ERR_MISMATCH.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_create_blocks(syncyte_comm_t comm, int32_t ndim, const int64_t* cells,
                                                             int64_t firsts_length, const int64_t* firsts,
                                                             int64_t counts_length, const int64_t* counts,
                                                             const syncyte_layout_options_t* options,
                                                             syncyte_layout_t* layout);

/**
 * @brief {by_hand} Makes a layout of arrays whose rows are points of an unstructured mesh: each rank lists the points
 * of its own arrays along axis 0, in the order of the array and in any order of numbers. A point may be in several
 * lists, or in one several times; `truth` says which copy is right. The last points of a list may be ghosts, which a
 * bundle fills with the right copies. Every rank keeps all lists: 48 bytes for each run of consecutive points that the
 * same arrays have. Collective; facts: extents, truth.
 * @param[in] comm a communicator, which the layout keeps alive
 * @param[in] ndim number of axes, 1 to SYNCYTE_MAX_NDIM
 * @param[in] extents {array(ndim)} points of the whole array along axis 0, and extents of the others, which are whole
 * on each rank
 * @param[in] counts_length length of counts: the number of this rank's arrays, which may be 0
 * @param[in] counts {array(counts_length), optional} extent of each array along axis 0, ghosts included
 * @param[in] ghosts_length length of ghosts: that of counts; ignored if ghosts is null
 * @param[in] ghosts {array(ghosts_length), optional} number of ghosts at the end of each array; null: none
 * @param[in] points_length length of points: the sum of counts
 * @param[in] points {array(points_length), optional} the points, counted from 0, array after array
 * @param[in] truth SYNCYTE_TRUTH_LOWER: the copy of a point on the lowest rank is right, SYNCYTE_TRUTH_UPPER: on the
 * highest; SYNCYTE_TRUTH_EQUAL: all copies are equal
 * @param[out] layout the layout
 * @return SYNCYTE_ERR_ARGUMENT (a number that is no point; a point that no rank lists, or only as a ghost),
 * SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_create_indices(syncyte_comm_t comm, int32_t ndim, const int64_t* extents,
                                                              int64_t counts_length, const int64_t* counts,
                                                              int64_t ghosts_length, const int64_t* ghosts,
                                                              int64_t points_length, const int64_t* points,
                                                              syncyte_truth_t truth, syncyte_layout_t* layout);

/**
 * @brief {by_hand} Makes a layout of the same cells and blocks for arrays of other points: nodes or faces of a grid,
 * or with other ghosts. Axes that are periodic stay so; options may add others. Collective over the layout's
 * communicator; facts: the layout, options.
 * @param[in] layout a layout of cells
 * @param[in] options {optional} null for cells without ghosts; ceil, block and weighted are 0
 * @param[out] result the new layout
 * @return SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_MISMATCH.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_like(syncyte_layout_t layout, const syncyte_layout_options_t* options,
                                                    syncyte_layout_t* result);

/**
 * @brief Adds a reference. Local, thread-safe, without MPI.
 * @param[in] layout a layout
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_retain(syncyte_layout_t layout);

/**
 * @brief Drops a reference; the last release makes the handle invalid. Local, thread-safe, without MPI.
 * @param[in] layout a layout
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_release(syncyte_layout_t layout);

/**
 * @brief Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_layout_release().
 * @param[in,out] layout a layout
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_destroy(syncyte_layout_t* layout);

/**
 * @brief {lookup} Returns the communicator of a layout. Local.
 * @param[in] layout a layout
 * @param[out] comm a new reference to it, to be destroyed as any other handle
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_comm(syncyte_layout_t layout, syncyte_comm_t* comm);

/**
 * @brief {lookup, by_hand} Describes a layout, and one block of a rank. Local.
 * @param[in] layout a layout
 * @param[in] rank a rank of its communicator
 * @param[in] block 0 to the number of the rank's blocks - 1; if there is no such block, first and shape are 0
 * @param[in,out] info struct_size set by the caller
 * @return SYNCYTE_ERR_ARGUMENT for a number that is not a rank, or a negative block.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_describe(syncyte_layout_t layout, int32_t rank, int32_t block,
                                                        syncyte_layout_info_t* info);

/**
 * @brief {lookup, by_hand} Describes a layout as text, for people: a line for each block, with its rank, its first
 * point and the shape of its array. Local.
 * @param[in] layout a layout
 * @param[out] text the text; valid as long as the layout
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_text(syncyte_layout_t layout, const char** text);

/**
 * @brief {lookup, by_hand} Finds who has the points of a box, or one point: returns its pieces, which hold
 * each point once, at the block with the right copy. Local; the time grows with the blocks that the box meets. To learn
 * the number of pieces, pass capacity 0.
 * @param[in] layout a layout
 * @param[in] first_length length of first: the layout's axes
 * @param[in] first {array(first_length)} first point of the box
 * @param[in] count_length length of count: the layout's axes
 * @param[in] count {array(count_length)} points of the box along each axis, 0 or more
 * @param[in] capacity length of pieces; further ones are only counted
 * @param[out] pieces {array(capacity), optional} the pieces, block by block
 * @param[out] number number of pieces; 0 if the box has no points
 * @return SYNCYTE_ERR_INDEX outside the array, SYNCYTE_ERR_SHAPE (another number of axes, a negative count),
 * SYNCYTE_ERR_ARGUMENT (a negative capacity).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_pieces(syncyte_layout_t layout, int64_t first_length,
                                                      const int64_t* first, int64_t count_length, const int64_t* count,
                                                      int64_t capacity, syncyte_layout_piece_t* pieces,
                                                      int64_t* number);

/**
 * @brief {lookup, by_hand} Names the axes, and the units of the coordinates along them, for people: the
 * text of the layout has them, and the datasets of its fields in a checkpoint. Layouts made by layout_like() afterwards
 * have them too. Local; may be called once.
 * @param[in] layout a layout
 * @param[in] names {string} a name for each axis, with commas between: "y, x"
 * @param[in] units {string} null, or a unit for each axis: "m, m"
 * @return SYNCYTE_ERR_ARGUMENT (another number of names than axes; the axes have names already).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_name_axes(syncyte_layout_t layout, const char* names, const char* units);

/**
 * @brief {lookup, by_hand} Returns the names of the axes and their units. Local.
 * @param[in] layout a layout
 * @param[out] names the names, with ", " between; "" if there are none; valid as long as the layout
 * @param[out] units likewise
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_axis_names(syncyte_layout_t layout, const char** names,
                                                          const char** units);

/**
 * @brief {by_hand} Moves an array from one layout to another of the same extents and communicator: each point of a
 * target gets the value of the right copy. Ghosts are neither read nor written. Pairs of ranks exchange messages in
 * rounds, through buffer_bytes of memory on each rank, so that the array is whole nowhere unless `to` says so: a layout
 * with one block collects it on one rank, or on all. Collective; facts: dtype, both layouts, options.
 * @param[in] layout the layout of the arrays
 * @param[in] dtype element type, also on ranks without a block
 * @param[in] count number of arrays: this rank's blocks
 * @param[in] arrays {array(count), optional} the arrays of this rank's blocks, ghosts included, with any strides
 * @param[in] to the layout to move to
 * @param[in] target_count number of targets: this rank's blocks in `to`
 * @param[in] options {optional} null for defaults
 * @param[out] targets {array(target_count), optional} the arrays to fill, ghosts included, with any strides; separate
 * memory
 * @return SYNCYTE_ERR_ARGUMENT (number of arrays, buffer_bytes, overlapping memory), SYNCYTE_ERR_TYPE,
 * SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_relocate(syncyte_layout_t layout, syncyte_dtype_t dtype, int64_t count,
                                                        const syncyte_buffer_t* arrays, syncyte_layout_t to,
                                                        int64_t target_count, const syncyte_relocate_options_t* options,
                                                        const syncyte_buffer_t* targets);

/**
 * @brief {by_hand} The adjoint of syncyte_layout_relocate(): <R x, y> = <x, R' y>. Each place of the arrays becomes the
 * sum of the places of the targets that relocation fills from it, and 0 if there is none, as in ghosts and in copies
 * that are not the right ones. Sums are the same from run to run. Collective; facts: dtype, both layouts, options.
 * @param[in] layout the layout of the arrays
 * @param[in] dtype element type, also on ranks without a block
 * @param[in] count number of arrays: this rank's blocks
 * @param[in] to the layout of the targets
 * @param[in] target_count number of targets: this rank's blocks in `to`
 * @param[in] targets {array(target_count), optional} what to send back, ghosts included, which are not read; any
 * strides
 * @param[in] options {optional} null for defaults
 * @param[out] arrays {array(count), optional} the arrays to write, ghosts included, with any strides; separate memory
 * @return as syncyte_layout_relocate().
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_relocate_adjoint(syncyte_layout_t layout, syncyte_dtype_t dtype,
                                                                int64_t count, syncyte_layout_t to,
                                                                int64_t target_count, const syncyte_buffer_t* targets,
                                                                const syncyte_relocate_options_t* options,
                                                                const syncyte_buffer_t* arrays);

/**
 * Gets a slab: the axes' indices of its first point in the whole array, and its elements in host memory, dense in
 * row-major order, which are valid until it returns. Any status but SYNCYTE_SUCCESS ends the collection on all ranks.
 */
typedef syncyte_status_t (*syncyte_slab_fn_t)(void* context, const int64_t* first, const syncyte_buffer_t* slab);

/**
 * @brief {by_hand} Collects an array on one rank, slab by slab in row-major order, such as for a file or a
 * picture of one's own. No rank has more of the array than its own blocks and 8 MiB of messages, and root a slab.
 * Collective; facts: dtype, the layout, root, slab_bytes.
 * @param[in] layout the layout of the arrays
 * @param[in] dtype element type, also on ranks without a block
 * @param[in] count number of arrays: this rank's blocks
 * @param[in] arrays {array(count), optional} the arrays of this rank's blocks, ghosts included, which are not read; any
 * strides
 * @param[in] root the rank that gets the slabs
 * @param[in] slab_bytes most bytes of a slab, which has one element at least; 1 or more
 * @param[in] options {optional} null for defaults
 * @param[in] take {callback} called on root for each slab; it calls no collective
 * @param[in] context {optional} passed to it
 * @return as syncyte_layout_relocate(); the status of take.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_layout_collect(syncyte_layout_t layout, syncyte_dtype_t dtype, int64_t count,
                                                       const syncyte_buffer_t* arrays, int32_t root, int64_t slab_bytes,
                                                       const syncyte_collective_options_t* options,
                                                       syncyte_slab_fn_t take, void* context);

#ifdef __cplusplus
}
#endif

#endif
