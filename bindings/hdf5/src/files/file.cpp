// SPDX-License-Identifier: BSD-3-Clause
#include "files/file.hpp"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/errors.hpp"

namespace syncyte::hdf5 {
namespace {

constexpr std::size_t longest_call = std::size_t{1} << 30;  // Linux moves at most 2 GiB - 4 KiB per call

[[noreturn]] void fail_io(const char* what, const std::string& path, int code) {
  fail(SYNCYTE_ERR_IO, "{} '{}': {}", what, path, errno_text(code));
}

// SIGXFSZ alone.
sigset_t file_size_signal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGXFSZ);
  return signals;
}

}  // namespace

std::string errno_text(int code) {
  const char* name = strerrorname_np(code);
  return name != nullptr ? fmt::format("{} ({})", strerrordesc_np(code), name) : fmt::format("unknown error {}", code);
}

file::file(std::string path, mode how, mode_t permissions) : path_(std::move(path)) {
  const int flags = static_cast<int>(how) | O_CLOEXEC | O_NONBLOCK;
  descriptor_ = TEMP_FAILURE_RETRY(::open(path_.c_str(), flags, permissions));
  const int code = errno;
  if (descriptor_ < 0 && code == ENOENT && how == mode::read)
    fail(SYNCYTE_ERR_NOT_FOUND, "there is no file '{}'", path_);
  const auto folder = std::filesystem::path(path_).parent_path();
  std::error_code ignored;
  if (descriptor_ < 0 && code == ENOENT && !folder.empty() && !std::filesystem::exists(folder, ignored))
    fail(SYNCYTE_ERR_IO, "there is no folder '{}'", folder.native());
  if (descriptor_ < 0) fail_io("cannot open", path_, code);
  struct stat facts{};
  if (::fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    ::close(std::exchange(descriptor_, -1));
    fail(SYNCYTE_ERR_IO, "'{}' is not a regular file", path_);
  }
}

file::file(file&& other) noexcept : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

file& file::operator=(file&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

file::~file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::uint64_t file::size() const {
  struct stat facts{};
  if (::fstat(descriptor_, &facts) != 0) fail_io("cannot read the size of", path_, errno);
  return static_cast<std::uint64_t>(facts.st_size);
}

void file::resize(std::uint64_t bytes) {
  const sigxfsz_blocker blocked;
  if (TEMP_FAILURE_RETRY(::ftruncate(descriptor_, static_cast<off_t>(bytes))) != 0)
    fail_io("cannot resize", path_, errno);
}

void file::read(std::uint64_t offset, void* target, std::size_t bytes) const {
  auto* next = static_cast<char*>(target);
  while (bytes > 0) {
    const std::size_t piece = std::min(bytes, longest_call);
    const ssize_t done = TEMP_FAILURE_RETRY(::pread(descriptor_, next, piece, static_cast<off_t>(offset)));
    if (done < 0) fail_io("cannot read", path_, errno);
    require(done > 0, SYNCYTE_ERR_FORMAT, "'{}' is truncated: it ends at byte {}", path_, offset);
    next += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
}

void file::write(std::uint64_t offset, const void* source, std::size_t bytes) {
  const auto* next = static_cast<const char*>(source);
  while (bytes > 0) {
    const std::size_t piece = std::min(bytes, longest_call);
    const ssize_t done = TEMP_FAILURE_RETRY(::pwrite(descriptor_, next, piece, static_cast<off_t>(offset)));
    if (done <= 0) fail_io("cannot write", path_, done < 0 ? errno : ENOSPC);
    next += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
}

void file::start_writing(std::uint64_t offset, std::uint64_t bytes) noexcept {
  ::sync_file_range(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
}

void file::sync() {
  if (TEMP_FAILURE_RETRY(::fsync(descriptor_)) != 0) fail_io("cannot sync", path_, errno);
}

void file::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail_io("cannot close", path_, errno);
}

sigxfsz_blocker::sigxfsz_blocker() {
  const sigset_t signals = file_size_signal();
  sigset_t pending;
  sigpending(&pending);
  was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

sigxfsz_blocker::~sigxfsz_blocker() {
  const sigset_t signals = file_size_signal();
  const timespec now{};
  if (!was_pending_) TEMP_FAILURE_RETRY(sigtimedwait(&signals, nullptr, &now));
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string temporary_name(const std::string& path, std::int64_t process, std::uint64_t number) {
  constexpr std::size_t longest_stem = 180;  // names of files have at most 255 bytes
  const std::size_t slash = path.find_last_of('/');
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return fmt::format("{}.{}.{}-{:016x}.tmp", path.substr(0, begin), path.substr(begin, longest_stem), process, number);
}

void sync_directory(const std::string& path) {
  const int descriptor = TEMP_FAILURE_RETRY(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor < 0) fail_io("cannot open the folder", path, errno);
  const int result = TEMP_FAILURE_RETRY(::fsync(descriptor));
  const int code = errno;
  ::close(descriptor);
  // Some file systems cannot sync folders and return EINVAL; ignore that.
  if (result != 0 && code != EINVAL) fail_io("cannot sync the folder", path, code);
}

bool may_be_planted(const std::string& path, const struct stat& facts) {
  struct stat folder{};
  return ::stat(directory_of(path).c_str(), &folder) == 0 && (folder.st_mode & S_IWOTH) != 0 &&
         facts.st_uid != ::geteuid() && facts.st_uid != folder.st_uid;
}

namespace {

void check_owner_of_link(const std::string& path) {
  struct stat link{};
  if (::lstat(path.c_str(), &link) != 0) return;
  require(!may_be_planted(path, link), SYNCYTE_ERR_IO,
          "'{}' is a symbolic link of another user (uid {}) in a folder that all users share: it is not followed", path,
          link.st_uid);
}

}  // namespace

std::string resolve_target(std::string path) {
  constexpr int most_links = 40;  // Linux's limit
  std::error_code code;
  for (int links = 0;; ++links) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, code);
    if (code) break;
    check_owner_of_link(path);
    if (links == most_links) fail_io("cannot replace", path, ELOOP);
    path = std::filesystem::path(path).parent_path() / target;
  }
  if (code.value() != EINVAL && code.value() != ENOENT) fail_io("cannot replace", path, code.value());
  const auto type = std::filesystem::status(path, code).type();
  require(type == std::filesystem::file_type::regular || type == std::filesystem::file_type::not_found, SYNCYTE_ERR_IO,
          "'{}' exists and is not a regular file", path);
  return path;
}

}  // namespace syncyte::hdf5
