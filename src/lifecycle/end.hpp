// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace syncyte::lifecycle {

/// Called repeatedly on this rank until it returns true, while all of Syncyte still works: libraries on top of Syncyte
/// end their requests there. `are_all_here`: all ranks have come to the end.
using requests_end = bool (*)(bool are_all_here) noexcept;

// The two parts of the end; collective over MPI_COMM_WORLD.

/// Calls `end_requests`, which may be null, unless a rank has died. Only the first thread of this rank does; further
/// ones wait for it, and return.
void end_library_requests(requests_end end_requests);

/// Waits for all ranks, then frees all communicators and what was made on them, and ends the fabric; once. Returns
/// false, and frees nothing, if this rank cannot end together with the others: the reason is logged, and MPI cannot be
/// finalized.
bool end_core();

}  // namespace syncyte::lifecycle
