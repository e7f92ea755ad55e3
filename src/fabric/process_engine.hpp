// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "fabric/engine.hpp"

namespace syncyte::fabric {

/// The engine of this process, over UCX. The first call opens it; null, and the reason, if that is impossible or
/// SYNCYTE_FABRIC=off. Thread-safe.
engine* process_engine(std::string& reason);

/// Why the ranks of a communicator do without the fabric: this process's reason, or that another rank has one.
std::string reason_for_none();

// Steps of Syncyte's end. None waits for other ranks; without an engine they do nothing.

/// Whether no request of this process is in flight; makes progress on all that are.
bool is_drained() noexcept;
/// Closes this process's links, once all ranks have come to the end. No engine can be opened any more.
void stop_engine() noexcept;
/// One step of closing the links, while other ranks close theirs.
void progress_links() noexcept;
/// Ends the transport too; MPI still works.
void end_engine() noexcept;

/// Whether SYNCYTE_FABRIC is `off`.
bool is_off();

/// Whether SYNCYTE_FABRIC is `start`: the world's ranks are to open their engines when Syncyte starts.
bool opens_at_start();

}  // namespace syncyte::fabric
