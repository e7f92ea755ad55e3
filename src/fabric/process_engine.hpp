#pragma once

#include <string>

#include "fabric/engine.hpp"

namespace syncyte::fabric {

/// The engine of this process, over UCX. The first call opens it; null, and the reason, if that is impossible or
/// SYNCYTE_FABRIC=off. It ends with Syncyte. Thread-safe.
engine* process_engine(std::string& reason);

}  // namespace syncyte::fabric
