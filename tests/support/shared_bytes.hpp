// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

namespace syncyte::test {

/// Zeroed memory that forked processes share.
class shared_bytes {
 public:
  explicit shared_bytes(std::size_t size)
      : size_(size), data_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~shared_bytes() { munmap(data_, size_); }
  shared_bytes(const shared_bytes&) = delete;
  shared_bytes& operator=(const shared_bytes&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  std::size_t size_;
  void* data_;
};

/// Runs work in a child process, which exits with 0, or with 1 if work throws. Returns the child's pid.
template <class Work>
pid_t fork_to(Work&& work) {
  const pid_t child = fork();
  if (child != 0) return child;
  int code = 0;
  try {
    std::forward<Work>(work)();
  } catch (...) {
    code = 1;
  }
  _exit(code);  // without the exit handlers of MPI and GoogleTest
}

inline int exit_code(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace syncyte::test
