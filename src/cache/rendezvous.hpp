// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "cache/meeting_place.hpp"
#include "memory/descriptor.hpp"

namespace syncyte::cache {

/// Hands the files to one process, and removes the name. Throws SYNCYTE_ERR_TIMEOUT if no process receives it,
/// SYNCYTE_ERR_BUSY if another process sends under this name, SYNCYTE_ERR_ARGUMENT (name, folder), SYNCYTE_ERR_IO.
/// Removes sockets of killed processes from the folder.
void send(std::span<const memory::descriptor> files, const rendezvous& place);

/// Receives files from another process. Throws SYNCYTE_ERR_TIMEOUT if none sends any, SYNCYTE_ERR_ARGUMENT (name,
/// folder, or the nonce differs from the sender's), SYNCYTE_ERR_IO.
std::vector<memory::descriptor> receive(const rendezvous& place);

}  // namespace syncyte::cache
