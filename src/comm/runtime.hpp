#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "comm/communicator.hpp"

namespace syncyte::comm {

/// Start and end; collective over MPI_COMM_WORLD. Repeated calls do nothing. `error` is what the caller found wrong on
/// this rank: all ranks are told, and nothing is started (MPI excepted).
void start(int thread_level, std::optional<base::error> error = std::nullopt);
void finish();

std::shared_ptr<communicator> world();
std::shared_ptr<communicator> self();

/// Makes a root of a foreign MPI communicator and keeps it until finish(). Collective over it; a handle that is no
/// intra-communicator is this rank's own error, and `argument` ("mpi_comm is") begins its message.
std::shared_ptr<communicator> adopt(MPI_Comm original, const communicator_options& options,
                                    const std::string& argument = "mpi_comm is");

/// make_group(), kept until finish(); what is wrong with `options` on one rank is every rank's error.
std::shared_ptr<communicator> group(communicator& parent, std::span<const std::int32_t> ranks, int tag,
                                    const communicator_options& options);

/// What the end of Syncyte calls again and again on this rank, until it returns true: what libraries have started goes
/// on and ends, while everything works yet. `are_all_here`: all ranks have come to the end. Replaces what was to be
/// called before.
void call_before_end(bool (*step)(bool are_all_here) noexcept);

}  // namespace syncyte::comm
