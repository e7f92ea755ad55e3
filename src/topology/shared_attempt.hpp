// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>

#include "base/error.hpp"
#include "memory/shared_segment.hpp"

namespace syncyte::topology {

/// Memory shared by the ranks of `node`, whose rank 0 leads, or an error on the ranks where it failed: they do
/// not agree on it. Collective over node.
struct shared_attempt {
  memory::segment segment;
  std::optional<base::error> error;
  int successes = 0;  // number of ranks that have it
};
shared_attempt share_segment(MPI_Comm node, std::size_t bytes, memory::sharing method);

}  // namespace syncyte::topology
