#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace syncyte::rows {

/// Locks of rows in memory that a node shares. A word is 0 where the lock is free; otherwise it names who holds it and
/// for which row, so that a waiter can see whether the holder still lives. If it does not, the row is damaged: it may
/// have been half added to, and every later attempt to lock it fails.
///
/// Tables are bounded: rows of larger tables share words (then damage hits all rows of the word).
class row_locks {
 public:
  static constexpr std::int64_t most_words = std::int64_t{1} << 16;

  /// Size of a table for this many rows: a power of two, at most most_words.
  static std::int64_t words_for(std::int64_t rows);

  row_locks() = default;
  /// `words`: a power of two of them, zeroed before first use. `holder`: who we are, 0 to 65533. `is_alive` tells of
  /// any holder. `name` is that of what the rows belong to, for the watchdog.
  row_locks(std::span<std::uint64_t> words, int holder, std::function<bool(int)> is_alive,
            std::string name = "a tensor");

  bool empty() const { return words_.empty(); }

  void prefetch(std::int64_t row) const { __builtin_prefetch(&word(row), 1); }

  /// Throws SYNCYTE_ERR_PEER_DIED, naming the damaged row.
  void lock(std::int64_t row) {
    std::uint64_t free = 0;
    if (!std::atomic_ref(word(row)).compare_exchange_weak(free, mark(holder_, row), std::memory_order_acquire))
        [[unlikely]]
      lock_slowly(row);
  }

  void unlock(std::int64_t row) { std::atomic_ref(word(row)).store(0, std::memory_order_release); }

 private:
  static constexpr int holder_shift = 48;
  static constexpr std::uint64_t damaged = 0xffff;
  static constexpr std::uint64_t row_mask = (std::uint64_t{1} << holder_shift) - 1;

  static std::uint64_t mark(std::uint64_t holder, std::int64_t row) {
    return (holder + 1) << holder_shift | (static_cast<std::uint64_t>(row) & row_mask);
  }

  /// Neighbours lie on different cache lines; the odd factor keeps consecutive rows on words of their own.
  std::uint64_t& word(std::int64_t row) const {
    return words_[static_cast<std::size_t>(row) * 0x9e3779b1u & (words_.size() - 1)];
  }

  void lock_slowly(std::int64_t row);
  void look_after(std::uint64_t seen, std::int64_t row);

  std::span<std::uint64_t> words_;
  std::uint64_t holder_ = 0;
  std::function<bool(int)> is_alive_;
  std::string name_;
};

}  // namespace syncyte::rows
