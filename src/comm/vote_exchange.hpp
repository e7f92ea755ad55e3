// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/agreement.hpp"
#include "comm/members_wait.hpp"
#include "comm/small_reduction.hpp"

namespace syncyte::comm {

/// The highest votes of all ranks of `comm`, by messages; while it polls for them, operations in flight make
/// progress. A rank that has departed (departures.hpp) is voted for by those who wait for it: then all other ranks
/// throw SYNCYTE_ERR_MISMATCH, which names it. The ranks' `carried` elements are reduced on the way, with the same bits
/// on all ranks; null for none; undefined if the votes do not agree. Collective.
agreement::vote_t exchange_votes(communicator& comm, const char* operation, members_wait::kind kind,
                                 const agreement::vote_t& local, small_reduction* carried);

}  // namespace syncyte::comm
