#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "file.hpp"

namespace syncyte::hdf5 {

/// A new file beside the one that it will replace; removed unless it is committed. It is locked (flock) for as long as
/// this object lives: what is left of a job that was killed is locked by nobody.
class temporary_file {
 public:
  temporary_file() = default;
  /// `target` names what will be replaced: a regular file, or nothing. A file that is replaced gives the new one its
  /// permissions, and its owner and group where this process may. @throws error SYNCYTE_ERR_IO
  temporary_file(const std::string& target, std::int64_t process, std::uint64_t number);
  temporary_file(temporary_file&& other) noexcept = default;
  temporary_file& operator=(temporary_file&& other) noexcept;
  ~temporary_file() { discard(); }

  file& get() { return file_; }
  const std::string& path() const { return path_; }
  void discard() noexcept;
  void commit(const std::string& target);

 private:
  void lock();
  void take_access_of(const std::string& target);

  file file_;
  file lock_;  // the same file, opened once more: file_ is closed before the file has its name
  std::string path_;
};

/// Removes the temporary files of earlier saves of `target` that nobody has locked. Local; errors are passed over.
void remove_abandoned(const std::string& target) noexcept;

}  // namespace syncyte::hdf5
