#include "rows/row_locks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.hpp"
#include "rows/lock_wait.hpp"

namespace syncyte::rows {
std::int64_t row_locks::words_for(std::int64_t rows) {
  const auto enough = std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(rows, 1, most_words)));
  return static_cast<std::int64_t>(enough);
}

row_locks::row_locks(std::span<std::uint64_t> words, int holder, std::function<bool(int)> is_alive, std::string name)
    : words_(words),
      holder_(static_cast<std::uint64_t>(holder)),
      is_alive_(std::move(is_alive)),
      name_(std::move(name)) {
  base::require(std::has_single_bit(words.size()), SYNCYTE_ERR_INTERNAL, "a lock table of {} words", words.size());
  base::require(holder >= 0 && holder_ + 1 < damaged, SYNCYTE_ERR_UNSUPPORTED, "more than {} ranks on a node",
                damaged - 1);
}

void row_locks::lock_slowly(std::int64_t row) {
  const std::atomic_ref lock(word(row));
  lock_wait wait(fmt::format("row {}", row), name_);
  while (true) {
    std::uint64_t seen = 0;
    if (lock.compare_exchange_weak(seen, mark(holder_, row), std::memory_order_acquire)) return;
    if (seen == 0) continue;  // a spurious failure
    if (seen >> holder_shift == damaged || wait.pause(seen)) look_after(seen, row);
  }
}

/// The lock has been held for long: throws if its row is damaged, or must now be called so.
void row_locks::look_after(std::uint64_t seen, std::int64_t row) {
  const std::uint64_t held_row = seen & row_mask;
  if (seen >> holder_shift != damaged) {
    if (is_alive_(static_cast<int>((seen >> holder_shift) - 1))) return;
    const std::uint64_t damage = damaged << holder_shift | held_row;
    // If another waiter was quicker, or the word was freed meanwhile, the next round sees it.
    if (!std::atomic_ref(word(row)).compare_exchange_strong(seen, damage)) return;
  }
  base::require(held_row == (static_cast<std::uint64_t>(row) & row_mask), SYNCYTE_ERR_PEER_DIED,
                "row {} shares its lock with row {}, which is damaged: a process died while it added to it", row,
                held_row);
  base::fail(SYNCYTE_ERR_PEER_DIED, "row {} is damaged: a process died while it added to it", row);
}

}  // namespace syncyte::rows
