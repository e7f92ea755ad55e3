// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "mpi/process_watch.hpp"
#include "shared_bytes.hpp"

namespace syncyte::test {

/// A child that waits. It is a zombie from kill() to the destructor.
class waiting_child {
 public:
  waiting_child() {
    const shared_bytes told(sizeof(mpi::process_id));
    auto& pid = *told.as<mpi::process_id>();
    pid_ = fork_to([&] {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const auto self = mpi::this_process();
      pid.start_time = self.start_time;
      std::atomic_ref(pid.pid).store(self.pid);
      ::pause();
    });
    while (std::atomic_ref(pid.pid).load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    process_ = pid;
  }
  ~waiting_child() {
    kill();
    exit_code(pid_);
  }
  waiting_child(const waiting_child&) = delete;
  waiting_child& operator=(const waiting_child&) = delete;

  void kill() const {
    ::kill(pid_, SIGKILL);
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  mpi::process_id process() const { return process_; }

  /// The child in place of the processes of many ranks.
  std::vector<mpi::rank_process> as_ranks(int count) const {
    std::vector<mpi::rank_process> result;
    for (int rank = 0; rank < count; ++rank) result.push_back({rank, process()});
    return result;
  }

 private:
  pid_t pid_ = 0;
  mpi::process_id process_;
};

}  // namespace syncyte::test
