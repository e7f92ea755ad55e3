#pragma once

#include <chrono>
#include <string>

#include "memory/descriptor.hpp"
#include "memory/shared_segment.hpp"

namespace syncyte::cache {

/// Where a file is handed from one process to another of the same user: a Unix socket in a folder that nobody else can
/// open. All waits are ended by the application's signals too (SYNCYTE_ERR_INTERRUPTED).
struct meeting_place {
  std::string name;     ///< of the socket; empty: SYNCYTE_CACHE, otherwise "cache"
  std::string folder;   ///< empty: SYNCYTE_CACHE_FOLDER, otherwise $XDG_RUNTIME_DIR/syncyte, $TMPDIR/syncyte-UID
  memory::nonce nonce;  ///< zeros: none; otherwise both processes show the same
  double seconds;       ///< to wait; negative: SYNCYTE_CACHE_TIMEOUT, otherwise 10
};

/// Hands the file to one process, and takes away the name. Throws SYNCYTE_ERR_TIMEOUT if none has come,
/// SYNCYTE_ERR_BUSY if another process sends under this name, SYNCYTE_ERR_ARGUMENT (name, folder), SYNCYTE_ERR_IO.
/// Sockets of processes that were killed are removed from the folder.
void send(const memory::descriptor& file, const meeting_place& place);

/// Takes a file that another process hands over. Throws SYNCYTE_ERR_TIMEOUT if none does, SYNCYTE_ERR_ARGUMENT (name,
/// folder, another nonce than the sender's), SYNCYTE_ERR_IO.
memory::descriptor receive(const meeting_place& place);

}  // namespace syncyte::cache
