// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "memory/descriptor.hpp"
#include "memory/handover.hpp"

namespace syncyte::cache {

/// A Unix socket by which two processes of a user meet, in a folder that no other user can open. The application's
/// signals end all waits (SYNCYTE_ERR_INTERRUPTED).
struct rendezvous {
  std::string name;     ///< of the socket, without ".syncyte"; empty: SYNCYTE_CACHE, otherwise "cache"
  std::string folder;   ///< empty: SYNCYTE_CACHE_FOLDER, otherwise $XDG_RUNTIME_DIR/syncyte, $TMPDIR/syncyte-UID,
                        ///< which must not be symbolic links
  memory::nonce nonce;  ///< zeros: none; otherwise equal in both processes
  double seconds;       ///< longest wait; negative: SYNCYTE_CACHE_TIMEOUT, otherwise 10
};

/// The time limit of a wait, which a signal can end early.
class deadline {
 public:
  /// Negative: SYNCYTE_CACHE_TIMEOUT, otherwise 10.
  explicit deadline(double seconds);

  /// Whether time is left; throws if the application wants to end the wait (a signal).
  bool is_ahead() const;
  /// Time until the next check for signals.
  std::chrono::milliseconds next_look() const;
  double seconds() const { return seconds_; }

 private:
  double seconds_;
  std::chrono::steady_clock::time_point end_;
};

/// Pause between two attempts of a wait.
inline constexpr std::chrono::milliseconds retry_interval(5);

/// A socket's name in a folder that is open.
class named_socket {
 public:
  /// Makes a folder that is missing. Throws SYNCYTE_ERR_ARGUMENT (name, folder), SYNCYTE_ERR_IO.
  explicit named_socket(const rendezvous& chosen);

  /// Path of a socket by way of the open folder: it is short whatever the folder's path is, and cannot lead to another
  /// folder that has replaced this one.
  std::string socket(const std::string& name) const;
  std::string socket() const { return socket(file_name()); }
  std::string file_name() const;
  std::string shown() const;
  const memory::descriptor& folder() const { return folder_; }
  const std::string& path() const { return path_; }

 private:
  void refuse_link() const;
  void check_folder() const;

  std::string name_;
  std::string path_;
  memory::descriptor folder_;
};

/// Listens under the socket's name; removes sockets that killed processes have left. Throws SYNCYTE_ERR_BUSY if a
/// process listens there, SYNCYTE_ERR_TIMEOUT, SYNCYTE_ERR_IO.
memory::descriptor listen(const named_socket& target, const deadline& until);

/// Runs a function; its errors of the system then name the socket and the folder, as SYNCYTE_ERR_IO.
template <class Function>
auto at(const named_socket& target, Function&& function) {
  try {
    return std::forward<Function>(function)();
  } catch (const base::error& thrown) {
    if (thrown.status() != SYNCYTE_ERR_UNSUPPORTED) throw;
    base::fail(SYNCYTE_ERR_IO, "the shared cache {}: {}", target.shown(), thrown.what());
  }
}

}  // namespace syncyte::cache
