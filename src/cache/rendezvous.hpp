// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>

#include "memory/descriptor.hpp"
#include "memory/shared_segment.hpp"

namespace syncyte::cache {

/// A Unix socket by which a process hands a file to another process of the same user. It lies in a folder that no other
/// user can open. The application's signals end all waits (SYNCYTE_ERR_INTERRUPTED).
struct rendezvous {
  std::string name;     ///< of the socket, without ".syncyte"; empty: SYNCYTE_CACHE, otherwise "cache"
  std::string folder;   ///< empty: SYNCYTE_CACHE_FOLDER, otherwise $XDG_RUNTIME_DIR/syncyte, $TMPDIR/syncyte-UID,
                        ///< which must not be symbolic links
  memory::nonce nonce;  ///< zeros: none; otherwise equal in both processes
  double seconds;       ///< longest wait; negative: SYNCYTE_CACHE_TIMEOUT, otherwise 10
};

/// Hands the file to one process, and removes the name. Throws SYNCYTE_ERR_TIMEOUT if no process receives it,
/// SYNCYTE_ERR_BUSY if another process sends under this name, SYNCYTE_ERR_ARGUMENT (name, folder), SYNCYTE_ERR_IO.
/// Removes sockets of killed processes from the folder.
void send(const memory::descriptor& file, const rendezvous& place);

/// Receives a file from another process. Throws SYNCYTE_ERR_TIMEOUT if none sends one, SYNCYTE_ERR_ARGUMENT (name,
/// folder, or the nonce differs from the sender's), SYNCYTE_ERR_IO.
memory::descriptor receive(const rendezvous& place);

}  // namespace syncyte::cache
