// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace syncyte::test {

/// Runs a function in a forked process. The process exits with the function's result, or with 99 if it throws. The
/// function must not use MPI.
template <class Function>
pid_t start_process(Function&& function) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  int code = 99;
  try {
    code = std::forward<Function>(function)();
  } catch (...) {
    code = 99;
  }
  _exit(code);
}

/// Exit code of a process, or minus the signal that ended it.
inline int wait_process(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

template <class Function>
int run_process(Function&& function) {
  return wait_process(start_process(std::forward<Function>(function)));
}

/// Sets an environment variable; the destructor restores the previous value.
class environment_scope {
 public:
  environment_scope(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~environment_scope() { before_.empty() ? unsetenv(name_) : setenv(name_, before_.c_str(), 1); }
  environment_scope(const environment_scope&) = delete;
  environment_scope& operator=(const environment_scope&) = delete;

 private:
  const char* name_;
  std::string before_;
};

}  // namespace syncyte::test
