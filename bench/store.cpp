// SPDX-License-Identifier: BSD-3-Clause
// Pulls and pushes of a parameter store's keys against loops without locks over as much shared memory. Batches have
// distinct random keys: this rank's own, or the next rank's.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>

#include "paired.hpp"
#include "syncyte.h"
#include "table.hpp"

namespace {

using namespace syncyte::bench;

constexpr std::int64_t keys = 1 << 20, length = 16, batch_keys = 1000, batches = 200;

using key_list = std::vector<std::int64_t>;

syncyte_buffer_t describe(void* data, syncyte_dtype_t dtype, std::int64_t count) {
  syncyte_buffer_t result{};
  must(syncyte_buffer_init(data, dtype, 1, &count, &result));
  return result;
}

/// A store with one worker, and a tensor of as many rows for the loops.
class memories {
 public:
  memories() {
    must(syncyte_comm_world(&world_));
    must(syncyte_comm_rank(world_, &rank_));
    must(syncyte_comm_size(world_, &size_));
    must(syncyte_store_create(world_, SYNCYTE_FLOAT32, keys, 1, &length, nullptr, &kv_));
    must(syncyte_store_worker_create(kv_, 0, &worker_));
    const std::int64_t shape[2] = {keys, length};
    must(syncyte_tensor_create(world_, SYNCYTE_FLOAT32, 2, shape, nullptr, &tensor_));
    syncyte_buffer_t view = SYNCYTE_BUFFER_INIT;
    std::int64_t first = 0;
    must(syncyte_tensor_node(tensor_, &view, &first));
    slab_ = static_cast<float*>(view.data);
  }
  ~memories() {
    must(syncyte_store_worker_destroy(&worker_));
    must(syncyte_store_destroy(&kv_));
    must(syncyte_tensor_destroy(&tensor_));
    must(syncyte_comm_destroy(&world_));
  }
  memories(const memories&) = delete;
  memories& operator=(const memories&) = delete;

  /// Batches of distinct keys of the rank `distance` after this one.
  std::vector<key_list> batches_of(int distance) const {
    key_list all(keys);
    std::iota(all.begin(), all.end(), 0);
    std::vector<std::int32_t> owners(keys);
    must(syncyte_store_owner(kv_, keys, all.data(), owners.data()));
    const std::int32_t wanted = (rank_ + distance) % size_;
    std::erase_if(all, [&](std::int64_t key) { return owners[static_cast<std::size_t>(key)] != wanted; });
    std::shuffle(all.begin(), all.end(), std::mt19937_64(static_cast<std::uint64_t>(wanted) + 7));
    std::vector<key_list> result;
    for (std::int64_t i = 0; i < batches; ++i)
      result.emplace_back(all.begin() + i * batch_keys, all.begin() + (i + 1) * batch_keys);
    return result;
  }

  using operation = syncyte_status_t (*)(syncyte_store_worker_t, const syncyte_buffer_t*, const syncyte_buffer_t*);
  void run(operation what, std::vector<key_list>& lists) {
    for (key_list& list : lists) {
      const auto wanted = describe(list.data(), SYNCYTE_INT64, batch_keys);
      const auto room = describe(values_.data(), SYNCYTE_FLOAT32, batch_keys * length);
      must(what(worker_, &wanted, &room));
    }
  }

  void gather_loop(const std::vector<key_list>& lists) {
    for (const key_list& list : lists)
      for (std::size_t i = 0; i < list.size(); ++i) {
        prefetch(list, i + 16);
        std::memcpy(values_.data() + i * length, slab_ + list[i] * length, length * sizeof(float));
      }
  }

  void add_loop(const std::vector<key_list>& lists) {
    for (const key_list& list : lists)
      for (std::size_t i = 0; i < list.size(); ++i) {
        prefetch(list, i + 16);
        for (std::int64_t k = 0; k < length; ++k) slab_[list[i] * length + k] += values_[i * length + k];
      }
  }

 private:
  [[gnu::always_inline]] void prefetch(const key_list& list, std::size_t place) const {
    if (place < list.size()) __builtin_prefetch(slab_ + list[place] * length);
  }

  syncyte_comm_t world_ = nullptr;
  syncyte_store_t kv_ = nullptr;
  syncyte_store_worker_t worker_ = nullptr;
  syncyte_tensor_t tensor_ = nullptr;
  std::int32_t rank_ = 0, size_ = 1;
  float* slab_ = nullptr;
  std::vector<float> values_ = std::vector<float>(batch_keys * length, 1.0f);
};

void run() {
  memories all;
  auto own = all.batches_of(0), next = all.batches_of(1);
  const double million_keys = batches * batch_keys * 1e-6;
  const auto compare = [&](const char* name, const char* reference, double goal, memories::operation what,
                           std::vector<key_list>& lists, const std::function<void()>& loop) {
    measure_rate({name, "Mkeys/s", reference, "higher", goal}, million_keys, [&] { all.run(what, lists); }, loop);
  };
  const auto gather = [&] { all.gather_loop(own); };
  const auto add = [&] { all.add_loop(own); };
  const char *const gathered = "gather loop without locks", *const added = "add loop without locks";
  compare("store: pull of own keys, 64 B each", gathered, 0.6, syncyte_store_worker_pull, own, gather);
  compare("store: push to own keys", added, 0.5, syncyte_store_worker_push, own, add);
  compare("store: pull of the next rank's keys", gathered, 0.4, syncyte_store_worker_pull, next, gather);
  compare("store: push to the next rank's keys", added, 0.3, syncyte_store_worker_push, next, add);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  syncyte::bench::must(syncyte_init(nullptr));
  run();
  MPI_Finalize();
}
