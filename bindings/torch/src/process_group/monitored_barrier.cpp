// SPDX-License-Identifier: BSD-3-Clause
#include "process_group/monitored_barrier.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "tensors/buffers.hpp"

namespace syncyte::torch_binding::process_group {
namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

/// An empty message, in a channel of its own.
class signal {
 public:
  explicit signal(const communicator& comm, std::uint64_t number)
      : comm_(comm), tag_(static_cast<std::int32_t>(number % static_cast<std::uint64_t>(highest_tag()))) {
    options_.channel = 7;
  }
  void send(std::int32_t dest) { check(syncyte_comm_send(comm_.get(), nothing_.get(), dest, tag_, &options_)); }

  /// Returns whether it has come in time.
  bool receive(std::int32_t source, clock::time_point deadline) {
    constexpr double a_look = 1e-3;  // for a message that has come, also after the deadline
    const wait_limit limit(std::max(seconds(deadline - clock::now()).count(), a_look));
    const syncyte_status_t ended = syncyte_comm_recv(comm_.get(), source, tag_, &options_, nothing_.get(), nullptr);
    if (ended == SYNCYTE_ERR_INTERRUPTED && clock::now() >= deadline) return false;
    check(ended);
    return true;
  }

 private:
  const communicator& comm_;
  std::int32_t tag_;
  syncyte_message_options_t options_ SYNCYTE_MESSAGE_OPTIONS_INIT;
  buffer nothing_{std::span<std::int32_t>()};
};

/// The ranks from which rank 0 has got no message in time; only the first one unless all are asked for.
std::vector<std::int32_t> missing_ranks(signal& arrived, std::int32_t size, clock::time_point deadline, bool all) {
  std::vector<std::int32_t> missing;
  for (std::int32_t rank = 1; rank < size && (all || missing.empty()); ++rank)
    if (!arrived.receive(rank, deadline)) missing.push_back(rank);
  return missing;
}

std::string listed(const std::vector<std::int32_t>& ranks) {
  std::string result = ranks.size() == 1 ? "Rank " : "Ranks ";
  for (const std::int32_t rank : ranks) result += (rank == ranks.front() ? "" : ", ") + std::to_string(rank);
  return result;
}

}  // namespace

void monitored_barrier(const communicator& comm, std::uint64_t number, std::chrono::milliseconds timeout,
                       bool names_all_ranks) {
  const clock::time_point deadline = clock::now() + timeout;
  signal barrier(comm, number);
  // The wording is that of gloo, which programs look for.
  if (comm.rank() != 0) {
    barrier.send(0);
    TORCH_CHECK(barrier.receive(0, deadline), "Rank ", comm.rank(),
                " successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 0: "
                "no answer within ",
                timeout.count(), " ms. Rank 0's error names the rank that has not come");
    return;
  }
  TORCH_CHECK(timeout.count() > 0 || comm.size() == 1, "Rank 0 timed out in monitoredBarrier after ", timeout.count(),
              " ms");
  const auto missing = missing_ranks(barrier, comm.size(), deadline, names_all_ranks);
  TORCH_CHECK(missing.empty(), "[Rank 0]: ", listed(missing), " failed to pass monitoredBarrier in ", timeout.count(),
              " ms");
  for (std::int32_t rank = 1; rank < comm.size(); ++rank) barrier.send(rank);
}

}  // namespace syncyte::torch_binding::process_group
