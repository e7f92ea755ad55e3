#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/buffer.hpp"
#include "kv/started_operations.hpp"
#include "kv/store.hpp"

namespace syncyte::kv {

/// When an operation on keys of other nodes is complete: on return, or at the end of wait().
enum class completion { on_return, by_wait };

/// A worker of a store, usually one per thread: it has a clock, intents, samples, operations under way, and takes part
/// in the barrier. A rank processes its operations in the order of their starts. Any thread may use it. Destroying it
/// gives up the operations under way.
class worker {
 public:
  /// Throws SYNCYTE_ERR_ARGUMENT for a number that is out of range or taken.
  worker(std::shared_ptr<store> of, std::int32_t number);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  const std::shared_ptr<comm::communicator>& comm() const { return store_->comm(); }

  /// These return a timestamp to wait for; -1: complete. Until the end the values stay; keys need not.
  std::int64_t pull(const syncyte_buffer_t* keys, const syncyte_buffer_t* values, completion when);
  std::int64_t push(const syncyte_buffer_t* keys, const syncyte_buffer_t* values, completion when);
  std::int64_t set(const syncyte_buffer_t* keys, const syncyte_buffer_t* values, completion when);
  /// False, and `values` unchanged, if a key is not local.
  bool pull_if_local(const syncyte_buffer_t* keys, const syncyte_buffer_t* values);
  std::int64_t localize(const syncyte_buffer_t* keys);

  void intent(const syncyte_buffer_t* keys, std::int64_t start, std::int64_t end);
  std::int64_t clock() const { return clock_.load(std::memory_order_relaxed); }
  std::int64_t advance_clock();

  std::int64_t prepare_sample(std::int64_t count, std::int64_t start, std::int64_t end);
  /// Pulls the sample's next keys, as many as `keys` has room for, and their values.
  std::int64_t pull_sample(std::int64_t sample, const syncyte_buffer_t* keys, const syncyte_buffer_t* values,
                           completion when);

  void finish_sample(std::int64_t id);

  /// These ask for, or wait for, operations that were started: see started_operations.
  bool test(std::int64_t timestamp) { return started_.has_ended(timestamp); }
  void wait(std::int64_t timestamp) { started_.wait(timestamp); }
  void wait_all() { started_.wait_all(); }
  void wait_sync() { started_.await_ends(); }

  /// These wait for the operations under way first.
  void barrier() { synchronise("kv_worker_barrier", store::setup::stays); }
  void begin_setup() { synchronise("kv_worker_begin_setup", store::setup::begins); }
  void end_setup() { synchronise("kv_worker_end_setup", store::setup::ends); }
  syncyte_kv_worker_info_t describe() const;

 private:
  struct sample {
    std::shared_ptr<sampling> source;
    std::int64_t count = 0;          // keys that were asked for
    std::int64_t used = 0;           // keys that were pulled
    std::vector<std::int64_t> keys;  // empty if they are drawn late
    sampling::distinct_keys before;  // if it is without replacement
  };
  struct window {
    std::int64_t start, end;  // clocks, [start, end)
  };

  std::int64_t run(table_operation what, std::span<const std::int64_t> keys, float* values, completion when);
  std::span<std::int64_t> next_of_sample(std::int64_t id, const base::buffer& keys, const base::buffer& values);
  void synchronise(const char* operation, store::setup phase);
  window check_window(std::int64_t start, std::int64_t end) const;
  void record_intent(std::int64_t keys, const window& when);  // with the lock held
  void seed_engine(const std::shared_ptr<sampling>& source);

  std::shared_ptr<store> store_;
  const std::unique_ptr<fabric::stream> stream_;  // of all operations
  std::int32_t number_;
  std::atomic<std::int64_t> clock_{0};
  std::atomic<std::int64_t> pulled_{0}, pushed_{0}, set_{0}, localized_{0}, intended_{0};

  std::mutex collective_mutex_;                          // held during a collective call
  mutable std::mutex mutex_;                             // guards the members below
  std::map<std::int64_t, std::int64_t> intended_until_;  // number of keys by the clock at which their window ends
  std::unordered_map<std::int64_t, sample> samples_;
  std::int64_t last_sample_ = 0;
  random_engine engine_;
  std::shared_ptr<sampling> engine_source_;  // the sampling that engine_ was seeded for

  started_operations started_;  // of stream_
};

}  // namespace syncyte::kv
