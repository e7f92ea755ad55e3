// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "memory/handover.hpp"
#include "memory/mapping.hpp"

namespace syncyte::memory {

/// Methods by which the other processes of a node map the leader's memory.
enum class sharing : std::int32_t {
  proc = 0,         ///< memfd, opened through /proc/PID/fd/N
  socket = 1,       ///< memfd, handed over an abstract socket (same network namespace)
  socket_file = 2,  ///< memfd, handed over a socket in TMPDIR, unlinked by finish()
  shm = 3,          ///< shm_open, unlinked by finish()
  none = 4          ///< no sharing: every process has memory of its own
};

const char* sharing_name(sharing method);

/// Methods to try, in order; the last is `none`. SYNCYTE_SHM = proc|socket|shm|none restricts them. Throws
/// SYNCYTE_ERR_ARGUMENT for another value of the variable.
std::vector<sharing> sharing_candidates();

/// The leader's message to the other processes; trivially copyable.
struct ticket {
  sharing method;
  std::int32_t descriptor;  ///< of the leader
  std::int64_t process;     ///< of the leader
  std::uint64_t device;     ///< st_dev
  std::uint64_t inode;      ///< st_ino
  std::uint64_t size;       ///< bytes of data, without the header
  memory::nonce nonce;      ///< also stored in the segment's header
  char name[128];           ///< of the socket or the shm object; empty for proc
};
static_assert(std::is_trivially_copyable_v<ticket> && sizeof(ticket) <= 512);

/// Memory that processes of a node share. It is zeroed, and its data starts at a multiple of 2 MiB in address space and
/// file, so that huge pages fit. The leader creates it, sends the ticket, serves (socket methods only), and finishes
/// once it knows whether all others have succeeded. The memory lives as long as a process holds the segment, so nothing
/// is left when all processes are killed (except between create and finish, when `shm` and `socket_file` leave a name).
class segment {
 public:
  segment() = default;

  /// Called by the leader. Throws SYNCYTE_ERR_MEMORY, or SYNCYTE_ERR_UNSUPPORTED if the method does not work here. Does
  /// not check available memory: see capacity.hpp.
  static segment create(std::size_t bytes, sharing method);

  /// Called by the other processes. Opens the file that the ticket names, checks that it is the leader's (file, size
  /// and nonce), and maps it. Throws SYNCYTE_ERR_UNSUPPORTED, naming the step and errno, if it cannot be opened by this
  /// method, SYNCYTE_ERR_MEMORY if it cannot be mapped. Socket methods wait for the leader's serve(), at most
  /// `timeout`.
  static segment attach(const memory::ticket& ticket,
                        std::chrono::milliseconds timeout = std::chrono::milliseconds(10000));

  /// Called by the leader, before finish().
  const memory::ticket& ticket() const { return ticket_; }

  /// Called by the leader. Socket methods hand the descriptor to processes of this user that know the nonce, until
  /// `peers` in all have it or the timeout has passed; other methods return `peers` at once. Returns how many have it.
  /// May be called again, so that the leader can check meanwhile whether the others have failed.
  int serve(int peers, std::chrono::milliseconds timeout);

  /// Called by the leader once all others have attached or given up: closes descriptors and removes names.
  void finish();

  /// First byte of the data; not null in a segment that was created or attached, even if it holds no bytes.
  std::byte* data() const { return mapping_ ? mapping_.get() + header_bytes : nullptr; }
  std::size_t size() const { return ticket_.size; }
  explicit operator bool() const { return mapping_ != nullptr; }

  /// The header takes a huge page of address space and file; only one small page of it is touched.
  static constexpr std::size_t header_bytes = huge_page_bytes;

 private:
  void map_file(std::size_t bytes, sharing method);

  memory::ticket ticket_{};
  mapping mapping_;
  descriptor file_;
  descriptor listener_;
  name_guard name_;
  int served_ = 0;
};

}  // namespace syncyte::memory
