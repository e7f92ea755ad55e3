// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <vector>

#include "base/hash.hpp"
#include "base/ranks.hpp"
#include "comm/control_tags.hpp"
#include "comm/departures.hpp"
#include "mpi/call.hpp"
#include "mpi/communicators.hpp"
#include "mpi/progress.hpp"
#include "runtime/root.hpp"
#include "watchdog/long_wait.hpp"
#include "watchdog/scope.hpp"

namespace syncyte::runtime {

using namespace comm;
namespace {

constexpr const char* operation = "comm_create_group";

using ranks_view = std::span<const std::int32_t>;

/// The other valid ranks of the list, each once.
std::set<int> others_of(const communicator& comm, ranks_view ranks) {
  std::set<int> others;
  for (const std::int32_t rank : ranks)
    if (rank >= 0 && rank < comm.size() && rank != comm.rank()) others.insert(rank);
  return others;
}

void require_distinct(const communicator& comm, ranks_view ranks) {
  std::vector<bool> is_named(static_cast<std::size_t>(comm.size()));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    base::expect(ranks[i] >= 0 && ranks[i] < comm.size(), SYNCYTE_ERR_ARGUMENT, {"ranks", i}, ranks[i], "0 to {}",
                 comm.size() - 1);
    auto named = is_named[static_cast<std::size_t>(ranks[i])];
    base::expect(!named, SYNCYTE_ERR_ARGUMENT, {"ranks", i}, ranks[i], "every rank once");
    named = true;
  }
}

/// In step `list` the hash and length of the sender's list, in step `result` all_equal or not_equal.
using message = std::array<std::uint64_t, 2>;
enum step { list = 0, result = 1 };
constexpr message all_equal{1, 1}, not_equal{0, 0};

/// Each rank sends its list's hash to every other one, and then whether all lists are equal: MPI_Comm_create_group
/// would wait for ever if they are not.
class list_comparison {
 public:
  list_comparison(const communicator& comm, ranks_view ranks, int tag)
      : comm_(comm), ranks_(ranks), mine_{XXH3_64bits(ranks.data(), ranks.size_bytes()), ranks.size()}, tag_(tag) {
    for (const int rank : others_of(comm, ranks)) peers_->emplace_back().rank = rank;
  }

  /// Returns once all ranks of the list are known to have equal lists; throws if that cannot be.
  void run() {
    try {
      for (peer& each : *peers_)
        for (const step which : {list, result}) receive(each, which);
      send(list, mine_);
      watchdog::checked_wait wait([this] { require_possible(); });
      watchdog::poll_mpi_until([&] { return have_all(list, mine_); }, wait);
      send(result, all_equal);
      // No interrupt from here on: the others may be in MPI_Comm_create_group already.
      mpi::poll_until([&] { return have_all(result, all_equal); });
      for (peer& each : *peers_)
        for (MPI_Request& sent : each.sends) mpi::wait_for(sent, "MPI_Test (comm_create_group)");
    } catch (...) {
      break_off();
      throw;
    }
  }

  /// Reports to all ranks of the list that there is no group.
  void report_no_group() {
    send(list, not_equal);
    break_off();
  }

 private:
  /// Another rank of the list; messages to and from it, by step.
  struct peer {
    int rank = 0;
    std::array<message, 2> sent{};
    std::array<message, 2> received{};
    std::array<MPI_Request, 2> sends{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::array<MPI_Request, 2> receives{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  };

  void send(step which, const message& what) {
    has_sent_result_ = which == result;
    for (peer& each : *peers_) {
      const message& sent = each.sent[which] = what;
      mpi::check(MPI_Isend(sent.data(), sent.size(), MPI_UINT64_T, each.rank, group_tag(tag_), comm_.control(),
                           &each.sends[which]),
                 "MPI_Isend (comm_create_group)");
    }
  }

  void receive(peer& from, step which) {
    message& received = from.received[which];
    mpi::check(MPI_Irecv(received.data(), received.size(), MPI_UINT64_T, from.rank, group_tag(tag_), comm_.control(),
                         &from.receives[which]),
               "MPI_Irecv (comm_create_group)");
  }

  /// Throws if a rank reports that there is no group, or has departed: then another rank's list may never arrive.
  void require_possible() {
    have_all(result, all_equal);
    for (const peer& each : *peers_)
      if (has_departed(comm_, each.rank)) throw departed_error(comm_, each.rank, operation);
  }

  bool have_all(step which, const message& expected) {
    bool result = true;
    for (peer& each : *peers_) result &= has_arrived(each, which, expected);
    return result;
  }

  bool has_arrived(peer& from, step which, const message& expected) {
    if (!mpi::has_ended(from.receives[which], "MPI_Test (comm_create_group)")) return false;
    const message& answer = from.received[which];
    base::require(
        answer != not_equal, SYNCYTE_ERR_MISMATCH,
        "rank {} of {} makes no group of ranks {}: its call was broken off, found lists of ranks that differ, or "
        "came after a group that had failed",
        from.rank, comm_.name(), base::rank_numbers(ranks_));
    base::require(answer == expected, SYNCYTE_ERR_MISMATCH,
                  "rank {} of {} was called with other ranks; expected the same ranks on all of them, as here: {}",
                  from.rank, comm_.name(), base::rank_numbers(ranks_));
    return true;
  }

  /// Sends not_equal unless a result was sent; keeps the memory of messages that cannot be taken back.
  void break_off() noexcept {
    mpi::keep_for_ever(peers_);
    if (mpi::knows_death()) return;
    try {
      if (!has_sent_result_) send(result, not_equal);
      for (peer& each : *peers_)
        for (const step which : {list, result}) {
          if (each.receives[which] != MPI_REQUEST_NULL) MPI_Cancel(&each.receives[which]);
          for (MPI_Request* request : {&each.receives[which], &each.sends[which]})
            if (*request != MPI_REQUEST_NULL) MPI_Request_free(request);
        }
    } catch (...) {  // MPI has failed: the result cannot be sent
    }
  }

  const communicator& comm_;
  ranks_view ranks_;
  message mine_;
  int tag_;
  bool has_sent_result_ = false;
  std::shared_ptr<std::vector<peer>> peers_ = std::make_shared<std::vector<peer>>();
};

/// An MPI communicator of the list's ranks; see make_group().
MPI_Comm create_group(communicator& comm, std::span<const std::int32_t> ranks, int tag) {
  base::expect(tag >= 0 && tag < group_tags, SYNCYTE_ERR_ARGUMENT, "tag", tag, "0 to {}", group_tags - 1);
  base::expect(std::find(ranks.begin(), ranks.end(), comm.rank()) != ranks.end(), SYNCYTE_ERR_ARGUMENT, "ranks",
               fmt::format("[{}]", base::rank_numbers(ranks)), "this rank, {}, among them", comm.rank());
  list_comparison lists(comm, ranks, tag);
  if (comm.has_broken_group()) {
    lists.report_no_group();
    base::fail(
        SYNCYTE_ERR_MISMATCH,
        "no group of {} can be made any more, because an earlier one has failed; make groups of a duplicate of it",
        comm.name());
  }
  try {
    lists.run();
  } catch (...) {
    comm.set_broken_group();
    throw;
  }
  require_distinct(comm, ranks);
  return mpi::create_group(comm.control(), ranks, tag);
}

}  // namespace

std::shared_ptr<communicator> make_group(communicator& parent, std::span<const std::int32_t> ranks, int tag,
                                         const communicator_options& options) {
  const std::string title = fmt::format("{} of {}", base::ranks_text(ranks), parent.name());
  const watchdog::scope watched(operation, title, 0);
  const MPI_Comm data = create_group(parent, ranks, tag);
  return wrap_root(data, &parent, options, operation, options.name_or(parent.name() + "/group"));
}

}  // namespace syncyte::runtime
