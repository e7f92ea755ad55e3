// SPDX-License-Identifier: BSD-3-Clause
#include "memory/shared_segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "memory/random_name.hpp"

namespace syncyte::memory {

namespace {

using std::chrono::milliseconds;

[[noreturn]] void fail_step(sharing method, const std::string& step, int code) {
  check_open_files(step, code);
  base::fail(SYNCYTE_ERR_UNSUPPORTED, "sharing memory by {}: {} failed: {}", sharing_name(method), step,
             base::errno_text(code));
}

/// The descriptor that `step` has opened; throws if it has failed.
descriptor opened(int number, sharing method, const std::string& step) {
  if (number < 0) fail_step(method, step, errno);
  return descriptor(number);
}

constexpr const char* shm_folder = "/dev/shm";  // where the C library's shm_open looks

/// Opens a shm object without a name, so that nothing is left if this process is killed while it reserves the memory.
descriptor open_unnamed_shm() {
  const int number = open(shm_folder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  return opened(number, sharing::shm, std::string("opening an unnamed file in ") + shm_folder);
}

void link_shm(const descriptor& file, const std::string& name) {
  const std::string unnamed = fmt::format("/proc/self/fd/{}", file.number());
  if (linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, (shm_folder + name).c_str(), AT_SYMLINK_FOLLOW) != 0)
    fail_step(sharing::shm, "linkat to " + name, errno);
}

descriptor open_proc(const ticket& wanted) {
  const std::string path = fmt::format("/proc/{}/fd/{}", wanted.process, wanted.descriptor);
  // O_NONBLOCK: in another PID namespace the same numbers may name a pipe.
  const int number = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  return opened(number, sharing::proc, "opening " + path);
}

descriptor open_by_ticket(const ticket& wanted, milliseconds timeout) {
  switch (wanted.method) {
    case sharing::proc:
      return open_proc(wanted);
    case sharing::socket:
    case sharing::socket_file:
      return receive_from(wanted.name, wanted.nonce, timeout);
    case sharing::shm:
      return opened(shm_open(wanted.name, O_RDWR, 0), sharing::shm, fmt::format("shm_open of {}", wanted.name));
    default:
      base::fail(SYNCYTE_ERR_UNSUPPORTED, "memory is not shared (SYNCYTE_SHM=none)");
  }
}

std::uint64_t file_bytes(std::uint64_t data_bytes) {
  return segment::header_bytes + round_up(data_bytes, small_page_bytes());
}

/// Checks that the file is the leader's: the same numbers may name another file in another PID namespace, or after the
/// leader has died.
void require_leaders_file(const descriptor& file, const ticket& wanted) {
  struct stat found{};
  if (fstat(file.number(), &found) != 0) fail_step(wanted.method, "fstat", errno);
  const bool is_same = S_ISREG(found.st_mode) && found.st_dev == wanted.device && found.st_ino == wanted.inode &&
                       static_cast<std::uint64_t>(found.st_size) == file_bytes(wanted.size);
  base::require(
      is_same, SYNCYTE_ERR_UNSUPPORTED,
      "sharing memory by {}: found another file (device {}, inode {}, {} bytes) than the leader's (device {}, "
      "inode {}, {} bytes)",
      sharing_name(wanted.method), found.st_dev, found.st_ino, found.st_size, wanted.device, wanted.inode,
      file_bytes(wanted.size));
  nonce stored{};
  const bool is_ours = pread(file.number(), &stored, sizeof(stored), 0) == sizeof(stored) && stored == wanted.nonce;
  base::require(is_ours, SYNCYTE_ERR_UNSUPPORTED,
                "sharing memory by {}: the file found does not carry the leader's nonce", sharing_name(wanted.method));
}

[[noreturn]] void refuse_size(std::uint64_t bytes, int code) {
  base::fail(SYNCYTE_ERR_MEMORY, "cannot make a shared segment of {} bytes: {}", bytes, base::errno_text(code));
}

/// Reserves the file's memory in its file system, which may be small. Otherwise the first store to a page for which
/// there is no memory kills the process (SIGBUS).
void reserve(const descriptor& file, std::uint64_t first, std::uint64_t bytes, std::uint64_t whole) {
  if (bytes == 0) return;
  int code = 0;
  do code = posix_fallocate(file.number(), static_cast<off_t>(first), static_cast<off_t>(bytes));
  while (code == EINTR);
  if (code == ENOSPC)
    base::fail(SYNCYTE_ERR_MEMORY, "a shared segment of {} bytes does not fit {}; enlarge it, or its container's",
               whole, shm_folder);
  if (code != 0) refuse_size(whole, code);
}

void resize(const descriptor& file, std::uint64_t bytes, sharing method) {
  if (ftruncate(file.number(), static_cast<off_t>(bytes)) != 0) refuse_size(bytes, errno);
  // No process may shrink the file while it is mapped. A shm object cannot be sealed.
  if (method != sharing::shm) {
    seal_size(file);
    return;
  }
  reserve(file, 0, small_page_bytes(), bytes);
  reserve(file, segment::header_bytes, bytes - segment::header_bytes, bytes);
}

void write_name(ticket& target, const std::string& name) {
  base::require(name.size() < sizeof(target.name), SYNCYTE_ERR_UNSUPPORTED,
                "the name {} is longer than {} bytes; set TMPDIR to a shorter path", name, sizeof(target.name) - 1);
  std::copy(name.begin(), name.end(), target.name);
}

}  // namespace

const char* sharing_name(sharing method) {
  constexpr const char* names[] = {"proc", "socket", "socket in TMPDIR", "shm", "none"};
  return names[static_cast<std::size_t>(method)];
}

std::vector<sharing> sharing_candidates() {
  using enum sharing;
  using choice = base::settings::sharing;
  base::check_setting(base::settings::shm);
  const auto chosen = base::environment_choice(base::settings::shm);
  if (chosen == choice::proc) return {proc, none};
  if (chosen == choice::socket) return {socket, socket_file, none};
  if (chosen == choice::shm) return {shm, none};
  if (chosen == choice::none) return {none};
  return {proc, socket, socket_file, shm, none};
}

segment segment::create(std::size_t bytes, sharing method) {
  base::require(bytes <= PTRDIFF_MAX / 2, SYNCYTE_ERR_MEMORY, "cannot make a shared segment of {} bytes", bytes);
  segment result;
  result.file_ = method == sharing::shm ? open_unnamed_shm() : open_memfd("syncyte");
  if (!result.file_) fail_step(method, "memfd_create", errno);
  result.map_file(bytes, method);
  // Make names last: nothing is left if the process is killed before.
  std::string name;
  if (method == sharing::shm) name = random_name("/syncyte-", "");
  if (method == sharing::socket) name = random_name("@syncyte-", "");
  if (method == sharing::socket_file) name = temporary_folder() + random_name("/syncyte-", ".socket");
  write_name(result.ticket_, name);
  if (method == sharing::socket_file) result.name_ = name_guard(new std::string(name), {unlink});
  if (method == sharing::shm) result.name_ = name_guard(new std::string(name), {shm_unlink});
  if (method == sharing::shm) link_shm(result.file_, name);
  if (method == sharing::socket || method == sharing::socket_file) result.listener_ = listen_at(name);
  return result;
}

/// Gives the new file its size, maps it and makes its ticket.
void segment::map_file(std::size_t bytes, sharing method) {
  resize(file_, file_bytes(bytes), method);
  mapping_ = map_shared(file_.number(), file_bytes(bytes));
  struct stat made{};
  if (fstat(file_.number(), &made) != 0) fail_step(method, "fstat", errno);
  ticket_.method = method;
  ticket_.descriptor = file_.number();
  ticket_.process = getpid();
  ticket_.device = made.st_dev;
  ticket_.inode = made.st_ino;
  ticket_.size = bytes;
  ticket_.nonce = random_nonce();
  std::memcpy(mapping_.get(), &ticket_.nonce, sizeof(ticket_.nonce));
}

segment segment::attach(const memory::ticket& wanted, milliseconds timeout) {
  segment result;
  const descriptor file = open_by_ticket(wanted, timeout);
  require_leaders_file(file, wanted);
  result.mapping_ = map_shared(file.number(), file_bytes(wanted.size));
  result.ticket_ = wanted;
  return result;
}

int segment::serve(int peers, milliseconds timeout) {
  if (!listener_) return peers;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (served_ < peers) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (hand_over(listener_, {&file_, 1}, ticket_.nonce, std::max(left, milliseconds(0))))
      ++served_;
    else if (left.count() <= 0)
      break;
  }
  return served_;
}

void segment::finish() {
  name_.reset();
  listener_.close();
  file_.close();
}

}  // namespace syncyte::memory
