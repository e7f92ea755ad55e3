#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "memory/descriptor.hpp"
#include "memory/nonce.hpp"

namespace syncyte::memory {

/// Passing a descriptor to processes of the same user through a Unix socket. `name` is a path, or "@..." for the
/// abstract name "\0..." that no file system knows.

/// Listens; throws SYNCYTE_ERR_UNSUPPORTED.
descriptor listen_at(const std::string& name);

/// Gives `file` to one process that connects within the time and shows the nonce. Whether one got it.
bool hand_over(const descriptor& listener, const descriptor& file, const nonce& secret,
               std::chrono::milliseconds timeout);

/// Connects, shows the nonce and receives the descriptor; throws SYNCYTE_ERR_UNSUPPORTED, naming the step.
descriptor receive_from(const std::string& name, const nonce& secret, std::chrono::milliseconds timeout);

/// As receive_from(), where a listener may come later: no descriptor if there is none now, or if it has gone before it
/// gave one. Waits while `goes_on`, which is asked ten times a second. Throws SYNCYTE_ERR_ARGUMENT if the listener has
/// refused the nonce.
descriptor try_to_receive_from(const std::string& name, const nonce& secret, const std::function<bool()>& goes_on);

/// Whether a process listens there, of whatever kind; not so for a name that a killed process has left.
bool is_listened_at(const std::string& name);

}  // namespace syncyte::memory
