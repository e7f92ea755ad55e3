// SPDX-License-Identifier: BSD-3-Clause
#include "comm/vote_exchange.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>

#include "comm/control_tags.hpp"
#include "comm/dead_ranks.hpp"
#include "comm/departures.hpp"
#include "mpi/call.hpp"

namespace syncyte::comm {
namespace {

using vote_t = agreement::vote_t;

/// Set in place of an error code, above all of them; the lower bits are the rank that has departed.
constexpr std::uint64_t departed_bit = std::uint64_t{1} << 63;

struct vote_message {
  vote_t vote{};
  std::uint64_t bytes = 0;  // of the values
  decltype(small_reduction::values) values;

  int length() const { return static_cast<int>(offsetof(vote_message, values) + bytes); }
};

/// Recursive doubling. The ranks beyond the last power of two give their vote to a lower one, and get the result of it.
class exchange {
 public:
  exchange(communicator& comm, members_wait::kind kind, const vote_t& local, small_reduction* carried)
      : comm_(comm), kind_(kind), carried_(carried) {
    reduced_.vote = local;
    if (carried == nullptr) return;
    reduced_.bytes = carried->bytes;
    reduced_.values = carried->values;
  }

  const vote_message& run() {
    try {
      go_round();
      finish_sends();
    } catch (...) {
      for (std::size_t i = 0; i < sends_; ++i) leave(requests_[i]);
      throw;
    }
    return reduced_;
  }

 private:
  void go_round() {
    const int size = comm_.size();
    const int rank = comm_.rank();
    const int inner = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
    if (rank >= inner) {
      send(rank - inner);
      reduced_ = receive(rank - inner);
    } else {
      if (rank + inner < size) reduce_with(rank + inner);
      for (int distance = 1; distance < inner; distance *= 2) {
        send(rank ^ distance);
        reduce_with(rank ^ distance);
      }
      if (rank + inner < size) send(rank + inner);
    }
  }

  void send(int rank) {
    const vote_message& sent = memory_->sent[sends_] = reduced_;
    mpi::check(MPI_Isend(&sent, sent.length(), MPI_BYTE, rank, vote_tag(), comm_.control(), &requests_[sends_]),
               "MPI_Isend (agreement)");
    receivers_[sends_++] = rank;
  }

  vote_message& receive(int rank) {
    vote_message& got = memory_->received;
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(MPI_Irecv(&got, sizeof got, MPI_BYTE, rank, vote_tag(), comm_.control(), &request),
               "MPI_Irecv (agreement)");
    try {
      if (!await(request, rank) && cancel(request)) got = {{departed_bit | static_cast<std::uint64_t>(rank)}, 0, {}};
    } catch (...) {
      if (!mpi::knows_death()) MPI_Cancel(&request);
      leave(request);
      throw;
    }
    return got;
  }

  /// Values are reduced in order of ranks, so that all ranks get the same bits.
  void reduce_with(int rank) {
    vote_message& got = receive(rank);
    for (std::size_t i = 0; i < got.vote.size(); ++i) reduced_.vote[i] = std::max(reduced_.vote[i], got.vote[i]);
    if (carried_ == nullptr || got.bytes != reduced_.bytes) return;  // the ranks do not agree
    if (rank > comm_.rank()) std::swap(got.values, reduced_.values);
    mpi::check(
        MPI_Reduce_local(got.values.data(), reduced_.values.data(), carried_->count, carried_->type, carried_->op),
        "MPI_Reduce_local");
  }

  /// Cancels a receive; false if its message has arrived meanwhile.
  static bool cancel(MPI_Request& request) {
    MPI_Status status;
    int is_cancelled = 0;
    MPI_Cancel(&request);
    mpi::check(MPI_Wait(&request, &status), "MPI_Wait (agreement)");
    MPI_Test_cancelled(&status, &is_cancelled);
    return is_cancelled != 0;
  }

  /// Waits for a message; false if the other rank has departed.
  bool await(MPI_Request& request, int rank) {
    bool is_done = false;
    message_wait wait(*this, rank);
    watchdog::poll_mpi_until(
        [&] {
          is_done = mpi::has_ended(request, "MPI_Test (agreement)");
          return is_done || wait.is_departed;
        },
        wait);
    return is_done;
  }

  /// MPI copies messages this short, so their sends end before they are received; where MPI does not, a send to a
  /// departed rank is left.
  void finish_sends() {
    for (std::size_t i = 0; i < sends_; ++i)
      if (!await(requests_[i], receivers_[i])) leave(requests_[i]);
  }

  /// Leaves a request to MPI, which may use its memory later. After a death MPI cannot free the request either.
  void leave(MPI_Request& request) {
    if (request == MPI_REQUEST_NULL) return;
    if (!mpi::knows_death()) MPI_Request_free(&request);
    mpi::keep_for_ever(memory_);
  }

  /// A wait for a message to or from one rank, which may have departed.
  struct message_wait final : watchdog::long_wait {
    message_wait(const exchange& waiting, int other) : of(waiting), rank(other) {}

    void examine(std::optional<watchdog::scope>&) override {
      is_departed = has_lasted() && of.kind_ == members_wait::members && comm::has_departed(of.comm_, rank);
    }
    void on_death() override { comm::fail_by_death(of.comm_); }

    const exchange& of;
    int rank;
    bool is_departed = false;
  };

  static constexpr std::size_t most_sends = 33;
  struct message_memory {
    std::array<vote_message, most_sends> sent;
    vote_message received;
  };
  communicator& comm_;
  members_wait::kind kind_;
  small_reduction* carried_;
  vote_message reduced_;
  std::shared_ptr<message_memory> memory_ = std::make_shared<message_memory>();
  std::array<MPI_Request, most_sends> requests_;
  std::array<int, most_sends> receivers_;
  std::size_t sends_ = 0;
};

}  // namespace

vote_t exchange_votes(communicator& comm, const char* operation, members_wait::kind kind, const vote_t& local,
                      small_reduction* carried) {
  exchange all(comm, kind, local, carried);
  const auto& [highest, bytes, values] = all.run();
  if ((highest[0] & departed_bit) != 0)
    throw departed_error(comm, static_cast<int>(highest[0] & ~departed_bit), operation);
  if (carried != nullptr) carried->values = values;
  return highest;
}

}  // namespace syncyte::comm
