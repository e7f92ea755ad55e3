// SPDX-License-Identifier: BSD-3-Clause
#include "kv/key_locks.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"

namespace syncyte::kv {
namespace {

/// Reads of a word by a thread that must not wait. A write of a short vector ends meanwhile, if its thread runs.
constexpr int tries = 100;

}  // namespace

key_locks::key_locks(std::uint64_t* words, process self, std::int64_t first)
    : words_(origin(words, static_cast<std::size_t>(first))),
      self_(static_cast<std::uint64_t>(self.number)),
      is_alive_(std::move(self.is_alive)),
      name_(std::move(self.name)),
      world_rank_(std::move(self.world_rank)),
      key_of_(std::move(self.key)) {
  base::require(self.number >= 0 && self_ < most_processes, SYNCYTE_ERR_UNSUPPORTED, "more than {} processes on a node",
                most_processes);
}

void key_locks::fail_damaged(std::int64_t key, std::uint64_t seen) const {
  const int rank = world_rank_(holder_of(seen));
  base::refuse(SYNCYTE_ERR_PEER_DIED, {.object = name_, .rank = rank},
               fmt::format("key {} is damaged: rank {} of the world died while it wrote its values; set() repairs it",
                           key_of_(key), rank));
}

std::uint64_t key_locks::wait_for_writer(std::int64_t key) const {
  atomics::holder_wait wait(fmt::format("key {}", key_of_(key)), name_);
  while (true) {
    const std::uint64_t seen = word(key).load(std::memory_order_acquire);
    if (seen >> holder_shift == 0 || is_elsewhere(seen)) return seen;
    if ((seen & damage_bit) != 0) fail_damaged(key, seen);
    look_at_holder(wait, key, seen);
  }
}

std::optional<std::uint64_t> key_locks::try_again(std::int64_t key) const {
  std::uint64_t seen = 0;
  for (int i = 0; i < tries; ++i) {
    seen = word(key).load(std::memory_order_acquire);
    if (seen >> holder_shift == 0 || is_elsewhere(seen)) return seen;
    if ((seen & damage_bit) != 0) fail_damaged(key, seen);
  }
  mark_damage(key, seen);
  return std::nullopt;
}

/// Returns the word too. Throws for a damaged key if damage is refused.
key_locks::attempt key_locks::try_lock(std::int64_t key, std::uint64_t& seen, damage what, sharing how) {
  seen = word(key).load(std::memory_order_relaxed);
  if (is_elsewhere(seen) || (is_shared(seen) && how == sharing::is_refused)) return attempt::elsewhere;
  const bool is_damaged = (seen & damage_bit) != 0;
  if (is_damaged && what == damage::is_refused) fail_damaged(key, seen);
  if (!is_damaged && seen >> holder_shift != 0) return attempt::busy;
  std::uint64_t expected = seen;
  const std::uint64_t mine = mark(self_) | (seen & version_mask);
  return word(key).compare_exchange_strong(expected, mine, std::memory_order_acquire) ? attempt::locked : attempt::busy;
}

key_locks::attempt key_locks::try_begin_write(std::int64_t key, damage what, sharing how) {
  std::uint64_t seen = 0;
  for (int i = 0; i < tries; ++i) {
    const attempt result = try_lock(key, seen, what, how);
    if (result == attempt::busy) continue;
    std::atomic_thread_fence(std::memory_order_release);  // as in begin_write()
    return result;
  }
  if (seen >> holder_shift != 0) mark_damage(key, seen);
  return attempt::busy;
}

bool key_locks::lock_slowly(std::int64_t key, damage what, sharing how) {
  atomics::holder_wait wait(fmt::format("key {}", key_of_(key)), name_);
  std::uint64_t seen = 0;
  while (true) {
    const attempt result = try_lock(key, seen, what, how);
    if (result != attempt::busy) return result == attempt::locked;
    if (seen >> holder_shift != 0) look_at_holder(wait, key, seen);
  }
}

/// A damaged key stays damaged.
bool key_locks::end_sharing(std::int64_t key) {
  std::uint64_t seen = word(key).load(std::memory_order_relaxed);
  if (seen >> holder_shift != 0 && (seen & damage_bit) == 0) {
    mark_damage(key, seen);
    return false;
  }
  return word(key).compare_exchange_strong(seen, seen & ~shared_bit, std::memory_order_acq_rel);
}

/// A pause of a waiter. A holder that is stopped holds the key as long as it is.
void key_locks::look_at_holder(atomics::holder_wait& wait, std::int64_t key, std::uint64_t seen) const {
  if (!wait.pause(seen)) return;
  mark_damage(key, seen);
  wait.poll_for_interrupt();
}

/// Called for a word that has been held for long: marks the key damaged if the holder has died.
void key_locks::mark_damage(std::int64_t key, std::uint64_t seen) const {
  if ((seen & damage_bit) != 0 || is_alive_(holder_of(seen))) return;
  // If another waiter was faster, or the word was freed meanwhile, the next look sees it.
  word(key).compare_exchange_strong(seen, seen | damage_bit);
}

}  // namespace syncyte::kv
