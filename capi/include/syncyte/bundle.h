/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file bundle.h
 * @brief Bundles: fields of one communicator, each with a layout, whose halos travel together.
 *
 * A field is an array that a layout cuts: each rank gives the arrays of its blocks once, and they are used in place by
 * every later call. A rank sends one message to each of its neighbours, diagonal ones included, for all fields: cells,
 * nodes and faces, of any element types and ghost widths.
 *
 * - syncyte_bundle_exchange() gives each ghost the value of its point: the right copy. Ghosts beyond an edge of the
 *   array that is not periodic are not written. Copies of shared points that are not right by the layout's rule
 *   (::syncyte_truth_values) get the right value too.
 * - syncyte_bundle_accumulate() is its adjoint: <H x, y> = <x, H' y>. It adds each ghost to the point that the ghost
 *   copies, and sets the ghost to 0. A block that several ranks have counts once, and all of its copies get the sums.
 * - syncyte_bundle_sum() replaces each point that several blocks store by the sum of their copies, added in ascending
 *   order of ranks everywhere, so that all copies are equal bit for bit. Ghosts are neither read nor written.
 *
 * A bundle and its fields are made collectively. The three operations are messages between neighbours, without an
 * agreement of all ranks; all ranks of the communicator call them in the same order, those without a block too. A rank
 * with wrong arguments sends its neighbours an error instead of elements, so that they do not wait forever. Neighbours
 * that call different operations, or with a different depth or mask, get SYNCYTE_ERR_MISMATCH. The contents of the
 * arrays after an error are undefined. After SYNCYTE_ERR_MPI the bundle may stay in use by MPI, and then returns
 * SYNCYTE_ERR_BUSY.
 *
 * The started forms (bundle_iexchange for bundle_exchange; see generated/bundle.h) do not wait. A bundle has at most
 * one operation in flight; several bundles may have one each.
 */
#ifndef SYNCYTE_BUNDLE_H
#define SYNCYTE_BUNDLE_H

#include "syncyte/collectives.h"
#include "syncyte/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A bundle of fields. */
typedef struct syncyte_bundle_s* syncyte_bundle_t;

/**
 * @brief {by_hand} Makes a bundle without fields. Collective.
 * @param[in] comm a communicator, which the bundle keeps alive
 * @param[out] bundle the bundle
 * @return SYNCYTE_ERR_MISMATCH.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_create(syncyte_comm_t comm, syncyte_bundle_t* bundle);

/**
 * @brief Adds a reference. Local, thread-safe, without MPI.
 * @param[in] bundle a bundle
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_retain(syncyte_bundle_t bundle);

/**
 * @brief Drops a reference; the last release makes the handle invalid. Local, thread-safe, without MPI: its memory is
 * freed at once, or when its operation in flight has ended.
 * @param[in] bundle a bundle
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_release(syncyte_bundle_t bundle);

/**
 * @brief Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_bundle_release().
 * @param[in,out] bundle a bundle
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_destroy(syncyte_bundle_t* bundle);

/**
 * @brief {lookup} Returns the communicator of a bundle. Local.
 * @param[in] bundle a bundle
 * @param[out] comm a new reference to it, to be destroyed as any other handle
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_comm(syncyte_bundle_t bundle, syncyte_comm_t* comm);

/**
 * @brief {by_hand} Adds a field. Collective over the bundle's communicator; facts: name, dtype, layout.
 * @param[in] bundle a bundle
 * @param[in] name {string} name of the field, which no other field of the bundle has
 * @param[in] layout a layout of the bundle's communicator, which the bundle keeps alive; no ghosts along an axis that
 * is dealt out in blocks
 * @param[in] dtype element type, also on ranks without a block
 * @param[in] count number of arrays: this rank's blocks
 * @param[in,out] arrays {array(count), optional} the arrays of this rank's blocks, ghosts included, with any strides,
 * in memory that no other array of the bundle has. The memory must stay until the bundle has gone, or has other arrays
 * @return SYNCYTE_ERR_ARGUMENT (a name that is taken, another communicator, number of arrays, overlapping
 * memory), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH; SYNCYTE_ERR_BUSY while an operation is
 * in flight.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_add(syncyte_bundle_t bundle, const char* name, syncyte_layout_t layout,
                                                   syncyte_dtype_t dtype, int64_t count,
                                                   const syncyte_buffer_t* arrays);

/**
 * @brief {by_hand} Takes other arrays for a field. Local.
 * @param[in] bundle a bundle
 * @param[in] name {string} name of the field
 * @param[in] count number of arrays: this rank's blocks
 * @param[in,out] arrays {array(count), optional} as those of syncyte_bundle_add()
 * @return as syncyte_bundle_add().
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_set_arrays(syncyte_bundle_t bundle, const char* name, int64_t count,
                                                          const syncyte_buffer_t* arrays);

/**
 * @brief {lookup} Returns the number of fields. Local.
 * @param[in] bundle a bundle
 * @param[out] count the number
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_fields(syncyte_bundle_t bundle, int64_t* count);

/**
 * @brief {lookup, by_hand} Describes a field. Local.
 * @param[in] bundle a bundle
 * @param[in] number 0 to the number of fields - 1, in the order in which they were added
 * @param[out] name its name, valid until the bundle gets another field or is destroyed
 * @param[out] layout a new reference to its layout, to be destroyed as any other handle
 * @param[out] dtype its element type
 * @return SYNCYTE_ERR_INDEX.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_field(syncyte_bundle_t bundle, int64_t number, const char** name,
                                                     syncyte_layout_t* layout, syncyte_dtype_t* dtype);

/**
 * @brief {lookup, by_hand} Returns the array of one of this rank's blocks. Local.
 * @param[in] bundle a bundle
 * @param[in] number of the field, as of syncyte_bundle_field()
 * @param[in] block 0 to the number of this rank's blocks - 1
 * @param[in,out] array struct_size set by the caller; the memory is the user's
 * @return SYNCYTE_ERR_INDEX.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_array(syncyte_bundle_t bundle, int64_t number, int32_t block,
                                                     syncyte_buffer_t* array);

/**
 * @brief {by_hand, started} Fills the ghosts. All ranks of the communicator call it; waits for the neighbours only.
 * @param[in] bundle a bundle; its arrays may not be read in their ghosts nor written until the end
 * @param[in] depth ghosts at each end of an axis, at most those of the widest field; 0: all. A field with fewer ghosts
 * has all of them filled
 * @param[in] only_length length of only: the number of fields; ignored if only is null
 * @param[in] only {array(only_length), optional} 1 for each field that takes part, otherwise 0, in the order in which
 * the fields were added; null: all
 * @return SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_SHAPE; the status of a neighbour that failed; SYNCYTE_ERR_MISMATCH if a
 * neighbour calls another operation, or with another depth or mask; SYNCYTE_ERR_BUSY while another operation of this
 * bundle is in flight.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_exchange(syncyte_bundle_t bundle, int64_t depth, int64_t only_length,
                                                        const int32_t* only);

/**
 * @brief {by_hand, started} Adjoint of syncyte_bundle_exchange(): adds the ghosts to the points that they copy, and
 * sets them to 0. The order of the additions is fixed. bool is added as a logical or; 16-bit floats are rounded at
 * every addition. All ranks of the communicator call it; waits for the neighbours only.
 * @param[in] bundle a bundle; its arrays may be neither read nor written until the end
 * @param[in] depth as of syncyte_bundle_exchange()
 * @param[in] only_length length of only: the number of fields; ignored if only is null
 * @param[in] only {array(only_length), optional} as of syncyte_bundle_exchange()
 * @return as syncyte_bundle_exchange().
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_accumulate(syncyte_bundle_t bundle, int64_t depth, int64_t only_length,
                                                          const int32_t* only);

/**
 * @brief {by_hand, started} Adds the copies of shared points. All ranks of the communicator call it; waits for the
 * neighbours only. It is its own adjoint.
 * @param[in] bundle a bundle; its arrays may be neither read nor written until the end
 * @param[in] only_length length of only: the number of fields; ignored if only is null
 * @param[in] only {array(only_length), optional} as of syncyte_bundle_exchange()
 * @return as syncyte_bundle_exchange().
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_sum(syncyte_bundle_t bundle, int64_t only_length, const int32_t* only);

/**
 * @brief {by_hand} Does an operation on other arrays than the bundle's, and compares facts with the neighbours: for
 * libraries on top, whose operation must be the same on both neighbours. All ranks of the communicator call it; waits
 * for the neighbours only.
 * @param[in] bundle a bundle
 * @param[in] operation 0: as syncyte_bundle_exchange(), which a neighbour may call instead; 1: as
 * syncyte_bundle_accumulate(); 2: as syncyte_bundle_sum()
 * @param[in] depth as of syncyte_bundle_exchange(); 0 for a sum
 * @param[in] only_length length of only: the number of fields; ignored if only is null
 * @param[in] only {array(only_length), optional} as of syncyte_bundle_exchange()
 * @param[in] options {optional} null for defaults; fact_count at most 2. Facts that a neighbour does not pass are 0
 * @param[in] count number of arrays
 * @param[in,out] arrays {array(count), optional} the arrays of this rank's blocks of the fields that take part, field
 * by field, as those of syncyte_bundle_add(); read and written during the call
 * @return as syncyte_bundle_exchange(); SYNCYTE_ERR_MISMATCH, with a message that names the fact and both ranks, if a
 * neighbour has a different fact.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_bundle_transfer(syncyte_bundle_t bundle, int32_t operation, int64_t depth,
                                                        int64_t only_length, const int32_t* only,
                                                        const syncyte_collective_options_t* options, int64_t count,
                                                        const syncyte_buffer_t* arrays);

#ifdef __cplusplus
}
#endif

#include "syncyte/generated/bundle.h"

#endif
