#pragma once

#include <string>

#include "fabric/engine.hpp"

namespace syncyte::fabric {

/// The engine of this process, over UCX. The first call opens it; null, and the reason, if that is impossible or
/// SYNCYTE_FABRIC=off. It ends with Syncyte. Thread-safe.
engine* process_engine(std::string& reason);

/// Whether SYNCYTE_FABRIC is `off`.
bool is_off();

/// Whether SYNCYTE_FABRIC is `start`: the world's ranks are to open their engines when Syncyte starts.
bool opens_at_start();

}  // namespace syncyte::fabric
