// SPDX-License-Identifier: BSD-3-Clause
#include "halo/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/ranks.hpp"
#include "base/strided_copy.hpp"
#include "comm/dead_ranks.hpp"
#include "comm/departures.hpp"
#include "mpi/call.hpp"
#include "mpi/large_counts.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "mpi/thread_guard.hpp"
#include "syncyte/messages.h"
#include "watchdog/interrupts.hpp"
#include "watchdog/long_wait.hpp"

namespace syncyte::halo {
namespace {

/// Bytes of the elements of a message.
std::size_t bytes_of(std::span<const place> message, std::span<const base::buffer> arrays) {
  if (message.empty()) return 0;
  const place& last = message.back();
  const base::buffer& array = arrays[static_cast<std::size_t>(last.array)];
  return last.offset + static_cast<std::size_t>(distribution::volume(last.box)) * array.element_bytes();
}

header received_header(const side& side) {
  header got;
  std::memcpy(&got, side.in.data(), sizeof got);
  return got;
}

}  // namespace

bool transfer::posted::has_ended() { return mpi::has_ended(request, "MPI_Test"); }

transfer::transfer(std::shared_ptr<plan> on, operation way, const collectives::caller_facts& caller,
                   const std::function<std::vector<base::buffer>()>& prepare)
    : plan_(std::move(on)), way_(way), number_(0) {
  const mpi::thread_guard guard(name());
  plan_->slot().take();
  number_ = plan_->number() << 32 | plan_->slot().count();
  listing_.emplace(name(), plan_->comm()->name(), plan_->slot().count());
  try {
    set_facts(caller);
    arrays_ = prepare();
  } catch (...) {
    error_ = base::current_error();
  }
  const std::lock_guard lock(plan_->slot().mutex());
  try {
    post_receives();
    start_phase();
  } catch (...) {  // MPI has failed
    fail();
    end();
    throw;
  }
  enter_progress();
}

transfer::~transfer() {
  try {
    wait_or_leave();
  } catch (...) {  // a destructor cannot report it
  }
}

/// An accumulate goes through the phases of an exchange from the last to the first.
std::vector<side>& transfer::sides(std::size_t phase) const {
  return plan_->phases()[is_adjoint() ? phases() - 1 - phase : phase];
}

std::byte* transfer::data_of(const place& of) const {
  const base::buffer& array = array_of(of);
  std::byte* data = array.data();
  for (int d = 0; d < array.ndim(); ++d) data += of.box.first[static_cast<std::size_t>(d)] * array.stride(d);
  return data;
}

/// Posts equally many pieces in both directions, some of them empty: a neighbour in a different call on this halo sends
/// and receives messages of another length, and no rank may wait for a piece that is never sent.
void transfer::post(side& side, int rank, bool is_send) {
  const MPI_Comm comm = plan_->comm()->control();
  const int tag = is_adjoint() ? side.adjoint_tag : side.tag;
  const auto whole =
      static_cast<std::int64_t>(sizeof(header) + (is_send && !error_ ? bytes_of(outgoing(side), arrays_) : 0));
  mpi::in_pieces(static_cast<std::int64_t>(sizeof(header) + side.room), [&](std::int64_t first, int room) {
    MPI_Request& request = (is_send ? sends_ : receives_).emplace_back(posted{&side, rank, MPI_REQUEST_NULL}).request;
    if (is_send) {
      const auto length = static_cast<int>(std::clamp<std::int64_t>(whole - first, 0, room));
      mpi::check(MPI_Isend(side.out.data() + std::min(first, whole), length, MPI_BYTE, rank, tag, comm, &request),
                 "MPI_Isend");
    } else {
      mpi::check(MPI_Irecv(side.in.data() + first, room, MPI_BYTE, rank, tag, comm, &request), "MPI_Irecv");
      ++side.missing;
    }
  });
}

/// Posts the receives of all phases: a neighbour in a different call may be in a different phase.
void transfer::post_receives() {
  const int self = plan_->comm()->rank();
  for (std::size_t phase = 0; phase < phases(); ++phase)
    for (side& side : sides(phase)) {
      side.missing = 0;
      if (const int sender = sender_of(side); sender != SYNCYTE_PROC_NULL && sender != self) post(side, sender, false);
    }
}

void transfer::start_phase() {
  for (side& side : sides(phases_started_)) start_side(side);
  if (is_adjoint() && !error_) {
    for (const side& side : sides(phases_started_))
      if (receiver_of(side) != SYNCYTE_PROC_NULL)
        for (const place& each : outgoing(side)) clear(each);
    for (const place& each : plan_->cleared()) clear(each);
  }
  ++phases_started_;
}

void transfer::start_side(side& side) {
  const int receiver = receiver_of(side);
  if (receiver == SYNCYTE_PROC_NULL) return;
  if (receiver == plan_->comm()->rank()) {
    if (!error_) copy_own(side);
    return;
  }
  const header header{error_ ? error_->status() : SYNCYTE_SUCCESS, static_cast<std::int32_t>(way_), number_, facts_};
  std::memcpy(side.out.data(), &header, sizeof header);
  if (!error_) pack(side, side.out.data() + sizeof header);
  post(side, receiver, true);
}

void transfer::pack(const side& side, std::byte* to) const {
  for (const place& each : outgoing(side)) {
    const base::buffer& array = array_of(each);
    base::copy_strided(to + each.offset, each.strides_of(array.ndim()), data_of(each), array.strides(),
                       each.extents(array.ndim()), array.element_bytes());
  }
}

void transfer::clear(const place& of) const {
  const base::buffer& array = array_of(of);
  base::zero_strided(data_of(of), array.strides(), of.extents(array.ndim()), array.element_bytes());
}

/// What this rank sends itself. A sum needs the elements as they are before any addition.
void transfer::copy_own(const side& side) {
  if (way_ == operation::sum) return pack(side, side.in.data() + sizeof(header));
  for (std::size_t i = 0; i < outgoing(side).size(); ++i) {
    const place& from = outgoing(side)[i];
    store(incoming(side)[i], data_of(from), array_of(from).strides());
  }
}

/// Copies elements to ghosts, or adds them to cells.
void transfer::store(const place& to, const std::byte* elements, std::span<const std::int64_t> strides) {
  const base::buffer& array = array_of(to);
  const auto extents = to.extents(array.ndim());
  if (way_ == operation::exchange)
    base::copy_strided(data_of(to), array.strides(), elements, strides, extents, array.element_bytes());
  else
    base::add_strided(data_of(to), array.strides(), elements, strides, extents, array.dtype());
}

/// Replaces the points that others store too by the sums of all copies, in the order that is equal on all ranks.
void transfer::add_all(std::span<side> sides) {
  std::vector<std::pair<const place*, const std::byte*>> all;
  for (const side& side : sides)
    for (const place& each : incoming(side)) {
      all.emplace_back(&each, side.in.data() + sizeof(header) + each.offset);
      clear(each);
    }
  std::ranges::sort(all, {}, [](const auto& each) { return each.first->turn; });
  for (const auto& [to, elements] : all) store(*to, elements, to->strides_of(array_of(*to).ndim()));
}

void transfer::check_header(const header& got, int sender) {
  if (error_) return;
  const auto name = [this](std::int32_t way) { return plan_->name_of(static_cast<operation>(way)); };
  if (got.number != number_ || got.way != static_cast<std::int32_t>(way_)) {
    error_ = base::error(SYNCYTE_ERR_MISMATCH,
                         fmt::format("rank {} is in {} number {} of {} {}, this rank in {} number {} of {} {}; "
                                     "expected all ranks to use each {} in the same order",
                                     sender, name(got.way), got.number & 0xffffffff, plan_->noun(), got.number >> 32,
                                     this->name(), number_ & 0xffffffff, plan_->noun(), number_ >> 32, plan_->noun()));
  } else if (got.status != SYNCYTE_SUCCESS) {
    error_ = base::error(got.status, fmt::format("rank {}, a neighbour, has failed with {}, as its own message says",
                                                 sender, base::status_name(got.status)));
  } else {
    check_facts(got.facts, sender);
  }
}

void transfer::set_facts(const collectives::caller_facts& caller) {
  if (caller.error) throw *caller.error;
  facts_[0] = caller.fact;
  const std::int64_t count = caller.facts.size();
  base::expect(count < std::ssize(facts_), SYNCYTE_ERR_ARGUMENT, "options->fact_count", count, "0 to {} for a halo",
               facts_.size() - 1);
  for (std::int64_t i = 0; i < count; ++i) {
    const syncyte_fact_t each = caller.facts[i];
    facts_[static_cast<std::size_t>(i) + 1] = each.value;
    fact_names_[static_cast<std::size_t>(i) + 1] = each.name;
  }
}

void transfer::check_facts(const facts& got, int sender) {
  const auto [other, mine] = std::mismatch(got.begin(), got.end(), facts_.begin());
  if (other == got.end()) return;
  const auto number = static_cast<std::size_t>(other - got.begin());
  const char* const name = fact_names_[number] == nullptr ? "a fact" : fact_names_[number];
  error_ = base::error(SYNCYTE_ERR_MISMATCH, plan_->difference(number, name, *other, sender, *mine));
}

void transfer::finish_side(side& side) {
  const int sender = sender_of(side);
  if (sender == SYNCYTE_PROC_NULL || sender == plan_->comm()->rank()) return;
  check_header(received_header(side), sender);
  if (error_ || way_ == operation::sum) return;
  for (const place& each : incoming(side))
    store(each, side.in.data() + sizeof(header) + each.offset, each.strides_of(array_of(each).ndim()));
}

/// Checks that the message of a neighbour, perhaps of a later phase, is of the same call. A neighbour in a different
/// call may wait for messages that this rank would send only after that neighbour's own.
void transfer::check_call(const side& side) {
  const header got = received_header(side);
  if (got.number == number_ && got.way == static_cast<std::int32_t>(way_)) return;
  is_mismatch_ = true;
  check_header(got, sender_of(side));
}

/// Tests the receives of all phases; false if none has ended.
bool transfer::receive() {
  bool is_any = false;
  for (posted& each : receives_) {
    if (!each.is_active() || !each.has_ended()) continue;
    is_any = true;
    if (--each.side->missing == 0) check_call(*each.side);
  }
  return is_any;
}

bool transfer::has_arrived(std::size_t phase) const {
  const auto& all = sides(phase);
  return std::all_of(all.begin(), all.end(), [](const side& side) { return side.missing == 0; });
}

/// Makes as much progress as is possible without waiting; true once everything has ended.
bool transfer::advance() {
  for (;;) {
    while (phases_done_ < phases_started_ && has_arrived(phases_done_)) {
      for (side& side : sides(phases_done_)) finish_side(side);
      if (way_ == operation::sum && !error_) add_all(sides(phases_done_));
      ++phases_done_;
      if (phases_done_ == phases_started_ && phases_started_ < phases()) start_phase();
    }
    while (is_mismatch_ && phases_started_ < phases()) start_phase();
    if (phases_done_ == phases()) break;
    if (!receive()) return false;
  }
  return std::ranges::all_of(sends_, &posted::has_ended);
}

bool transfer::make_progress() noexcept {
  try {
    is_complete_ = is_complete_ || advance();
  } catch (...) {  // MPI has failed
    fail();
  }
  if (is_complete_) leave();
  return is_complete_;
}

/// From now on all waits make progress on the transfer, if it has more than one phase.
void transfer::enter_progress() {
  if (phases() == 1) return;
  plan_->slot().set_step([this] { make_progress(); });
  mpi::enter_progress(std::shared_ptr<transfer_slot>(plan_, &plan_->slot()));
}

/// Waits make progress on the transfer no longer.
void transfer::leave() noexcept {
  if (plan_->slot().set_step(nullptr)) mpi::leave_progress(plan_->slot());
}

bool transfer::is_in_flight() const {
  return std::ranges::any_of(receives_, &posted::is_active) || std::ranges::any_of(sends_, &posted::is_active);
}

/// Ends with an error; requests that MPI has not completed may still read and write the halo's memory.
void transfer::fail() noexcept {
  outcome_ = std::current_exception();
  is_complete_ = true;
  try {
    if (is_in_flight()) mpi::keep_for_ever(plan_);
  } catch (...) {  // out of memory: nothing better can be done
  }
  plan_->slot().set_broken(is_in_flight());
}

/// The caller has seen the end: the halo is free for the next transfer.
void transfer::end() {
  has_ended_ = true;
  leave();
  listing_.reset();
  plan_->slot().give_back();
}

/// MPI has ended, or is about to; the halo stays busy.
void transfer::give_up() {
  plan_->slot().set_broken(true);
  end();
  mpi::keep_for_ever(plan_);
  base::fail(SYNCYTE_ERR_NOT_INITIALIZED, "Syncyte was finalized before this {} was complete; wait for it first",
             name());
}

bool transfer::try_finish() {
  const std::lock_guard lock(plan_->slot().mutex());
  if (has_ended_) return true;
  if (!is_complete_ && !mpi::is_started()) give_up();
  if (!make_progress()) return false;
  end();
  if (outcome_) std::rethrow_exception(outcome_);
  if (error_) throw *error_;
  return true;
}

bool transfer::test() {
  if (try_finish()) return true;
  if (mpi::needs_progress()) mpi::progress_all();
  return false;
}

/// The neighbours whose messages are missing; if none is, the neighbours that have not received this rank's messages.
transfer::neighbours transfer::awaited() const {
  neighbours result;
  result.are_senders = std::ranges::any_of(receives_, &posted::is_active);
  for (const posted& each : result.are_senders ? receives_ : sends_)
    if (each.is_active()) result.ranks.insert(each.rank);
  return result;
}

class transfer::neighbours_wait final : public watchdog::long_wait {
 public:
  explicit neighbours_wait(transfer& transfer) : transfer_(transfer) {}

 private:
  void examine(std::optional<watchdog::scope>& scope) override {
    const std::lock_guard lock(transfer_.plan_->slot().mutex());
    const neighbours now = transfer_.awaited();
    const comm::communicator& comm = *transfer_.plan_->comm();
    if (!scope || now != awaited_)
      scope.emplace(transfer_.name(),
                    fmt::format("{} ({} {})", comm.name(), now.are_senders ? "from" : "to",
                                base::ranks_text(std::vector<int>(now.ranks.begin(), now.ranks.end()))),
                    transfer_.number_ & 0xffffffff);
    awaited_ = now;
    for (const int rank : now.ranks)
      if (has_lasted() && comm::has_departed(comm, rank)) throw comm::departed_error(comm, rank, transfer_.name());
  }

  void on_death() override { comm::fail_by_death(*transfer_.plan_->comm()); }

  transfer& transfer_;
  neighbours awaited_;
};

void transfer::wait() {
  if (try_finish()) return;
  {
    const std::lock_guard lock(plan_->slot().mutex());
    leave();  // this thread makes its progress
  }
  neighbours_wait wait(*this);
  try {
    const auto has_ended = [&] { return try_finish(); };
    if (!mpi::needs_progress()) return watchdog::poll_mpi_until(has_ended, wait);
    watchdog::poll_until(has_ended, wait);  // another rank may have to wait for what else is in flight
  } catch (const watchdog::interrupted&) {
    const std::lock_guard lock(plan_->slot().mutex());
    enter_progress();
    throw;
  } catch (...) {
    break_off();
    throw;
  }
}

/// Called while an exception is handled.
void transfer::break_off() noexcept {
  const std::lock_guard lock(plan_->slot().mutex());
  if (has_ended_) return;
  fail();
  end();
}

void transfer::wait_or_leave() {
  try {
    wait();
  } catch (const watchdog::interrupted&) {
    break_off();
    throw;
  }
}

}  // namespace syncyte::halo
