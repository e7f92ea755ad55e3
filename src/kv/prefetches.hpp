// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "kv/prefetched_keys.hpp"
#include "kv/started_operations.hpp"
#include "kv/store.hpp"

namespace syncyte::kv {

/// The prefetches of one worker, which wait for its next pull of the same list of keys. Changes that the worker starts
/// meanwhile are recorded in them. Thread-safe.
///
/// Each must be either before or after each change, in the stream and in the records. No lock is held while an
/// operation starts, because a start may wait; a prefetch during whose start another thread starts a change is dropped,
/// and so are all if two changes start at once.
class prefetches {
 public:
  static constexpr std::size_t most = SYNCYTE_STORE_MAX_PREFETCHES;
  using one = std::shared_ptr<prefetched_keys>;

  /// `are_used`: false if all keys are always at this node.
  prefetches(const store& of, started_operations& in_flight, bool are_used)
      : store_(of), in_flight_(in_flight), are_used_(are_used) {}

  bool are_used() const { return are_used_; }

  /// A change of keys that the worker starts now. Unless it is known to have succeeded, all prefetches are dropped.
  class change {
   public:
    explicit change(prefetches& of);
    ~change();
    change(const change&) = delete;
    change& operator=(const change&) = delete;

    /// To be called when the operation has been started.
    void has_started(const operation& what, std::span<const std::int64_t> keys, const float* values);
    /// To be called when it has succeeded, or has a request, which tells its error.
    void has_succeeded() { is_certain_ = true; }

   private:
    prefetches& of_;
    std::uint64_t number_ = 0;
    bool is_alone_ = true;
    bool has_started_ = false, is_certain_ = false;
  };

  /// The number of changes, before a prefetch is started. Nothing if one is being started by another thread.
  std::optional<std::uint64_t> changes() const;
  /// Keeps a prefetch that was started after changes(). The oldest one is dropped if there are `most`.
  void add(one started, std::uint64_t changes_before);

  /// Takes the oldest prefetch of this list; null if there is none, and in a forked child, where none ends.
  one take(std::span<const std::int64_t> keys);
  /// The same if its values are here.
  one take_if_here(std::span<const std::int64_t> keys);
  void drop_all();

 private:
  template <class Which>
  one take(std::span<const std::int64_t> keys, Which&& which);
  void record(const operation& what, std::span<const std::int64_t> keys, const float* values);
  template <class Which>
  void drop_if(Which&& which, std::vector<one>& dropped);
  void drop_old(std::vector<one>& dropped);
  void set_count() { count_.store(waiting_.size()); }
  void give_up(std::span<const one> dropped);

  const store& store_;
  started_operations& in_flight_;
  const bool are_used_;
  std::atomic<std::uint64_t> begun_{0}, ended_{0};  // starts of changes

  std::mutex mutex_;                    // guards waiting_
  std::deque<one> waiting_;             // in the order of their starts
  std::atomic<std::size_t> count_ = 0;  // of waiting_
};

}  // namespace syncyte::kv
