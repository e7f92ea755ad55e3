/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file syncyte.h
 * @brief The whole C interface of Syncyte, without MPI's headers; syncyte_mpi.h adds functions that take an MPI_Comm.
 */
#ifndef SYNCYTE_H
#define SYNCYTE_H

#include "syncyte/base.h"
#include "syncyte/bundle.h"
#include "syncyte/cache.h"
#include "syncyte/cart.h"
#include "syncyte/collectives.h"
#include "syncyte/comm.h"
#include "syncyte/halo.h"
#include "syncyte/layout.h"
#include "syncyte/memory.h"
#include "syncyte/messages.h"
#include "syncyte/models.h"
#include "syncyte/nonblocking.h"
#include "syncyte/reducer.h"
#include "syncyte/rows.h"
#include "syncyte/store.h"
#include "syncyte/tensor.h"
#include "syncyte/window.h"

#endif
