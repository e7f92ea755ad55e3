// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "fabric/transport.hpp"
#include "syncyte/base.h"

namespace syncyte::fabric {

/// File of the UCX transport. It lies beside libsyncyte.
inline const std::string ucx_module = "libsyncyte_ucx.so." + std::to_string(SYNCYTE_ABI_VERSION);

/// Loads a transport's module and opens the transport; on failure returns null and stores the reason. The loader looks
/// for the file beside the library that holds this function (RUNPATH $ORIGIN). The module stays loaded.
///
/// libucs installs signal handlers while it is loaded. This function restores all signals' handlers, and the calling
/// thread's alternate signal stack; no other thread should change them meanwhile.
///
/// `is_local`: all processes are on this host, so that none of another one can connect to their ports.
std::unique_ptr<transport> open_module(const std::string& file, std::string& reason, bool is_local = false);

}  // namespace syncyte::fabric
