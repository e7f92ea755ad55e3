// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process_id.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace syncyte::mpi {
namespace {

/// State and start time of a process, from /proc/PID/stat; nothing if that cannot be read.
struct process_stat {
  char state = '?';
  std::int64_t start_time = 0;
};

std::optional<process_stat> read_stat(std::int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const auto after_name = line.rfind(')');  // the name may hold anything, parentheses too
  if (after_name == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(after_name + 1));
  process_stat result;
  fields >> result.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  fields >> result.start_time;
  return fields ? std::optional(result) : std::nullopt;
}

}  // namespace

process_id this_process() {
  const std::int64_t pid = ::getpid();
  const auto stat = read_stat(pid);
  return {pid, stat ? stat->start_time : 0};
}

bool is_alive(const process_id& process) {
  const auto stat = read_stat(process.pid);
  if (stat) return stat->start_time == process.start_time && stat->state != 'Z' && stat->state != 'X';
  // The file is not there, or this process has no file descriptor left to read it. A signal of 0 needs none.
  return ::kill(static_cast<pid_t>(process.pid), 0) == 0 || errno != ESRCH;
}

memory::descriptor open_process(const process_id& process) {
  if (process.pid == 0) return {};
  memory::descriptor result(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  // Checked after it is open: the number might have gone to another process before.
  if (result && !is_alive(process)) return {};
  return result;
}

}  // namespace syncyte::mpi
