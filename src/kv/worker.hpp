#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/buffer.hpp"
#include "kv/store.hpp"

namespace syncyte::kv {

/// A worker of a store, usually one per thread: it has a clock, intents, samples, and takes part in the barrier. Any
/// thread may use it.
class worker {
 public:
  /// Throws SYNCYTE_ERR_ARGUMENT for a number that is out of range or taken.
  worker(std::shared_ptr<store> of, std::int32_t number);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  const std::shared_ptr<comm::communicator>& comm() const { return store_->comm(); }

  /// These return a timestamp to wait for; -1: complete.
  std::int64_t pull(const syncyte_buffer_t* keys, const syncyte_buffer_t* values);
  std::int64_t push(const syncyte_buffer_t* keys, const syncyte_buffer_t* values);
  std::int64_t set(const syncyte_buffer_t* keys, const syncyte_buffer_t* values);
  /// False, and `values` unchanged, if a key is not local.
  bool pull_if_local(const syncyte_buffer_t* keys, const syncyte_buffer_t* values);
  std::int64_t localize(const syncyte_buffer_t* keys);

  void intent(const syncyte_buffer_t* keys, std::int64_t start, std::int64_t end);
  std::int64_t clock() const { return clock_.load(std::memory_order_relaxed); }
  std::int64_t advance_clock();

  std::int64_t prepare_sample(std::int64_t count, std::int64_t start, std::int64_t end);
  /// Pulls the sample's next keys, as many as `keys` has room for, and their values.
  std::int64_t pull_sample(std::int64_t sample, const syncyte_buffer_t* keys, const syncyte_buffer_t* values);

  void finish_sample(std::int64_t id);

  void wait(std::int64_t timestamp) const;
  void wait_all() const {}
  void wait_sync() const {}

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
    std::unordered_set<std::int64_t> drawn;
  };
  struct window {
    std::int64_t start, end;  // clocks, [start, end)
  };

  void synchronise(const char* operation, store::setup phase);
  window check_window(std::int64_t start, std::int64_t end) const;
  void record_intent(std::int64_t keys, const window& when);  // with the lock held
  void seed_engine(const std::shared_ptr<sampling>& source);

  std::shared_ptr<store> store_;
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
};

}  // namespace syncyte::kv
