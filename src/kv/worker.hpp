// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "access/started.hpp"
#include "base/buffer.hpp"
#include "kv/intents.hpp"
#include "kv/operations.hpp"
#include "kv/prefetches.hpp"
#include "kv/started_operations.hpp"
#include "kv/store.hpp"

namespace syncyte::kv {

/// When an operation on keys of other nodes is complete: on return, or at the end of its request.
enum class completion { on_return, by_request };

/// A worker of a store, usually one per thread: it has a clock, intents and samples, and takes part in the barrier.
/// Each home rank processes its operations in the order of their starts. Any thread may use it; operations outlive it.
class worker {
 public:
  /// Throws SYNCYTE_ERR_ARGUMENT for a number that is out of range or taken.
  worker(std::shared_ptr<store> of, std::int32_t number);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  const std::shared_ptr<comm::communicator>& comm() const { return store_->comm(); }

  /// Does an operation on the values of keys; returns it in flight, or null if it is complete. The caller keeps
  /// `values` until the operation has ended; `keys` may be changed at once.
  using started = std::shared_ptr<access::started>;
  started run(const operation& what, const syncyte_buffer_t* keys, const syncyte_buffer_t* values, completion when);
  /// False, and `values` unchanged, if a key is not local.
  bool pull_if_local(const syncyte_buffer_t* keys, const syncyte_buffer_t* values);
  /// Pulls each distinct key once. Writes the distinct keys in the order of their first appearance, their number, and
  /// the place of each of the list's keys among them; these are complete on return.
  started pull_unique(const syncyte_buffer_t* keys, const syncyte_buffer_t* distinct, const syncyte_buffer_t* inverse,
                      const syncyte_buffer_t* values, std::int64_t& count, completion when);
  /// Adds the values of keys that repeat, in the order of the list, and pushes each distinct key once.
  started push_unique(const syncyte_buffer_t* keys, const syncyte_buffer_t* values, completion when);
  /// Starts a pull whose values wait for the worker's next pull of this list of keys.
  void prefetch(const syncyte_buffer_t* keys);
  void drop_prefetches() { prefetches_.drop_all(); }

  /// Asks for keys to be moved to this node; ends when each is here or refused.
  started localize(const syncyte_buffer_t* keys, completion when = completion::on_return);

  void intent(const syncyte_buffer_t* keys, std::int64_t start, std::int64_t end);
  std::int64_t clock() const { return clock_.load(std::memory_order_relaxed); }
  std::int64_t advance_clock();

  std::int64_t prepare_sample(std::int64_t count, std::int64_t start, std::int64_t end);
  /// Pulls the sample's next keys, as many as `keys` has room for, and their values.
  started pull_sample(std::int64_t sample, const syncyte_buffer_t* keys, const syncyte_buffer_t* values,
                      completion when);

  void finish_sample(std::int64_t id);

  /// Waits for the operations in flight, whose errors stay for their requests, and until keys of open windows of
  /// intents are here or refused.
  void flush();
  /// Does flush(), then a barrier of all workers of all ranks.
  void barrier();
  syncyte_store_worker_info_t describe() const;

 private:
  struct sample {
    std::shared_ptr<sampling> source;
    std::int64_t count = 0;          // keys that were asked for
    std::int64_t used = 0;           // keys that were pulled
    std::vector<std::int64_t> keys;  // empty if they are drawn late
    sampling::distinct_keys before;  // if it is without replacement
    intents::window intended;        // null: none
  };
  struct window {
    std::int64_t start, end;  // clocks, [start, end)
  };

  started_transfer begin(const operation& what, std::span<const std::int64_t> keys, float* values, completion when);
  void end_detours();
  started run(const operation& what, std::span<const std::int64_t> keys, float* values, completion when,
              std::shared_ptr<const void> kept = nullptr);
  started finish(started_transfer begun, completion when, std::shared_ptr<const void> kept = nullptr);
  prefetches::one take_prefetched(std::span<const std::int64_t> keys, completion when);
  started give(prefetches::one from, prefetched_keys::form which, float* values, completion when);
  void count_done(const operation& what, std::int64_t keys);
  std::span<std::int64_t> next_of_sample(std::int64_t id, const base::buffer& keys, const base::buffer& values);
  window check_window(std::int64_t start, std::int64_t end) const;
  // with the lock held:
  intents::window record_intent(std::span<const std::int64_t> keys, const window& when);
  void open_and_close_windows();
  void change_windows(std::span<const intents::window> opening, std::span<const intents::window> closing);
  template <class Step>
  void try_to_tell(Step&& step);
  void forget_sample(std::unordered_map<std::int64_t, sample>::iterator which);

  void seed_engine(const std::shared_ptr<sampling>& source);

  std::shared_ptr<store> store_;
  const std::shared_ptr<fabric::stream> stream_;      // of all operations on values
  const std::shared_ptr<fabric::stream> localizing_;  // a wait for keys does not keep operations waiting
  const std::shared_ptr<fabric::stream> intending_;   // windows of intents open and close in order
  std::int32_t number_;
  std::atomic<std::int64_t> clock_{0};
  std::array<std::atomic<std::int64_t>, most_operations + 1> done_{};  // keys, by the operation's number
  std::atomic<std::int64_t> localized_{0}, intended_{0}, remote_{0};

  std::mutex collective_mutex_;                          // held during a collective call
  mutable std::mutex mutex_;                             // guards the members below
  std::map<std::int64_t, std::int64_t> intended_until_;  // number of keys by the clock at which their window ends
  intents intents_;                                      // of a store whose keys move
  clock_ahead ahead_;
  std::unordered_map<std::int64_t, sample> samples_;
  std::int64_t last_sample_ = 0;
  random_engine engine_;
  std::shared_ptr<sampling> engine_source_;  // the sampling that engine_ was seeded for

  started_operations started_;   // of stream_
  std::atomic<int> detours_{0};  // operations one after the other that were detoured
  prefetches prefetches_{*store_, started_, stream_ != nullptr};
};

}  // namespace syncyte::kv
