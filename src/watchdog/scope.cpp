#include "watchdog/scope.hpp"

#include <cstring>

#include "watchdog/place.hpp"

namespace syncyte::watchdog {
namespace {

/// Takes the first free slot of a rank's lanes or listings; -1 if there is none.
template <class Slots>
int take(Slots& slots, int count) {
  for (int i = 0; i < count; ++i)
    if (slots[i].is_taken.exchange(1) == 0) return i;
  return -1;
}

}  // namespace

scope::scope(const char* operation, const std::string& comm, std::uint64_t sequence, int ranks, kind how) : lane_(-1) {
  place* const mine = place_of_scopes();
  if (mine == nullptr) return;
  lane_ = take(mine->lanes, lanes);
  if (lane_ < 0) return;
  watchdog::lane& lane = mine->lanes[lane_];
  const std::int64_t now = now_ns();
  // A patient wait may be split into several, with other work in between: it is shown as one.
  constexpr std::int64_t longest_gap = 100'000'000;
  const bool goes_on = how != limited && lane.kind == how && now - lane.since_ns < longest_gap &&
                       std::strncmp(lane.name.operation, operation, sizeof lane.name.operation - 1) == 0;
  lane.name.set(operation, comm, sequence);
  lane.ranks = ranks;
  lane.kind = how;
  if (!goes_on) lane.begun_ns = now;
  lane.since_ns = lane.begun_ns.load();
  lane.is_inside = 1;
}

scope::~scope() {
  place* const mine = place_of_scopes();
  if (lane_ < 0 || mine == nullptr) return;
  watchdog::lane& lane = mine->lanes[lane_];
  lane.is_inside = 0;
  lane.since_ns = now_ns();
  lane.is_taken = 0;
}

started_scope::started_scope(const char* operation, const std::string& comm, std::uint64_t sequence) : slot_(none) {
  place* const mine = place_of_started_scopes();
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
  place* const mine = place_of_started_scopes();
  if (slot_ == none || mine == nullptr) return;
  if (slot_ == unnamed) {
    --mine->unlisted;
    return;
  }
  mine->listings[slot_].is_shown = 0;
  mine->listings[slot_].is_taken = 0;
}

}  // namespace syncyte::watchdog
