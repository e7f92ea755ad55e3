// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/communicator.hpp"

namespace syncyte::comm {

/// Throws SYNCYTE_ERR_PEER_DIED after a death of any rank of the job: names the ranks that have died by their numbers
/// in `comm` and in the world.
[[noreturn]] void fail_by_death(const communicator& comm);

}  // namespace syncyte::comm
