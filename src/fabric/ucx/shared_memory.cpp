// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/shared_memory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace syncyte::fabric::ucx {
namespace {

constexpr const char* folder = "/dev/shm";
constexpr std::string_view prefix = "ucx_shm_posix_";
constexpr std::uint64_t mebibyte = 1 << 20;

/// Room that UCX allocates there for a worker, rounded up (3 MB with UCX 1.13).
constexpr std::uint64_t bytes_of_worker = 5 * mebibyte;
/// Room that optional workers leave to other processes.
constexpr std::uint64_t spare_bytes = 32 * mebibyte;

/// Seconds after which a file has been opened by the process that made it.
constexpr std::time_t opening = 1;

/// Whether no process has the file open or mapped: only then the kernel grants a lease for writing. It ends when the
/// file is closed.
bool is_unused(int file) {
  fcntl(file, F_SETSIG, SIGURG);  // the signal of a process that opens it meanwhile; ignored by default
  return fcntl(file, F_SETLEASE, F_WRLCK) == 0;
}

void remove_if_abandoned(int at, const char* name) {
  const int file = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  struct stat found = {};
  const bool is_ours = fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
                       found.st_mtime + opening < std::time(nullptr);
  if (is_ours && is_unused(file)) unlinkat(at, name, 0);
  close(file);
}

/// Whether UCX uses POSIX shared memory in /dev/shm, as far as its settings tell.
bool uses_folder() {
  const auto setting = [](const char* name) {
    const char* const own = std::getenv(("SYNCYTE_UCX_" + std::string(name)).c_str());
    return own != nullptr ? own : std::getenv(("UCX_" + std::string(name)).c_str());
  };
  const char* const other = std::getenv("UCX_POSIX_DIR");
  if (other != nullptr && std::strcmp(other, folder) != 0) return false;
  const char* const transports = setting("TLS");
  if (transports == nullptr) return true;
  const bool is_negated = *transports == '^';
  std::istringstream list(transports + (is_negated ? 1 : 0));
  bool is_named = false;
  for (std::string each; std::getline(list, each, ',');)
    is_named |= each == "all" || each == "sm" || each == "shm" || each == "mm" || each == "posix";
  return is_named != is_negated;
}

/// What is free there; nothing if UCX does not use it or there is no such folder.
std::optional<std::uint64_t> free_bytes() {
  struct statvfs found = {};
  if (!uses_folder() || statvfs(folder, &found) != 0) return {};
  return std::uint64_t{found.f_bavail} * found.f_frsize;
}

[[noreturn]] void refuse(const std::string& lack_and_cure) {
  throw std::runtime_error("UCX needs " + std::to_string(bytes_of_worker / mebibyte) + " MiB of /dev/shm, " +
                           lack_and_cure + ", or set SYNCYTE_UCX_TLS=^posix");
}

}  // namespace

void remove_abandoned_files() {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder), closedir);
  if (!entries) return;
  const int at = dirfd(entries.get());
  // Two processes that look at one file at the same time would take each other for its users.
  if (flock(at, LOCK_EX | LOCK_NB) != 0) return;
  while (const dirent* const entry = readdir(entries.get()))
    if (std::string_view(entry->d_name).starts_with(prefix)) remove_if_abandoned(at, entry->d_name);
}

void need_shared_memory(bool is_needed) {
  const std::optional<std::uint64_t> available = free_bytes();
  if (!available) return;
  if (access(folder, W_OK) != 0)
    refuse(std::string("which cannot be written (") + std::strerror(errno) + "): mount it writable");
  if (*available < bytes_of_worker + (is_needed ? 0 : spare_bytes))
    refuse("of which " + std::to_string(*available / mebibyte) + " MiB are free: enlarge it (docker run --shm-size)");
}

void blame_shared_memory() {
  const std::optional<std::uint64_t> available = free_bytes();
  if (available && *available < bytes_of_worker + spare_bytes)
    refuse("which other processes have taken (" + std::to_string(*available / mebibyte) +
           " MiB are free now): enlarge it (docker run --shm-size)");
}

}  // namespace syncyte::fabric::ucx
