// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/members.hpp"

#include <fmt/format.h>

#include <atomic>
#include <optional>

#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "watchdog/long_wait.hpp"

namespace syncyte::fabric {
namespace {

/// A wait for the answers of owners.
class answers_wait final : public watchdog::long_wait {
 public:
  answers_wait(const char* operation, const std::string& comm) : operation_(operation), comm_(comm) {}

 private:
  void examine(std::optional<watchdog::scope>& scope) override {
    if (!scope) scope.emplace(operation_, comm_, 0);
  }

  const char* operation_;
  const std::string& comm_;
};

}  // namespace

std::string members::rank_name(int rank) const { return fmt::format("rank {} of {}", rank, communicator_); }

exchange members::begin(stream* in) const {
  mpi::require_rank_process();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return in == nullptr ? exchange(*engine_) : exchange(*in);
}

void members::wait(const char* operation, exchange& running) const {
  answers_wait waiting(operation, communicator_);
  running.wait([&] {
    waiting.poll();
    if (mpi::needs_progress()) mpi::progress_all();
  });
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace syncyte::fabric
