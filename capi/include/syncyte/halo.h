/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file halo.h
 * @brief Halo exchange: ghost cells of arrays that are cut along the dimensions of a Cartesian communicator.
 *
 * Each rank's array is a part of a whole: dimension d of the grid cuts axis axes[d]. Both ends of such an axis have
 * ghost cells, low[d] at the first indices and high[d] at the last ones; the rest is the interior. An exchange copies
 * the neighbours' interior cells next to the border into the ghosts. With one rank along a periodic dimension the
 * neighbour is the rank itself. Ghosts beyond an edge of a grid that is not periodic are not written: they may hold
 * boundary values.
 *
 * Each element of the whole must lie in exactly one interior; a halo cannot check this. Node and face arrays, in which
 * both neighbours have the point on their border, are for bundles (bundle.h).
 *
 * With corners (the default) the dimensions are exchanged one after the other, and later ones include the ghosts that
 * earlier ones have filled, so that ghosts at corners and edges of the box get diagonal neighbours' cells. Without
 * corners all dimensions are exchanged at once, and ghosts beyond the interior along two axes are not written.
 *
 * An exchange is a linear map H on the arrays of all ranks together: it copies cells to ghosts and leaves all other
 * elements unchanged. syncyte_halo_accumulate() is its adjoint H': <H x, y> = <x, H' y>. It adds each ghost to the cell
 * that the ghost copies, and sets the ghost to 0; the order of the additions is fixed.
 *
 * A halo is made once, collectively. Its exchanges are messages between neighbours, without an agreement of all ranks;
 * all ranks must use their halos in the same order. A rank with a wrong array sends its neighbours an error instead of
 * elements, which names the rank, so that they do not wait forever; neighbours that call different functions of a halo
 * get an error too. The contents of the array after an error are undefined. After SYNCYTE_ERR_MPI the halo
 * may stay in use by MPI, and then returns SYNCYTE_ERR_BUSY.
 *
 * The started form of an exchange (halo_iexchange for halo_exchange; see generated/halo.h) does not wait; all ranks
 * call it. A halo has at most one exchange in flight. It makes progress whenever this rank waits in Syncyte; further
 * phases (corners) are sent then.
 */
#ifndef SYNCYTE_HALO_H
#define SYNCYTE_HALO_H

#include "syncyte/cart.h"
#include "syncyte/collectives.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A halo: the plan of an exchange of ghost cells, for arrays of one shape. */
typedef struct syncyte_halo_s* syncyte_halo_t;

/** Options of a halo. */
typedef struct syncyte_halo_options_t {
  size_t struct_size; /**< sizeof(syncyte_halo_options_t) */
  int32_t corners;    /**< {default(1)} 1: include corners; 0: only ghosts beyond the interior along one axis */
  int32_t reserved;   /**< 0 */
} syncyte_halo_options_t;

/** All defaults: `syncyte_halo_options_t options = SYNCYTE_HALO_OPTIONS_INIT;`. Zeros would leave out corners. */
#define SYNCYTE_HALO_OPTIONS_INIT {sizeof(syncyte_halo_options_t), 1, 0}

/**
 * @brief {by_hand} Makes a halo. Collective over cart; facts: dtype, ndim, axes, low, high, options->corners, extents
 * along the other axes. Extents along a cut axis may differ, but must be equal on ranks with the same place along that
 * dimension.
 * @param[in] cart a Cartesian communicator, which the halo keeps alive
 * @param[in] dtype element type of the arrays
 * @param[in] ndim dimensions of the arrays, at least those of the grid
 * @param[in] shape {array(ndim)} extents of this rank's arrays, ghosts included
 * @param[in] low_length length of low: the grid's dimensions
 * @param[in] low {array(low_length)} ghost cells at the low end of each of these axes, 0 or more
 * @param[in] high_length length of high: the grid's dimensions
 * @param[in] high {array(high_length)} ghost cells at the high end
 * @param[in] axes_length length of axes: the grid's dimensions; ignored if axes is null
 * @param[in] axes {array(axes_length), optional} axis that each dimension of the grid cuts; negative ones count from
 * the end; null: 0, 1, ...
 * @param[in] options {optional} null for defaults
 * @param[out] halo the halo
 * @return SYNCYTE_ERR_ARGUMENT (cart is not Cartesian, axes, widths), SYNCYTE_ERR_SHAPE (no room for the ghosts; an
 * interior smaller than a neighbour's ghosts of it), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_MISMATCH.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_halo_create(syncyte_comm_t cart, syncyte_dtype_t dtype, int32_t ndim,
                                                    const int64_t* shape, int64_t low_length, const int64_t* low,
                                                    int64_t high_length, const int64_t* high, int64_t axes_length,
                                                    const int32_t* axes, const syncyte_halo_options_t* options,
                                                    syncyte_halo_t* halo);

/**
 * @brief Adds a reference. Local, thread-safe, without MPI.
 * @param[in] halo a halo
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_halo_retain(syncyte_halo_t halo);

/**
 * @brief Drops a reference; the last release makes the handle invalid. Local, thread-safe, without MPI: a halo's memory
 * is local, unlike a window's, and is freed at once, or when its exchange in flight has ended.
 * @param[in] halo a halo
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_halo_release(syncyte_halo_t halo);

/**
 * @brief Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_halo_release().
 * @param[in,out] halo a halo
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_halo_destroy(syncyte_halo_t* halo);

/**
 * @brief {lookup, by_hand} Returns the arrays that a halo is for. Local.
 * @param[in] halo a halo
 * @param[in,out] array struct_size set by the caller; dtype and shape, without memory
 * @param[in,out] interior {optional} struct_size set by the caller; the interior of a contiguous array: shape, strides,
 * and the offset of its first cell in bytes, as data
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_halo_describe(syncyte_halo_t halo, syncyte_buffer_t* array,
                                                      syncyte_buffer_t* interior);

/**
 * @brief {lookup} Returns the communicator of a halo. Local.
 * @param[in] halo a halo
 * @param[out] cart a new reference to it, to be destroyed as any other handle
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_halo_comm(syncyte_halo_t halo, syncyte_comm_t* cart);

/**
 * @brief {by_hand, started} Fills the ghosts. All ranks of the communicator call it; waits for the neighbours only.
 * @param[in] halo a halo
 * @param[in,out] array {kept_if_started(must stay and may not be read in its ghosts nor written in cells that ghosts
 * copy)} array of the halo's dtype and shape; any strides, but 0 only if the extent is 1
 * @return SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE; the status of a neighbour that failed; SYNCYTE_ERR_MISMATCH if a
 * neighbour calls another function of the halo; SYNCYTE_ERR_BUSY while another exchange of this halo is in flight.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_halo_exchange(syncyte_halo_t halo, const syncyte_buffer_t* array);

/**
 * @brief {by_hand, started} Adjoint of syncyte_halo_exchange(): adds the ghosts to the cells that they copy, and sets
 * them to 0. All ranks of the communicator call it; waits for the neighbours only. bool is added as a logical or;
 * 16-bit floats are rounded at every addition.
 * @param[in] halo a halo
 * @param[in,out] array {kept_if_started} array of the halo's dtype and shape; any strides, but 0 only if the extent is
 * 1
 * @return as syncyte_halo_exchange().
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_halo_accumulate(syncyte_halo_t halo, const syncyte_buffer_t* array);

/**
 * @brief {by_hand} Exchanges or accumulates, and compares facts with the neighbours: for libraries on top, whose
 * operation must be the same on both neighbours. All ranks of the communicator call it; waits for the neighbours only.
 * @param[in] halo a halo
 * @param[in] adjoint 0: as syncyte_halo_exchange(), which a neighbour may call instead; 1: as syncyte_halo_accumulate()
 * @param[in] options {optional} null for defaults; fact_count at most 7. Facts that a neighbour does not pass are 0
 * @param[in,out] array array of the halo's dtype and shape; any strides, but 0 only if the extent is 1
 * @return as syncyte_halo_exchange(); SYNCYTE_ERR_MISMATCH on all ranks with a neighbour that has a different fact,
 * with a message that names the fact and both ranks. A rank receives the facts of a neighbour if its own ghosts copy
 * cells of that neighbour (adjoint: if the neighbour's ghosts copy its cells).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_halo_transfer(syncyte_halo_t halo, int32_t adjoint,
                                                      const syncyte_collective_options_t* options,
                                                      const syncyte_buffer_t* array);

/**
 * @brief {lookup} Returns the number of exchanges and accumulates that this rank has begun. Local. Neighbours compare
 * it; so it identifies the last one.
 * @param[in] halo a halo
 * @param[out] number 0 for a new halo
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_halo_sequence(syncyte_halo_t halo, int64_t* number);

#ifdef __cplusplus
}
#endif

#include "syncyte/generated/halo.h"

#endif
