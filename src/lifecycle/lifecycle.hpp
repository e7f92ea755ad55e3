// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "base/error.hpp"
#include "lifecycle/end.hpp"

namespace syncyte::lifecycle {

/// Starts Syncyte, and MPI if it is not started; collective over MPI_COMM_WORLD. Repeated calls do nothing and return
/// false. `error` was found by the caller on this rank: all ranks get it, and nothing is started (MPI excepted). The
/// end calls `end_requests`.
bool start(int thread_level, const std::optional<base::error>& error = std::nullopt,
           requests_end end_requests = nullptr);

/// Ends Syncyte, and MPI if start() has started it; collective over MPI_COMM_WORLD. Repeated calls do nothing.
void finish();

}  // namespace syncyte::lifecycle
