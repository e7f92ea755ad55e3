// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <optional>

#include "base/error.hpp"
#include "memory/descriptor.hpp"

namespace syncyte::topology {

/// A descriptor of another rank, or an error on the ranks where that failed: they do not agree on it.
struct descriptor_attempt {
  memory::descriptor file;
  std::optional<base::error> error;
};

/// Gives a descriptor of rank `owner` of `node` to all other ranks, through a Unix socket: in the network namespace, or
/// in TMPDIR where the ranks have several. `mine` is the owner's, and may be empty: nobody gets one then. Collective
/// over node.
descriptor_attempt share_descriptor(MPI_Comm node, int owner, const memory::descriptor& mine);

}  // namespace syncyte::topology
