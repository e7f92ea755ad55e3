#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "comm/communicator.hpp"

namespace syncyte::runtime {

/// Start and end; collective over MPI_COMM_WORLD. Repeated calls do nothing, and start() returns false there. `error`
/// was found by the caller on this rank: all ranks get it, and nothing is started (MPI excepted).
bool start(int thread_level, std::optional<base::error> error = std::nullopt);
void finish();

std::shared_ptr<comm::communicator> world();
std::shared_ptr<comm::communicator> self();

/// Makes a root of a foreign MPI communicator and keeps it until finish(). Collective over it; a handle that is
/// no intra-communicator is this rank's own error, and `argument` ("mpi_comm is") begins its message.
std::shared_ptr<comm::communicator> adopt(MPI_Comm original, const comm::communicator_options& options,
                                          const std::string& argument = "mpi_comm is");

/// make_group(), kept until finish(); all ranks get an error in `options` of one rank.
std::shared_ptr<comm::communicator> group(comm::communicator& parent, std::span<const std::int32_t> ranks, int tag,
                                          const comm::communicator_options& options);

/// Sets the function that finish() calls repeatedly on this rank until it returns true, while all of Syncyte still
/// works: libraries end their operations there. `are_all_here`: all ranks have called finish(). Replaces an earlier
/// function.
void call_before_end(bool (*step)(bool are_all_here) noexcept);

/// Steps of lower layers at the end. No step waits for other ranks.
struct end_steps {
  bool (*is_drained)() noexcept;    ///< whether all that this rank has started is done; asked until it is
  void (*all_are_here)() noexcept;  ///< all ranks have come to finish(): links between them are closed
  void (*progress)() noexcept;      ///< called while this rank waits until all have closed theirs
  void (*last)() noexcept;          ///< communicators are freed, or cannot be because a rank died; MPI still works
};

/// Sets the functions that finish() calls on this rank; replaces earlier ones. `steps` stays.
void call_at_end(const end_steps& steps);

}  // namespace syncyte::runtime
