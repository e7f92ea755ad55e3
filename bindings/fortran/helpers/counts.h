/**
 * @file counts.h
 * @brief Vectors with an entry per rank.
 */
#pragma once

#include "descriptor.h"

/**
 * Reads a vector with an entry per rank from integers of any kind. counts is to be freed; null on a failure, with which
 * every collective refuses it on all ranks.
 */
syncyte_status_t fortran_counts(syncyte_comm_t comm, const CFI_cdesc_t* array, const char* name, int64_t** counts);

/** Number of ranks; 0 if comm is none. */
int64_t fortran_ranks(syncyte_comm_t comm);
