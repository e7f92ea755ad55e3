// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>

namespace syncyte::hdf5 {

/// An errno value as "reason (NAME)".
std::string errno_text(int code);

/// An open file. Errors are SYNCYTE_ERR_IO and name path and reason; a missing file is SYNCYTE_ERR_NOT_FOUND.
class file {
 public:
  enum class mode {
    read = O_RDONLY,
    write = O_WRONLY | O_NOFOLLOW,  ///< a file of our own; in a shared folder others could have put a link in its place
    create = O_RDWR | O_CREAT | O_EXCL  ///< read and write; the file must not exist
  };

  file() = default;
  /// `permissions`: those of a new file, less the process's umask.
  file(std::string path, mode how, mode_t permissions = 0666);
  file(file&& other) noexcept;
  file& operator=(file&& other) noexcept;
  ~file();

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  std::uint64_t size() const;
  void resize(std::uint64_t bytes);
  /// @throws error SYNCYTE_ERR_FORMAT if the file ends before
  void read(std::uint64_t offset, void* target, std::size_t bytes) const;
  void write(std::uint64_t offset, const void* source, std::size_t bytes);
  /// Hints that the system begin to write these bytes from its cache to the device.
  void start_writing(std::uint64_t offset, std::uint64_t bytes) noexcept;
  /// Returns when everything written through this object is on the device.
  void sync();
  void close();

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// Blocks SIGXFSZ on this thread for its lifetime: a write beyond the file size limit must be an error (EFBIG), and not
/// kill the process.
class sigxfsz_blocker {
 public:
  sigxfsz_blocker();
  ~sigxfsz_blocker();
  sigxfsz_blocker(const sigxfsz_blocker&) = delete;
  sigxfsz_blocker& operator=(const sigxfsz_blocker&) = delete;

 private:
  sigset_t before_;
  bool was_pending_ = false;
};

/// The folder of a path; "." if the path has none.
std::string directory_of(const std::string& path);

/// Name of a temporary file in the same folder, made from a number that is unique to a save.
std::string temporary_name(const std::string& path, std::int64_t process, std::uint64_t number);

/// Whether another user may have put this file or link there for us to find: all users may write the folder, and it
/// belongs neither to us nor to the folder's owner. Linux has this rule for the links of sticky folders
/// (fs.protected_symlinks, man 5 proc), but not where a program reads links by itself.
bool may_be_planted(const std::string& path, const struct stat& facts);

/// Makes a rename in this folder durable.
void sync_directory(const std::string& path);
/// Follows symbolic links, including dangling ones, and returns the final path.
/// @throws error SYNCYTE_ERR_IO, also if the final path exists and is not a regular file
std::string resolve_target(std::string path);

}  // namespace syncyte::hdf5
