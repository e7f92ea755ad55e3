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

/// False in a forked child of a rank.
bool is_started();

/// Whether this process was forked by a rank after start(). Such a child is no rank: it may read what is mapped, and
/// must neither call MPI nor change what ranks share. start() and finish() do nothing there.
bool is_forked_child();

/// Throws SYNCYTE_ERR_NOT_INITIALISED, saying whether it is too early or too late, unless started, and
/// SYNCYTE_ERR_UNSUPPORTED in a forked child.
void require_started();

/// As require_started(), for what works in forked children too.
void require_started_or_forked();

/// Throws SYNCYTE_ERR_UNSUPPORTED in a forked child, and names the way out.
void require_rank_process();

/// MPI's thread level, 0 to 3; -1 in a forked child, where no thread may call MPI.
int thread_level();

std::shared_ptr<communicator> world();
std::shared_ptr<communicator> self();

/// Makes a root of a foreign MPI communicator and keeps it until finish(). Collective over it; a handle that is no
/// intra-communicator is this rank's own error, and `argument` ("mpi_comm is") begins its message.
std::shared_ptr<communicator> adopt(MPI_Comm original, const communicator_options& options,
                                    const std::string& argument = "mpi_comm is");

/// communicator::make_group(), kept until finish(); what is wrong with `options` on one rank is every rank's error.
std::shared_ptr<communicator> group(communicator& parent, std::span<const std::int32_t> ranks, int tag,
                                    const communicator_options& options);

/// Ends the job at once; in a forked child this process only.
[[noreturn]] void abort_job(int exit_code);

/// What the end of Syncyte calls again and again on this rank, until it returns true: what libraries have started goes
/// on and ends, while everything works yet. `are_all_here`: all ranks have come to the end. Replaces what was to be
/// called before.
void call_before_end(bool (*step)(bool are_all_here) noexcept);

/// What abort_job() calls before it ends the job, on whichever thread; replaces what was to be called before.
void call_before_abort(void (*last_step)() noexcept);

}  // namespace syncyte::comm
