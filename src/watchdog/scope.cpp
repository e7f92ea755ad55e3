// SPDX-License-Identifier: BSD-3-Clause
#include "watchdog/scope.hpp"

#include <cstring>

#include "watchdog/records.hpp"

namespace syncyte::watchdog {
namespace {

/// Takes the first free slot of a rank's records or listings; -1 if there is none.
template <class Slots>
int take(Slots& slots, int count) {
  for (int i = 0; i < count; ++i)
    if (slots[i].is_taken.exchange(1) == 0) return i;
  return -1;
}

}  // namespace

scope::scope(const char* operation, const std::string& comm, std::uint64_t sequence, int ranks, kind how)
    : record_(-1) {
  rank_record* const mine = record_of_scopes.load(std::memory_order_acquire);
  if (mine == nullptr) return;
  record_ = take(mine->records, threads);
  if (record_ < 0) return;
  watchdog::thread_record& record = mine->records[record_];
  const std::int64_t now = now_ns();
  // An unlimited wait may be split into several, with other work in between: it is shown as one.
  constexpr std::int64_t longest_gap = 100'000'000;
  const bool goes_on = how != limited && record.kind == how && now - record.since_ns < longest_gap &&
                       std::strncmp(record.name.operation, operation, sizeof record.name.operation - 1) == 0;
  record.name.set(operation, comm, sequence);
  record.ranks = ranks;
  record.kind = how;
  if (!goes_on) record.begun_ns = now;
  record.since_ns = record.begun_ns.load();
  record.is_inside = 1;
}

scope::~scope() {
  rank_record* const mine = record_of_scopes.load(std::memory_order_acquire);
  if (record_ < 0 || mine == nullptr) return;
  watchdog::thread_record& record = mine->records[record_];
  record.is_inside = 0;
  record.since_ns = is_complete_ ? 0 : now_ns();
  record.is_taken = 0;
}

started_scope::started_scope(const char* operation, const std::string& comm, std::uint64_t sequence) : slot_(none) {
  rank_record* const mine = record_of_started_scopes.load(std::memory_order_acquire);
  if (mine == nullptr) return;
  slot_ = take(mine->listings, listings);
  if (slot_ < 0) {
    slot_ = unnamed;
    ++mine->unlisted;
    return;
  }
  watchdog::listing& listed = mine->listings[slot_];
  listed.name.set(operation, comm, sequence);
  listed.since_ns = now_ns();
  listed.is_shown = 1;
}

started_scope::~started_scope() {
  rank_record* const mine = record_of_started_scopes.load(std::memory_order_acquire);
  if (slot_ == none || mine == nullptr) return;
  if (slot_ == unnamed) {
    --mine->unlisted;
    return;
  }
  mine->listings[slot_].is_shown = 0;
  mine->listings[slot_].is_taken = 0;
}

}  // namespace syncyte::watchdog
