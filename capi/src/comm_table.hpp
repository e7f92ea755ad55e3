#pragma once

#include <memory>

#include "comm/communicator.hpp"
#include "handle_tables.hpp"

namespace syncyte::capi {

/// A handle that holds a reference to the communicator; null gives a null handle. The handle's number is equal for all
/// handles of a communicator, on all its ranks. It is fixed for the world and self, and random for others, so that it
/// is not valid in another job.
syncyte_comm_t handle_of(std::shared_ptr<comm::communicator> comm);

/// The communicator of a C argument, which it also records for the trace; throws SYNCYTE_ERR_HANDLE.
inline auto find_comm(syncyte_comm_t comm) { return find_traced(tables::comm(), comm, "comm"); }

/// Options of a new communicator. An error in them, or in the output parameter, is stored, for the collective that
/// makes it to report on all ranks.
comm::communicator_options comm_options(const syncyte_comm_options_t* given, const syncyte_comm_t* result,
                                        const char* argument);

}  // namespace syncyte::capi
