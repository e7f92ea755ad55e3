// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace syncyte::kv {

/// Which ranks of a node have open windows of intents for each key of one of its ranks: a bit for each rank, in memory
/// that the node's processes share. So a rank's windows end with its life.
class window_marks {
 public:
  /// Number of words for a key.
  static std::size_t words(int ranks) { return (static_cast<std::size_t>(ranks) + word_bits - 1) / word_bits; }

  /// `marks`: words(ranks) for each slot from `first` on, zeroed before the first use.
  window_marks(std::uint32_t* marks, std::int64_t first, int ranks)
      : marks_(marks), first_(first), words_(words(ranks)) {}

  void set(std::int64_t slot, int rank) const { word(slot, rank).fetch_or(bit(rank), std::memory_order_relaxed); }
  void clear(std::int64_t slot, int rank) const { word(slot, rank).fetch_and(~bit(rank), std::memory_order_relaxed); }

  /// Whether a rank for which is_alive(rank) has a window.
  template <class IsAlive>
  bool any(std::int64_t slot, IsAlive&& is_alive) const {
    for (std::size_t i = 0; i < words_; ++i) {
      const int first_rank = static_cast<int>(i * word_bits);
      for (std::uint32_t left = word(slot, first_rank).load(std::memory_order_relaxed); left != 0; left &= left - 1)
        if (is_alive(first_rank + std::countr_zero(left))) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t word_bits = 32;
  static std::uint32_t bit(int rank) { return std::uint32_t{1} << (static_cast<std::size_t>(rank) % word_bits); }
  std::atomic_ref<std::uint32_t> word(std::int64_t slot, int rank) const {
    const std::size_t place = static_cast<std::size_t>(slot - first_) * words_;
    return std::atomic_ref(marks_[place + static_cast<std::size_t>(rank) / word_bits]);
  }

  std::uint32_t* marks_;
  std::int64_t first_;
  std::size_t words_;
};

}  // namespace syncyte::kv
