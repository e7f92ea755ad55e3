// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

namespace syncyte::memory {

/// Owns an open file descriptor; the destructor closes it.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { close(); }

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  void close();

 private:
  int number_ = -1;
};

/// Opens a memfd of 0 bytes whose size can be sealed. On failure the descriptor is empty and errno is set.
descriptor open_memfd(const char* name);

/// Seals the size of a memfd: no process can grow it, or shrink it, which would kill processes that have mapped it.
bool seal_size(const descriptor& memfd);

/// Throws SYNCYTE_ERR_LIMIT, naming the limit, if `code` is the errno of too many open files; otherwise does nothing.
/// `step` names the call that failed.
void check_open_files(const std::string& step, int code);

/// Removes the name of a shm object or a socket, but not in a forked child.
struct name_remover {
  int (*remove)(const char*) = nullptr;  // shm_unlink or unlink
  pid_t owner = getpid();
  void operator()(const std::string* name) const;
};
using name_guard = std::unique_ptr<const std::string, name_remover>;

}  // namespace syncyte::memory
