// SPDX-License-Identifier: BSD-3-Clause
#include "files/temporary_file.hpp"

#include <linux/limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <regex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.hpp"

namespace syncyte::hdf5 {
namespace {

/// Whether no save, here or on another machine, has locked the file. False if the file system has no locks.
bool is_abandoned(const std::string& path) {
  try {
    const file found(path, file::mode::write);
    return ::flock(found.descriptor(), LOCK_EX | LOCK_NB) == 0;
  } catch (const own_error&) {
    return false;
  }
}

/// Gives a file the access control list of another, or none if that has none. False if it should have one and could
/// not get it.
bool take_access_list(const file& of, const std::string& from) {
  constexpr const char* name = "system.posix_acl_access";
  std::vector<char> list(XATTR_SIZE_MAX);
  const ssize_t bytes = ::getxattr(from.c_str(), name, list.data(), list.size());
  if (bytes > 0) return ::fsetxattr(of.descriptor(), name, list.data(), static_cast<std::size_t>(bytes), 0) == 0;
  ::fremovexattr(of.descriptor(), name);  // of the folder's default
  return true;
}

}  // namespace

temporary_file::temporary_file(const std::string& target, std::int64_t process, std::uint64_t number) {
  struct stat before{};
  const bool is_replaced = ::stat(target.c_str(), &before) == 0 && !may_be_planted(target, before);
  const std::string path = temporary_name(target, process, number);
  // No other user can read it until it has the permissions of the file that it replaces.
  file_ = file(path, file::mode::create, is_replaced ? S_IRUSR | S_IWUSR : 0666);
  path_ = path;
  try {
    lock();
    if (is_replaced) take_access_of(target, before);
  } catch (...) {
    discard();
    throw;
  }
}

/// Locks the file; throws if another save has found it before it was locked, and removed it.
void temporary_file::lock() {
  lock_ = file(path_, file::mode::read);
  while (::flock(lock_.descriptor(), LOCK_SH) != 0)
    if (errno != EINTR) return;  // some file systems have no locks
  struct stat facts{};
  require(::fstat(lock_.descriptor(), &facts) == 0 && facts.st_nlink > 0, SYNCYTE_ERR_IO,
          "'{}' was removed by another save of the same file at the same time", path_);
}

void temporary_file::take_access_of(const std::string& target, struct stat before) {
  struct stat now{};
  if (::fstat(file_.descriptor(), &now) != 0) return;
  const bool is_owned_alike = before.st_uid == now.st_uid && before.st_gid == now.st_gid;
  if (!is_owned_alike && ::fchown(file_.descriptor(), before.st_uid, before.st_gid) != 0) {
    // The owner cannot be set. The group can, if this process is in it.
    const bool has_group = ::fchown(file_.descriptor(), static_cast<uid_t>(-1), before.st_gid) == 0;
    if (!has_group) before.st_mode &= ~static_cast<mode_t>(S_IRWXG);  // these permissions were for another group
  }
  // With a list, the group's permissions in the mode are the most that it gives to others.
  if (!take_access_list(file_, target)) before.st_mode &= ~static_cast<mode_t>(S_IRWXG);
  if (::fchmod(file_.descriptor(), before.st_mode & 0777) != 0)
    fail(SYNCYTE_ERR_IO, "cannot give '{}' the permissions of '{}': {}", path_, target, errno_text(errno));
}

void temporary_file::discard() noexcept {
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
}

void temporary_file::commit(const std::string& target) {
  if (::rename(path_.c_str(), target.c_str()) != 0)
    fail(SYNCYTE_ERR_IO, "cannot rename '{}' to '{}': {}", path_, target, errno_text(errno));
  path_.clear();
  lock_ = {};
}

void remove_abandoned(const std::string& target) noexcept try {
  const std::string any = temporary_name(target, 0, 0);
  static const std::regex number(R"(\d+-[0-9a-f]{16}\.tmp)");  // as temporary_name() ends
  const std::string stem = any.substr(0, any.size() - std::string_view("0-0000000000000000.tmp").size());
  const std::string prefix = std::filesystem::path(stem).filename();
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator(directory_of(target), ignored)) {
    const std::string name = each.path().filename();
    if (!name.starts_with(prefix) || !std::regex_match(name.substr(prefix.size()), number)) continue;
    if (each.is_regular_file(ignored) && !each.is_symlink(ignored) && is_abandoned(each.path()))
      ::unlink(each.path().c_str());
  }
} catch (...) {  // a save does not fail because of another save's files
}

}  // namespace syncyte::hdf5
