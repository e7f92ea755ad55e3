// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "files/file.hpp"

namespace syncyte::hdf5 {

/// A new file beside the one that it will replace; the destructor removes it unless it is committed. It is locked
/// (flock) until then, so that an unlocked file belongs to a killed job. The lock is shared, as HDF5's readers lock
/// files: a reader that opens the file at the moment of the rename is not refused.
class temporary_file {
 public:
  /// `target`: path of the file to replace or create. The new file takes the permissions of the old one, and its owner
  /// and group if this process may set them. @throws error SYNCYTE_ERR_IO
  temporary_file(const std::string& target, std::int64_t process, std::uint64_t number);
  ~temporary_file() { discard(); }

  file& get() { return file_; }
  const std::string& path() const { return path_; }
  void discard() noexcept;
  void commit(const std::string& target);

 private:
  void lock();
  void take_access_of(const std::string& target, struct stat before);

  file file_;
  file lock_;  // the same file, opened again to hold the lock: file_ is closed before the rename
  std::string path_;
};

/// Removes unlocked temporary files of earlier saves of `target`. Local; ignores errors.
void remove_abandoned(const std::string& target) noexcept;

}  // namespace syncyte::hdf5
