// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/communicator.hpp"

namespace syncyte::lifecycle {

/// Starts the watchdog on all ranks, with a board in memory that each node shares. Collective over the world; all
/// ranks get the error of one whose environment is wrong.
void watch_job(comm::communicator& world);

}  // namespace syncyte::lifecycle
