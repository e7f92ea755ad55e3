// SPDX-License-Identifier: BSD-3-Clause
#include "comm/collective_call.hpp"

#include <vector>

#include "comm/departures.hpp"
#include "comm/node_collectives.hpp"
#include "comm/vote_exchange.hpp"
#include "mpi/progress.hpp"
#include "mpi/small_collectives.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::comm {
namespace {

/// Gives all ranks the text of one of them.
std::string broadcast_text(MPI_Comm comm, int source, std::string text) {
  std::uint64_t length = text.size();
  mpi::bcast(length, source, comm);
  text.resize(length);
  mpi::bcast(std::span(text), source, comm);
  return text;
}

}  // namespace

void share_error(MPI_Comm comm, const std::optional<base::error>& mine, const char* operation,
                 const std::string& comm_name) {
  const std::vector<std::uint32_t> all = mpi::allgather(error_code_of(mine), comm);
  const int source = reporting_rank(all);
  const std::string packed = broadcast_text(comm, source, mpi::rank_in(comm) == source && mine ? mine->pack() : "");
  throw shared_error(all, packed, operation, comm_name, mpi::rank_in(comm));
}

collective_guard::collective_guard(communicator& comm, const char* operation, bool starts)
    : in_mpi_(operation, comm.size() == 1 && !starts), comm_(comm), sequence_(0) {
  if (comm.busy_.test_and_set(std::memory_order_acquire)) [[unlikely]]
    fail_busy(comm, operation);
  comm.operation_.store(operation, std::memory_order_relaxed);
  sequence_ = ++comm.sequence_;
}

void collective_guard::lift_time_limit() { comm_.unlimited_sequence_.store(sequence_, std::memory_order_relaxed); }

void collective_guard::lose_step() { comm_.is_out_of_step_.store(true, std::memory_order_relaxed); }

void collective_guard::fail_busy(const communicator& comm, const char* operation) {
  base::require(!comm.is_out_of_step(), SYNCYTE_ERR_INTERRUPTED,
                "{}: an earlier collective of communicator {} was interrupted on this rank, which is out of step with "
                "the others; expected the program to end, or another communicator",
                operation, comm.name());
  base::fail(SYNCYTE_ERR_BUSY,
             "{}: another thread is inside a collective of communicator {}; use one communicator per thread", operation,
             comm.name());
}

collective_guard::~collective_guard() {
  if (!comm_.is_out_of_step()) comm_.busy_.clear(std::memory_order_release);
}

collective_call::collective_call(communicator& comm, const char* operation, kind how)
    : agreement(comm, operation), kind_(how), guard_(comm, operation) {}

bool collective_call::may_carry(const communicator& comm) { return comm.node().count > 1; }

void collective_call::agree(small_reduction* carried) {
  if (kind_ == agrees_if_checked && comm().check() == check_level::off && (!is_well() || carried == nullptr)) {
    if (!is_well()) throw *error();
    meanwhile_.emplace();  // what comes now waits for ranks that may wait for this one elsewhere
    return;
  }
  if (comm().bypasses_mpi()) return agree_without_mpi();
  const bool pending = kind_ != agrees_if_checked && comm().deferred().pending();
  const vote_t local = vote(kind_ == finalize ? 0 : guard_.sequence(), pending);
  vote_t highest;
  try {
    if (kind_ != finalize) post_starts();
    highest = reduce(local, carried);
  } catch (const watchdog::interrupted&) {
    guard_.lose_step();
    throw;
  }
  if (outcome_of(highest) == outcome::failed) share_error(comm().data(), error(), operation(), comm().name());
  if (outcome_of(highest) == outcome::differ) explain_mismatch();
  if (kind_ != agrees_if_checked && bit_of(highest)) comm().deferred().collect(comm().data());
}

void collective_call::post_starts() {
  if (!mpi::needs_progress()) [[likely]]
    return;
  members_wait wait(operation(), comm(), 0);
  comm().starts().post_all(wait);
}

void collective_call::agree_without_mpi() const {
  if (is_well()) return;
  const std::uint32_t code = error_code_of(error());
  throw shared_error({&code, 1}, error()->pack(), operation(), comm().name(), 0);
}

members_wait::kind collective_call::kind_of_wait() const {
  return kind_ == finalize || is_world(comm()) ? members_wait::everyone : members_wait::members;
}

/// Makes progress first: other ranks may call this only after operations of this rank on other communicators.
agreement::vote_t collective_call::reduce(const vote_t& local, small_reduction* carried) {
  if (mpi::needs_progress()) mpi::progress_all();  // a rank that is always the last one never waits
  if (node_collectives* const on_node = comm().made_node_collectives()) {
    members_wait wait(operation(), comm(), guard_.sequence(), kind_of_wait());
    return on_node->votes().highest(local, wait);
  }
  return exchange_votes(comm(), operation(), kind_of_wait(), local, carried);
}

void collective_call::explain_mismatch() const {
  throw mismatch(mpi::allgather(record(guard_.sequence()), comm().data()));
}

}  // namespace syncyte::comm
