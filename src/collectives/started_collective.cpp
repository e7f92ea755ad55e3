// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/started_collective.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "comm/start_queue.hpp"
#include "mpi/call.hpp"
#include "mpi/progress.hpp"
#include "watchdog/long_wait.hpp"

namespace syncyte::collectives {

namespace {

/// The caller's reference; when the caller drops it, only the queue keeps the operation.
std::shared_ptr<started_collective> handle_of(std::shared_ptr<started_collective> made) {
  auto* const raw = made.get();
  return {raw, [made = std::move(made)](started_collective*) { made->comm()->starts().orphan(made); }};
}

}  // namespace

started_t start_collective(const std::shared_ptr<comm::communicator>& comm, const char* operation,
                           const operation_maker& prepare) {
  auto made = std::make_shared<started_collective>(comm, operation);
  const comm::collective_guard guard(*comm, operation, true);
  made->terms().attempt([&] { made->set_operation(prepare(made->terms())); });
  const bool is_agreed_on = comm->check() != comm::check_level::off;
  if (made->terms().is_well() || is_agreed_on) comm->starts().add(made, guard.sequence());
  if (made->terms().is_well()) return handle_of(std::move(made));
  const base::error error = *made->terms().error();  // a copy: the collective, which owns the error, ends here
  comm->starts().orphan(made);
  throw error;
}

void fail_collective(const std::shared_ptr<comm::communicator>& comm, const char* operation, const base::error& error) {
  auto made = std::make_shared<started_collective>(comm, operation);
  const comm::collective_guard guard(*comm, operation, true);
  made->terms().set_error(error);
  comm->starts().add(made, guard.sequence());
  comm->starts().orphan(made);
}

bool started_collective::begin(std::uint64_t sequence) {
  sequence_ = sequence;
  if (is_off()) {
    try {
      operation_->move(pending_);
    } catch (...) {
      keep_if_pending();
      throw;
    }
    stage_ = stage::moving;
    return true;
  }
  vote_ = terms_.vote(sequence, false);
  terms_.keep_names();
  mpi::check(MPI_Iallreduce(MPI_IN_PLACE, vote_.data(), 3, MPI_UINT64_T, MPI_MAX, comm_->control(), pending_.add()),
             "MPI_Iallreduce (agreement)");
  return false;
}

bool started_collective::advance() {
  try {
    while (!is_posted() && pending_.test()) stage_ = next_stage();
  } catch (...) {
    fail();
  }
  return is_posted();
}

started_collective::stage started_collective::next_stage() {
  if (stage_ == stage::asking_who_failed) return tell_error();
  switch (comm::agreement::outcome_of(vote_)) {
    case comm::agreement::outcome::failed:
      return ask_who_failed();
    case comm::agreement::outcome::differ:
      return tell_facts();
    default:
      operation_->move(pending_);
      return stage::moving;
  }
}

namespace {

/// An allgather in place: `all` has one element for each rank, and this rank has filled its own.
template <class T>
void gather_in_place(const comm::communicator& comm, std::vector<T>& all, mover& pending) {
  const auto bytes = static_cast<int>(sizeof(T) * all.size() / static_cast<std::size_t>(comm.size()));
  mpi::check(
      MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), bytes, MPI_BYTE, comm.messages(), pending.add()),
      "MPI_Iallgather");
}

}  // namespace

started_collective::stage started_collective::ask_who_failed() {
  if (terms_.error()) text_ = terms_.error()->pack();
  failures_.resize(static_cast<std::size_t>(comm_->size()));
  failures_[static_cast<std::size_t>(comm_->rank())] = {comm::error_code_of(terms_.error()),
                                                        static_cast<std::uint32_t>(text_.size())};
  gather_in_place(*comm_, failures_, pending_);
  return stage::asking_who_failed;
}

started_collective::stage started_collective::tell_error() {
  for (const failure& each : failures_) error_codes_.push_back(each.error_code);
  const int source = comm::reporting_rank(error_codes_);
  text_.resize(failures_[static_cast<std::size_t>(source)].length);
  pending_.bcast(reinterpret_cast<std::byte*>(text_.data()), std::ssize(text_), source, SYNCYTE_UINT8);
  return stage::telling_error;
}

started_collective::stage started_collective::tell_facts() {
  records_.resize(static_cast<std::size_t>(comm_->size()));
  records_[static_cast<std::size_t>(comm_->rank())] = terms_.record(sequence_);
  gather_in_place(*comm_, records_, pending_);
  return stage::telling_facts;
}

void started_collective::end() {
  switch (stage_) {
    case stage::telling_error:
      throw comm::shared_error(error_codes_, text_, terms_.operation(), comm_->name(), comm_->rank());
    case stage::telling_facts:
      throw terms_.mismatch(records_);
    default:
      operation_->finish();
  }
}

bool started_collective::end_if_done() {
  if (stage_ == stage::ended) return true;
  if (!is_posted()) return false;
  try {
    if (!pending_.test()) return false;
    end();
  } catch (...) {
    fail();
  }
  stage_ = stage::ended;
  if (!pending_.any()) operation_.reset();
  return true;
}

void started_collective::fail() noexcept {
  outcome_ = std::current_exception();
  stage_ = stage::ended;
  keep_if_pending();
}

/// Keeps the memory for MPI, which may still read and write it after a failure half-way.
void started_collective::keep_if_pending() noexcept {
  try {
    if (pending_.any()) mpi::keep_for_ever(shared_from_this());
  } catch (...) {  // out of memory: nothing better can be done
  }
}

void started_collective::give_up() {
  const std::string text =
      fmt::format("{} #{} on {} can never end: the communicator has ended, and another rank has not started it",
                  terms_.operation(), sequence_, comm_->name());
  base::log(SYNCYTE_LOG_ERROR, "{}", text);
  outcome_ = std::make_exception_ptr(comm::agreed_error(SYNCYTE_ERR_MISMATCH, text));
  stage_ = stage::ended;
}

std::int64_t started_collective::seen_since(std::int64_t now) {
  if (first_seen_ns_ == 0) first_seen_ns_ = now;
  return first_seen_ns_;
}

bool started_collective::test() {
  if (!comm_->starts().has_ended(*this)) {
    if (mpi::needs_progress()) mpi::progress_all();
    return false;
  }
  if (outcome_) std::rethrow_exception(outcome_);
  return true;
}

void started_collective::wait() {
  comm::start_queue& queue = comm_->starts();
  if (!queue.is_posted(*this)) {  // another rank has not started it
    comm::members_wait wait(terms_.operation(), *comm_, sequence_);
    watchdog::poll_until([&] { return queue.is_posted(*this); }, wait);
  }
  if (!queue.has_ended(*this)) {
    comm::members_wait wait(terms_.operation(), *comm_, sequence_, comm::members_wait::transfer);
    watchdog::poll_until([&] { return queue.has_ended(*this); }, wait);
  }
  if (outcome_) std::rethrow_exception(outcome_);
}

}  // namespace syncyte::collectives
