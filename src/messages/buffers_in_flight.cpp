// SPDX-License-Identifier: BSD-3-Clause
#include "messages/buffers_in_flight.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>

#include "base/error.hpp"
#include "base/overlap.hpp"

namespace syncyte::messages {
namespace {

/// Buffers by their first byte.
struct buffer_list {
  std::multimap<const std::byte*, const base::buffer*> by_begin;
  std::ptrdiff_t longest = 0;  // length of the longest range; reset when the list is empty

  void add(const base::buffer& buffer) {
    const base::byte_range range = base::range_of(buffer);
    by_begin.emplace(range.begin, &buffer);
    longest = std::max(longest, range.end - range.begin);
  }

  void remove(const base::buffer& buffer) {
    auto place = by_begin.lower_bound(base::range_of(buffer).begin);
    while (place->second != &buffer) ++place;
    by_begin.erase(place);
    if (by_begin.empty()) longest = 0;
  }

  bool shares_memory(const base::buffer& buffer) const {
    const base::byte_range range = base::range_of(buffer);
    const auto end = by_begin.lower_bound(range.end);
    return std::any_of(by_begin.upper_bound(range.begin - longest), end,
                       [&](const auto& each) { return base::share_memory(*each.second, buffer); });
  }
};

struct buffers_in_flight {
  std::atomic<int> count{0};
  std::mutex mutex;
  buffer_list by_use[2];  // read, written
};

buffers_in_flight& in_flight = *new buffers_in_flight;  // leaked: messages may end while static objects are destroyed

}  // namespace

buffer_in_flight::buffer_in_flight(const base::buffer& buffer, use what) : buffer_(buffer), use_(what) {
  const std::lock_guard lock(in_flight.mutex);
  in_flight.by_use[use_].add(buffer_);
  ++in_flight.count;
}

buffer_in_flight::~buffer_in_flight() {
  const std::lock_guard lock(in_flight.mutex);
  in_flight.by_use[use_].remove(buffer_);
  --in_flight.count;
}

void require_not_in_flight(const base::buffer& buffer, buffer_in_flight::use what) {
  if (in_flight.count.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(in_flight.mutex);
  for (const auto other : {buffer_in_flight::read, buffer_in_flight::written}) {
    const bool may_share = what == buffer_in_flight::read && other == buffer_in_flight::read;
    if (!may_share && in_flight.by_use[other].shares_memory(buffer))
      base::refuse(SYNCYTE_ERR_ARGUMENT,
                   {.argument = buffer.argument(),
                    .value = other == buffer_in_flight::read ? "memory that a message which was started still sends"
                                                             : "memory into which a message which was started receives",
                    .expected = "other memory, or a wait for that message first"});
  }
}

}  // namespace syncyte::messages
