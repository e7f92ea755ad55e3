#pragma once

#include <memory>

#include "comm/communicator.hpp"
#include "handle_table.hpp"
#include "syncyte/comm.h"
#include "trace.hpp"

namespace syncyte::capi {

using comm_table = handle_table<syncyte_comm_t, comm::communicator>;

/// The communicators behind handles.
comm_table& comms();

/// A reference to a communicator; null gives a null handle. The number is the same in all handles of a communicator, on
/// all its ranks: fixed for the world and self, random for others, so that it means no communicator in another job.
syncyte_comm_t handle_of(std::shared_ptr<comm::communicator> comm);

/// The communicator of a C argument, which the trace names; throws SYNCYTE_ERR_HANDLE.
inline std::shared_ptr<comm::communicator> find_comm(syncyte_comm_t comm) {
  auto found = comms().find(comm, "comm");
  trace_comm(found->name());
  return found;
}

/// Options of a new communicator; what is wrong with them, or with the place for the result, is brought into the
/// collective that makes it.
comm::communicator_options comm_options(const syncyte_comm_options_t* given, const syncyte_comm_t* result,
                                        const char* argument);

}  // namespace syncyte::capi
