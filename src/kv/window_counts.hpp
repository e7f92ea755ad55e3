// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace syncyte::kv {

/// The number of open windows of intents of a node's workers for each key of one rank, in memory that the node's
/// processes share.
class window_counts {
 public:
  /// `counts`: one for each slot from `first` on, zeroed before the first use.
  window_counts(std::uint32_t* counts, std::int64_t first) : counts_(counts), first_(first) {}

  void add(std::int64_t slot, int change) const {
    count(slot).fetch_add(static_cast<std::uint32_t>(change), std::memory_order_relaxed);
  }
  [[gnu::always_inline]] void prefetch(std::int64_t slot) const { __builtin_prefetch(&counts_[slot - first_], 1); }
  bool any(std::int64_t slot) const { return count(slot).load(std::memory_order_relaxed) != 0; }

 private:
  std::atomic_ref<std::uint32_t> count(std::int64_t slot) const { return std::atomic_ref(counts_[slot - first_]); }

  std::uint32_t* counts_;
  std::int64_t first_;
};

}  // namespace syncyte::kv
