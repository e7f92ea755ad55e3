/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file cart.h
 * @brief Cartesian communicators: ranks on a grid of one or more dimensions.
 *
 * A Cartesian communicator is an ordinary communicator, made by MPI_Cart_create, here or by the application
 * (syncyte_comm_from_mpi()): all collectives and messages work on it, and MPI's own calls know its grid
 * (syncyte_comm_to_fortran()). Its ranks lie on the grid in row-major order: rank 0 is at the origin, and the last
 * coordinate changes fastest. Coordinates count from 0. Its duplicates are Cartesian too; communicators split from it
 * (syncyte_comm_split()) are not. syncyte/halo.h exchanges the borders of arrays between neighbours on the grid.
 */
#ifndef SYNCYTE_CART_H
#define SYNCYTE_CART_H

#include "syncyte/messages.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief {by_hand} Makes a Cartesian communicator of the first ranks of a communicator. Collective; facts: ndim, dims,
 * periods.
 * @param[in] comm a communicator
 * @param[in] ndim dimensions of the grid, 1 to SYNCYTE_MAX_NDIM
 * @param[in] dims {array(ndim)} ranks along each dimension; 0: chosen, so that the grid holds all ranks and the
 * chosen dims are as even as possible (MPI_Dims_create)
 * @param[in] periods_length length of periods: ndim
 * @param[in] periods {array(periods_length), optional} for each dimension 1 if it is periodic (the last rank's
 * neighbour is the first one), otherwise 0; null: 0 for all
 * @param[in] options {optional} null for defaults
 * @param[out] cart the Cartesian communicator; a null handle on ranks beyond the grid
 * @return SYNCYTE_ERR_ARGUMENT if the grid is larger than the communicator, or if dims cannot be chosen because the
 * number of ranks is not a multiple of the given ones.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cart_create(syncyte_comm_t comm, int32_t ndim, const int32_t* dims,
                                                    int64_t periods_length, const int32_t* periods,
                                                    const syncyte_comm_options_t* options, syncyte_comm_t* cart);

/**
 * @brief {lookup, by_hand} Returns the number of dimensions of the grid; 0 for a communicator that is not Cartesian.
 * Local.
 * @param[in] cart a communicator
 * @param[out] ndim the number
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cart_ndim(syncyte_comm_t cart, int32_t* ndim);

/**
 * @brief {lookup, by_hand} Returns the grid's dims and periods. Local.
 * @param[in] cart a Cartesian communicator
 * @param[in] ndim its number of dimensions
 * @param[out] dims {array(ndim), optional} ranks along each dimension
 * @param[out] periods {array(ndim), optional} 1 for a periodic dimension, otherwise 0
 * @return SYNCYTE_ERR_ARGUMENT if cart is not Cartesian or has another number of dimensions.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cart_grid(syncyte_comm_t cart, int32_t ndim, int32_t* dims, int32_t* periods);

/**
 * @brief {lookup, by_hand} Returns a rank's coordinates on the grid. Local.
 * @param[in] cart a Cartesian communicator
 * @param[in] rank one of its ranks
 * @param[in] ndim its number of dimensions
 * @param[out] coords {array(ndim)} 0 to the dims - 1
 * @return SYNCYTE_ERR_ARGUMENT (not Cartesian, rank, ndim).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cart_coords(syncyte_comm_t cart, int32_t rank, int32_t ndim, int32_t* coords);

/**
 * @brief {lookup, by_hand} Returns the rank at some coordinates. Local.
 * @param[in] cart a Cartesian communicator
 * @param[in] ndim its number of dimensions
 * @param[in] coords {array(ndim)} any numbers; they wrap round in periodic dimensions
 * @param[out] rank the rank; SYNCYTE_PROC_NULL beyond the edge of a dimension that is not periodic
 * @return SYNCYTE_ERR_ARGUMENT (not Cartesian, ndim).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cart_rank_at(syncyte_comm_t cart, int32_t ndim, const int32_t* coords,
                                                     int32_t* rank);

/**
 * @brief {lookup, by_hand} Returns this rank's neighbours in a shift, in which all ranks send `displacement` places up
 * along a dimension. Local.
 * @param[in] cart a Cartesian communicator
 * @param[in] dimension 0 to ndim - 1
 * @param[in] displacement number of places; negative: down
 * @param[out] source {optional} rank that sends to this rank; SYNCYTE_PROC_NULL beyond an edge
 * @param[out] dest {optional} rank that receives from this rank; SYNCYTE_PROC_NULL beyond an edge
 * @return SYNCYTE_ERR_ARGUMENT (not Cartesian, dimension).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cart_shift(syncyte_comm_t cart, int32_t dimension, int32_t displacement,
                                                   int32_t* source, int32_t* dest);

#ifdef __cplusplus
}
#endif

#endif
