#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "memory/descriptor.hpp"
#include "memory/mapping.hpp"
#include "memory/nonce.hpp"

namespace syncyte::memory {

/// Ways by which the other processes of a node get at the leader's memory.
enum class sharing : std::int32_t {
  proc = 0,         ///< memfd, opened through /proc/PID/fd/N
  socket = 1,       ///< memfd, handed over an abstract socket (same network namespace)
  socket_file = 2,  ///< memfd, handed over a socket in TMPDIR, unlinked by finish()
  shm = 3,          ///< shm_open, unlinked by finish()
  none = 4          ///< not at all: every process keeps memory of its own
};

const char* sharing_name(sharing method);

/// Methods in the order in which they are to be tried, always ending in `none`: all of them, or what SYNCYTE_SHM =
/// proc|socket|shm|none leaves. Throws SYNCYTE_ERR_ARGUMENT for another value of the variable.
std::vector<sharing> sharing_candidates();

/// The leader's message to the others; plain bytes.
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

/// Memory that processes of a node share: zeroed, its data starting at a multiple of 2 MiB in address space and file,
/// so that huge pages fit. The leader creates it, sends the ticket, serves (socket methods only), and finishes once it
/// knows the verdict of all others. Whoever holds a segment keeps the memory; nothing else does, so nothing stays
/// behind when all processes are killed (between create and finish, while the others attach, `shm` and `socket_file`
/// leave a name).
class segment {
 public:
  segment() = default;

  /// Leader. Throws SYNCYTE_ERR_MEMORY or, where the method is not to be had here, SYNCYTE_ERR_UNSUPPORTED. Does not
  /// check how much memory there is: see capacity.hpp.
  static segment create(std::size_t bytes, sharing method);

  /// The others. Opens what the ticket names, makes sure that it is the leader's (file, size and nonce), and maps it.
  /// Throws SYNCYTE_ERR_UNSUPPORTED naming the step and errno if it cannot be had in this way, SYNCYTE_ERR_MEMORY if it
  /// cannot be mapped. Socket methods wait for the leader's serve(), at most `timeout`.
  static segment attach(const memory::ticket& ticket,
                        std::chrono::milliseconds timeout = std::chrono::milliseconds(10000));

  /// Leader, before finish().
  const memory::ticket& ticket() const { return ticket_; }

  /// Leader, socket methods only (others return `peers` at once): hands the descriptor to processes of this user that
  /// know the nonce, until `peers` in all have it or the timeout has passed. Returns how many have it; may be called
  /// again, so that the leader can look meanwhile whether the others have failed.
  int serve(int peers, std::chrono::milliseconds timeout);

  /// Leader, once all others have attached or given up: closes descriptors and removes names. The others need not.
  void finish();

  /// First byte of the data; never null in a segment that was created or attached, even if it holds no bytes.
  std::byte* data() const { return mapping_.data() == nullptr ? nullptr : mapping_.data() + header_bytes; }
  std::size_t size() const { return ticket_.size; }
  explicit operator bool() const { return mapping_.data() != nullptr; }

  /// The header takes a whole huge page of address space and file, of which one small page is ever touched.
  static constexpr std::size_t header_bytes = huge_page_bytes;

 private:
  void fill(std::size_t bytes, sharing method);

  memory::ticket ticket_{};
  mapping mapping_;
  descriptor file_;
  descriptor listener_;
  name_guard name_;
  int served_ = 0;
};

}  // namespace syncyte::memory
