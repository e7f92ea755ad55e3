// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "comm/communicator.hpp"

namespace syncyte::runtime {

// The roots of this process (root.hpp).

/// Makes world() and self(). Collective over MPI_COMM_WORLD: all ranks get one rank's `error`, or an error of its
/// environment, and then keep nothing. For the start.
comm::communicator& open_roots(const std::optional<base::error>& error);

/// Frees all communicators and what was made on them; MPI still works. Collective over MPI_COMM_WORLD. For the end.
void free_roots();

std::shared_ptr<comm::communicator> world();
std::shared_ptr<comm::communicator> self();

/// Makes a root of a foreign MPI communicator and keeps it until free_roots(). Collective over it. A handle that is
/// no intra-communicator is an error of this rank alone, and `argument` ("mpi_comm is") begins its message.
std::shared_ptr<comm::communicator> adopt(MPI_Comm original, const comm::communicator_options& options,
                                          const std::string& argument = "mpi_comm is");

/// make_group(), kept until free_roots(); all ranks get an error in `options` of one rank.
std::shared_ptr<comm::communicator> group(comm::communicator& parent, std::span<const std::int32_t> ranks, int tag,
                                          const comm::communicator_options& options);

}  // namespace syncyte::runtime
