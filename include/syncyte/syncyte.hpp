// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file syncyte.hpp The whole C++ interface of Syncyte, without MPI's headers; syncyte/mpi.hpp adds from_mpi(), which
/// takes an MPI_Comm.

#include "syncyte/base.hpp"
#include "syncyte/bundle.hpp"
#include "syncyte/cache.hpp"
#include "syncyte/cart.hpp"
#include "syncyte/comm.hpp"
#include "syncyte/halo.hpp"
#include "syncyte/layout.hpp"
#include "syncyte/memory.hpp"
#include "syncyte/models.hpp"
#include "syncyte/reducer.hpp"
#include "syncyte/store.hpp"
#include "syncyte/tensor.hpp"
#include "syncyte/window.hpp"
