// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "atomics/holder_wait.hpp"

namespace syncyte::kv {

/// The address at which element 0 would be, if element `first` is at `address`. Used only with indices from `first` on.
inline std::uint64_t* origin(std::uint64_t* address, std::size_t first) {
  return reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::uintptr_t>(address) - first * sizeof *address);
}

/// A sequence lock for each key, in memory that a node's processes share. A key's word holds the process that writes
/// the key's values, and the number of writes so far. Readers take no lock: they read again if a write came between.
///
/// If a process dies while it writes, the key is damaged: its values may be half written.
///
/// The values of a key may be elsewhere: the word then says so in place of the process, and nobody reads or writes them
/// here until come_back().
///
/// A key may be shared: other nodes have copies of its values. A bit of the word says so, next to the number of writes.
class key_locks {
 public:
  /// This process's number, and a function that tells whether a process lives.
  struct process {
    int number = 0;                                        ///< 0 to 32765
    std::function<bool(int)> is_alive;                     ///< takes any process's number
    std::string name = "a store";                          ///< name of the store, for the watchdog
    std::function<int(int)> world_rank = std::identity{};  ///< a process's rank in MPI_COMM_WORLD, for errors
    std::function<std::int64_t(std::int64_t)> key = std::identity{};  ///< the key of a slot, for errors
  };

  /// `words`: one for each key from `first` on, zero before its first use.
  key_locks(std::uint64_t* words, process self, std::int64_t first = 0);

  template <bool ForWriting>
  [[gnu::always_inline]] void prefetch(std::int64_t key) const {
    __builtin_prefetch(&words_[key], ForWriting);
  }

  /// Begins a read: waits while the values are written, and returns the word to pass to is_unchanged() after the values
  /// have been read, unless it says is_elsewhere(). Throws SYNCYTE_ERR_PEER_DIED for a damaged key, naming the rank
  /// that died.
  std::uint64_t begin_read(std::int64_t key) const {
    const std::uint64_t seen = word(key).load(std::memory_order_acquire);
    return seen >> holder_shift == 0 ? seen : wait_for_writer(key);
  }
  /// begin_read() without waiting: null while the values are written.
  std::optional<std::uint64_t> try_begin_read(std::int64_t key) const {
    const std::uint64_t seen = word(key).load(std::memory_order_acquire);
    return seen >> holder_shift == 0 ? seen : try_again(key);
  }
  static bool is_elsewhere(std::uint64_t seen) { return (seen & ~version_mask) == elsewhere; }
  static bool is_shared(std::uint64_t seen) { return (seen & shared_bit) != 0; }
  bool is_elsewhere(std::int64_t key) const { return is_elsewhere(word(key).load(std::memory_order_acquire)); }
  bool is_unchanged(std::int64_t key, std::uint64_t seen) const {
    std::atomic_thread_fence(std::memory_order_acquire);  // the word is read after the values
    return word(key).load(std::memory_order_relaxed) == seen;
  }

  enum class damage { is_refused, is_mended };    ///< a write of all values mends damage
  enum class sharing { is_allowed, is_refused };  ///< refused: a shared key is treated as one that is elsewhere

  /// Locks the key for writing until end_write(); false if its values are elsewhere. Throws as begin_read() does,
  /// unless damage is mended.
  bool begin_write(std::int64_t key, damage what, sharing how = sharing::is_allowed) {
    std::uint64_t seen = word(key).load(std::memory_order_relaxed) & free_mask(how);
    if (!word(key).compare_exchange_weak(seen, mark(self_) | seen, std::memory_order_acquire)) [[unlikely]]
      if (!lock_slowly(key, what, how)) return false;
    std::atomic_thread_fence(std::memory_order_release);  // the values are written after the word
    return true;
  }
  /// begin_write() without waiting.
  enum class attempt { locked, busy, elsewhere };
  attempt try_begin_write(std::int64_t key, damage what, sharing how = sharing::is_allowed);
  /// Returns whether the key is shared.
  bool end_write(std::int64_t key) {
    const std::uint64_t locked = word(key).load(std::memory_order_relaxed), shared = locked & shared_bit;
    word(key).store(shared | ((locked + 1) & number_mask), std::memory_order_release);
    return shared != 0;
  }

  /// In place of end_write(): the key's values are elsewhere from now on.
  void leave(std::int64_t key) {
    const std::uint64_t locked = word(key).load(std::memory_order_relaxed);
    word(key).store(elsewhere | ((locked + 1) & number_mask), std::memory_order_release);
  }
  /// The values of a key that was elsewhere have been written here.
  void come_back(std::int64_t key) { end_write(key); }

  /// In place of end_write() or come_back(): the key is shared from now on.
  void share(std::int64_t key) {
    const std::uint64_t locked = word(key).load(std::memory_order_relaxed);
    word(key).store(shared_bit | ((locked + 1) & number_mask), std::memory_order_release);
  }
  /// Ends the sharing of a key; false if it is being written.
  bool end_sharing(std::int64_t key);

 private:
  static constexpr int holder_shift = 48;
  static constexpr std::uint64_t version_mask = (std::uint64_t{1} << holder_shift) - 1;
  static constexpr std::uint64_t shared_bit = std::uint64_t{1} << (holder_shift - 1);
  static constexpr std::uint64_t number_mask = shared_bit - 1;  // number of writes
  static constexpr std::uint64_t most_processes = 0x7ffe;
  static constexpr std::uint64_t elsewhere = std::uint64_t{0x7fff} << holder_shift;  // the number after all holders
  static constexpr std::uint64_t damage_bit = std::uint64_t{1} << 63;                // above the writer, who has died

  static int holder_of(std::uint64_t word) { return static_cast<int>((word & ~damage_bit) >> holder_shift) - 1; }
  static std::uint64_t free_mask(sharing how) { return how == sharing::is_allowed ? version_mask : number_mask; }
  static std::uint64_t mark(std::uint64_t number) { return (number + 1) << holder_shift; }
  std::atomic_ref<std::uint64_t> word(std::int64_t key) const { return std::atomic_ref(words_[key]); }
  attempt try_lock(std::int64_t key, std::uint64_t& seen, damage what, sharing how);

  std::uint64_t wait_for_writer(std::int64_t key) const;
  std::optional<std::uint64_t> try_again(std::int64_t key) const;
  bool lock_slowly(std::int64_t key, damage what, sharing how);
  void look_at_holder(atomics::holder_wait& wait, std::int64_t key, std::uint64_t seen) const;
  void mark_damage(std::int64_t key, std::uint64_t seen) const;
  [[noreturn]] void fail_damaged(std::int64_t key, std::uint64_t seen) const;

  std::uint64_t* words_;  // where key 0's word would be
  std::uint64_t self_;
  std::function<bool(int)> is_alive_;
  std::string name_;
  std::function<int(int)> world_rank_;
  std::function<std::int64_t(std::int64_t)> key_of_;
};

}  // namespace syncyte::kv
