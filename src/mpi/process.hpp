// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace syncyte::mpi {

/// The state of this process: not started, a rank between start() and finish() (lifecycle/lifecycle.hpp), a forked
/// child of a rank, or at its end.

/// False in a forked child of a rank.
bool is_started();

/// Whether this process was forked by a rank after start(). Such a child is no rank: it may read mapped memory, and
/// must neither call MPI nor change memory that ranks share.
bool is_forked_child();

/// Whether finish() has begun in this process.
bool was_finished();

/// Throws SYNCYTE_ERR_NOT_INITIALIZED, saying whether it is too early or too late, unless started, and
/// SYNCYTE_ERR_UNSUPPORTED in a forked child.
void require_started();

/// require_started() for operations that work in forked children too.
void require_started_or_forked();

/// Throws SYNCYTE_ERR_UNSUPPORTED in a forked child; the message says what to do instead.
void require_rank_process();

/// MPI's thread level, 0 to 3; -1 in a forked child, where no thread may call MPI.
int thread_level();
inline constexpr int serialized = 2, multiple = 3;

/// The answer of MPI_Initialized, MPI_Finalized or MPI_Is_thread_main.
bool mpi_is(int (*question)(int*));

/// Ends the job at once; in a forked child this process only.
[[noreturn]] void abort_job(int exit_code);

/// Sets the function that abort_job() calls before it ends the job, on any thread; replaces the one before.
void call_before_abort(void (*last_step)() noexcept);

/// Set by the start and the end.
void set_thread_level(int mpi_level);
void set_started();
void set_finished();
/// Called in a forked child right after the fork; whether its parent is a rank. Only atomics change.
bool become_forked_child() noexcept;

}  // namespace syncyte::mpi
