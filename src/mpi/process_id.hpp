// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "memory/descriptor.hpp"

namespace syncyte::mpi {

/// Identifies a process: a later one with the same pid has another start time.
struct process_id {
  std::int64_t pid = 0;
  std::int64_t start_time = 0;  // clock ticks after boot, field 22 of /proc/PID/stat
};

process_id this_process();

/// Whether the process still runs (a zombie does not). Without file descriptors a zombie, and a later process with the
/// same pid, counts as running.
bool is_alive(const process_id& process);

/// A descriptor that becomes readable when the process ends (a pidfd); empty if the process has ended, or the system
/// has none to give.
memory::descriptor open_process(const process_id& process);

}  // namespace syncyte::mpi
