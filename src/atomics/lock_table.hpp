// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace syncyte::atomics {

/// Names of the items that a lock table locks, and of the change that they are locked for, for errors and the watchdog.
struct locked_kind {
  const char* item = "row";
  const char* change = "added to it";
};

/// Locks of numbered items (rows, elements) in memory that a node shares. A word is 0 if the lock is free; otherwise it
/// names the holder and the item, so that a waiter can check whether the holder still lives. If the holder has died,
/// the item is damaged: it may be half changed, and every later attempt to lock it fails and names the holder.
///
/// The number of words is bounded: if there are more items, several share a word, and damage affects all of them.
class lock_table {
 public:
  static constexpr std::int64_t most_words = std::int64_t{1} << 16;

  /// Size of a table for this many items: a power of two, at most most_words.
  static std::int64_t words_for(std::int64_t items);

  lock_table() = default;
  /// `words`: a power of two of them, zeroed before first use. `holder`: this process's number, 0 to 32766. `is_alive`
  /// tells whether a holder lives. `name`: the tensor that the items belong to, for the watchdog. `world_rank`
  /// returns a holder's rank in MPI_COMM_WORLD, for errors.
  lock_table(std::span<std::uint64_t> words, int holder, std::function<bool(int)> is_alive,
             std::string name = "a tensor", locked_kind kind = {},
             std::function<int(int)> world_rank = std::identity{});

  bool empty() const { return words_.empty(); }

  void prefetch(std::int64_t item) const { __builtin_prefetch(&word(item), 1); }

  /// Throws SYNCYTE_ERR_PEER_DIED, naming the damaged item and the rank that died.
  void lock(std::int64_t item) {
    if (!take(item)) [[unlikely]]
      lock_slowly(item);
  }

  /// Returns false, without the lock, if a living process has held it for longest_try, so that a thread that serves
  /// others does not wait for long.
  bool try_lock(std::int64_t item) { return take(item) || try_slowly(item); }
  static constexpr std::chrono::microseconds longest_try{100};

  void unlock(std::int64_t item) { std::atomic_ref(word(item)).store(0, std::memory_order_release); }

 private:
  static constexpr int holder_shift = 48;
  static constexpr std::uint64_t item_mask = (std::uint64_t{1} << holder_shift) - 1;
  static constexpr std::uint64_t most_holders = 0x7fff;
  static constexpr std::uint64_t damage_bit = std::uint64_t{1} << 63;  // above the holder, who has died

  static std::uint64_t mark(std::uint64_t holder, std::int64_t item) {
    return (holder + 1) << holder_shift | (static_cast<std::uint64_t>(item) & item_mask);
  }

  static int holder_of(std::uint64_t word) { return static_cast<int>((word & ~damage_bit) >> holder_shift) - 1; }

  /// Words of neighbouring items lie on different cache lines. The factor is odd, so consecutive items have different
  /// words.
  std::uint64_t& word(std::int64_t item) const {
    return words_[static_cast<std::size_t>(item) * 0x9e3779b1u & (words_.size() - 1)];
  }

  bool take(std::int64_t item) {
    std::uint64_t free = 0;
    return std::atomic_ref(word(item)).compare_exchange_weak(free, mark(holder_, item), std::memory_order_acquire);
  }

  void lock_slowly(std::int64_t item);
  bool try_slowly(std::int64_t item);
  void look_after(std::uint64_t seen, std::int64_t item);

  std::span<std::uint64_t> words_;
  std::uint64_t holder_ = 0;
  std::function<bool(int)> is_alive_;
  std::string name_;
  locked_kind kind_;
  std::function<int(int)> world_rank_;
};

}  // namespace syncyte::atomics
