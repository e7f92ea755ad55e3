// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace syncyte::fabric::ucx {

/// Removes files of UCX in /dev/shm that processes of this user have left when they were killed. Files that a process
/// has open or mapped stay, whatever its PID namespace.
void remove_abandoned_files();

/// Throws std::runtime_error, naming /dev/shm and what to do, if UCX would use it for a worker, and it cannot be
/// written or too little of it is free. `is_needed`: the process cannot do without this worker; otherwise a part must
/// stay free for others.
void need_shared_memory(bool is_needed);

/// Throws the same if a worker could not be made for lack of memory and /dev/shm is small: processes that start at the
/// same time all find the same room in it.
void blame_shared_memory();

}  // namespace syncyte::fabric::ucx
