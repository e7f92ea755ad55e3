#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "comm/communicator.hpp"

namespace syncyte::comm {

/// An MPI communicator of some ranks of `comm`, in the order of the list; collective over these alone. Throws
/// SYNCYTE_ERR_ARGUMENT on this rank for a wrong tag or a list without it, on all ranks of the list for what else is
/// wrong with it, and SYNCYTE_ERR_MISMATCH where their lists differ: then no further group of `comm` can be made.
MPI_Comm create_group(communicator& comm, std::span<const std::int32_t> ranks, int tag);

}  // namespace syncyte::comm
