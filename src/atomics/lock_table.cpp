// SPDX-License-Identifier: BSD-3-Clause
#include "atomics/lock_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "atomics/backoff.hpp"
#include "atomics/holder_wait.hpp"
#include "base/error.hpp"

namespace syncyte::atomics {

std::int64_t lock_table::words_for(std::int64_t items) {
  const auto enough = std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(items, 1, most_words)));
  return static_cast<std::int64_t>(enough);
}

lock_table::lock_table(std::span<std::uint64_t> words, int holder, std::function<bool(int)> is_alive, std::string name,
                       locked_kind kind, std::function<int(int)> world_rank)
    : words_(words),
      holder_(static_cast<std::uint64_t>(holder)),
      is_alive_(std::move(is_alive)),
      name_(std::move(name)),
      kind_(kind),
      world_rank_(std::move(world_rank)) {
  base::require(std::has_single_bit(words.size()), SYNCYTE_ERR_INTERNAL, "a lock table of {} words", words.size());
  base::require(holder >= 0 && holder_ < most_holders, SYNCYTE_ERR_UNSUPPORTED, "more than {} ranks on a node",
                most_holders);
}

void lock_table::lock_slowly(std::int64_t item) {
  const std::atomic_ref lock(word(item));
  holder_wait wait(fmt::format("{} {}", kind_.item, item), name_);
  while (true) {
    std::uint64_t seen = 0;
    if (lock.compare_exchange_weak(seen, mark(holder_, item), std::memory_order_acquire)) return;
    if (seen == 0) continue;  // the weak exchange failed spuriously
    if ((seen & damage_bit) != 0 || wait.pause(seen)) look_after(seen, item);
  }
}

bool lock_table::try_slowly(std::int64_t item) {
  const std::atomic_ref lock(word(item));
  const auto end = std::chrono::steady_clock::now() + longest_try;
  backoff pauses;
  while (true) {
    const bool is_last = std::chrono::steady_clock::now() >= end;  // read before the last try
    std::uint64_t seen = 0;
    if (lock.compare_exchange_strong(seen, mark(holder_, item), std::memory_order_acquire)) return true;
    if (is_last || (seen & damage_bit) != 0) {
      look_after(seen, item);
      return false;
    }
    pauses.pause(longest_try / 4);
  }
}

/// Called for a lock that has been held for long. Marks its item damaged if the holder has died; throws if the item is
/// damaged.
void lock_table::look_after(std::uint64_t seen, std::int64_t item) {
  const std::uint64_t held_item = seen & item_mask;
  if ((seen & damage_bit) == 0) {
    if (is_alive_(holder_of(seen))) return;
    // If another waiter was faster, or the word was freed meanwhile, the next round sees it.
    if (!std::atomic_ref(word(item)).compare_exchange_strong(seen, seen | damage_bit)) return;
  }
  const bool is_shared = held_item != (static_cast<std::uint64_t>(item) & item_mask);
  const std::string sharing = is_shared ? fmt::format(" shares its lock with {} {}, which", kind_.item, held_item) : "";
  const int rank = world_rank_(holder_of(seen));
  base::refuse(SYNCYTE_ERR_PEER_DIED, {.object = name_, .rank = rank},
               fmt::format("{} {}{} is damaged: rank {} of the world died while it {}", kind_.item, item, sharing, rank,
                           kind_.change));
}

}  // namespace syncyte::atomics
