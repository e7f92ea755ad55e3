// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cache/meeting_place.hpp"
#include "memory/descriptor.hpp"

namespace syncyte::cache {

/// Hands the file to one process, and removes the name. Throws SYNCYTE_ERR_TIMEOUT if no process receives it,
/// SYNCYTE_ERR_BUSY if another process sends under this name, SYNCYTE_ERR_ARGUMENT (name, folder), SYNCYTE_ERR_IO.
/// Removes sockets of killed processes from the folder.
void send(const memory::descriptor& file, const rendezvous& place);

/// Receives a file from another process. Throws SYNCYTE_ERR_TIMEOUT if none sends one, SYNCYTE_ERR_ARGUMENT (name,
/// folder, or the nonce differs from the sender's), SYNCYTE_ERR_IO.
memory::descriptor receive(const rendezvous& place);

}  // namespace syncyte::cache
