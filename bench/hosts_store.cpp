// SPDX-License-Identifier: BSD-3-Clause
// Pulls and pushes of a parameter store's keys that another host owns, against MPI messages written by hand: one
// request and one answer for each batch. Batches have distinct random keys.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>

#include "hosts.hpp"
#include "paired.hpp"
#include "syncyte.h"
#include "table.hpp"

namespace {

using namespace syncyte::bench;

constexpr std::int64_t keys = 1 << 20, length = 16, batch_keys = 1000, batches = 100;
constexpr std::size_t key_bytes = batch_keys * sizeof(std::int64_t), value_bytes = batch_keys * length * sizeof(float);

using key_list = std::vector<std::int64_t>;
using value_list = std::vector<float>;

syncyte_buffer_t describe(void* data, syncyte_dtype_t dtype, std::int64_t count) {
  syncyte_buffer_t result{};
  must(syncyte_buffer_init(data, dtype, 1, &count, &result));
  return result;
}

/// A store with one worker.
class store {
 public:
  store() {
    must(syncyte_comm_world(&world_));
    status_ = syncyte_store_create(world_, SYNCYTE_FLOAT32, keys, 1, &length, nullptr, &kv_);
    if (status_ == SYNCYTE_ERR_UNSUPPORTED) return;
    must(status_);
    must(syncyte_store_worker_create(kv_, 0, &worker_));
  }
  ~store() {
    syncyte_store_worker_destroy(&worker_);
    syncyte_store_destroy(&kv_);
    syncyte_comm_destroy(&world_);
  }
  store(const store&) = delete;
  store& operator=(const store&) = delete;

  /// Whether stores of several nodes are supported.
  bool exists() const { return status_ == SYNCYTE_SUCCESS; }

  /// Batches of keys of the last rank.
  std::vector<key_list> random_batches() const {
    key_list all(keys);
    std::vector<std::int32_t> owners(keys);
    for (std::int64_t key = 0; key < keys; ++key) all[static_cast<std::size_t>(key)] = key;
    must(syncyte_store_owner(kv_, keys, all.data(), owners.data()));
    std::erase_if(all, [&](std::int64_t key) { return owners[static_cast<std::size_t>(key)] != 1; });
    std::shuffle(all.begin(), all.end(), std::mt19937_64(7));
    std::vector<key_list> lists;
    for (std::int64_t i = 0; i < batches; ++i)
      lists.emplace_back(all.begin() + i * batch_keys, all.begin() + (i + 1) * batch_keys);
    return lists;
  }

  void pull(key_list& list, value_list& values) { run(syncyte_store_worker_pull, list, values); }
  void push(key_list& list, value_list& values) { run(syncyte_store_worker_push, list, values); }

 private:
  template <class Operation>
  void run(Operation* what, key_list& list, value_list& values) {
    const auto wanted = describe(list.data(), SYNCYTE_INT64, batch_keys);
    const auto room = describe(values.data(), SYNCYTE_FLOAT32, batch_keys * length);
    must(what(worker_, &wanted, &room));
  }

  syncyte_comm_t world_ = nullptr;
  syncyte_store_t kv_ = nullptr;
  syncyte_store_worker_t worker_ = nullptr;
  syncyte_status_t status_ = SYNCYTE_SUCCESS;
};

/// Values of keys at rank 1, which answers rank 0's requests by MPI messages.
class messages {
 public:
  messages() : table_(works() ? 0 : static_cast<std::size_t>(keys * length)), packed_(key_bytes + value_bytes) {}

  void pull(const key_list& list, value_list& values) {
    ask(pull_tag, list.data(), key_bytes, values.data(), value_bytes);
  }

  void push(const key_list& list, const value_list& values) {
    std::memcpy(packed_.data(), list.data(), key_bytes);
    std::memcpy(packed_.data() + key_bytes, values.data(), value_bytes);
    ask(push_tag, packed_.data(), packed_.size(), nullptr, 0);
  }

  void stop() { MPI_Send(nullptr, 0, MPI_BYTE, 1, stop_tag, MPI_COMM_WORLD); }

  /// Answers requests until rank 0 calls stop().
  void serve() {
    value_list values(batch_keys * length);
    for (;;) {
      MPI_Status status;
      MPI_Recv(packed_.data(), static_cast<int>(packed_.size()), MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      if (status.MPI_TAG == stop_tag) return;
      const bool pulls = status.MPI_TAG == pull_tag;
      pulls ? read(values) : add();
      MPI_Send(values.data(), pulls ? static_cast<int>(value_bytes) : 0, MPI_BYTE, 0, status.MPI_TAG, MPI_COMM_WORLD);
    }
  }

 private:
  static constexpr int pull_tag = 1, push_tag = 2, stop_tag = 3;

  static void ask(int tag, const void* request, std::size_t bytes, void* answer, std::size_t answer_bytes) {
    MPI_Request both[2];
    MPI_Irecv(answer, static_cast<int>(answer_bytes), MPI_BYTE, 1, tag, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(request, static_cast<int>(bytes), MPI_BYTE, 1, tag, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }

  float* row(std::size_t place) {
    std::int64_t key = 0;
    std::memcpy(&key, packed_.data() + place * sizeof key, sizeof key);
    return table_.data() + key * length;
  }

  void read(value_list& values) {
    for (std::size_t i = 0; i < batch_keys; ++i)
      std::memcpy(values.data() + i * length, row(i), length * sizeof(float));
  }

  void add() {
    const auto* added = reinterpret_cast<const float*>(packed_.data() + key_bytes);
    for (std::size_t i = 0; i < batch_keys; ++i)
      for (std::int64_t k = 0; k < length; ++k) row(i)[k] += added[i * length + k];
  }

  value_list table_;
  std::vector<std::byte> packed_;
};

/// Seconds of requests by rank 0, while rank 1 waits in MPI and answers them.
double seconds_of_messages(messages& way, const std::function<void()>& requests) {
  return seconds_of([&] {
    if (!works()) return way.serve();
    requests();
    way.stop();
  });
}

/// Ends the job unless a pull returns what was pushed.
void verify_store(store& ours, key_list& list) {
  value_list values(batch_keys * length, 1.0f);
  ours.push(list, values);
  std::fill(values.begin(), values.end(), 0.0f);
  ours.pull(list, values);
  if (std::count(values.begin(), values.end(), 1.0f) == batch_keys * length) return;
  std::fprintf(stderr, "a pull from another host returned wrong values\n");
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void run() {
  store ours;
  if (!ours.exists()) {
    if (works()) std::fprintf(stderr, "SKIPPED: stores of several nodes are not supported\n");
    return;
  }
  messages theirs;
  auto lists = ours.random_batches();
  value_list values(batch_keys * length, 1.0f);
  on_first([&] { return verify_store(ours, lists.front()), 0.0; });
  const auto each = [&](auto&& operation) {
    return [&, operation] {
      for (key_list& list : lists) operation(list);
    };
  };
  const auto compare = [&](const char* name, const std::function<void()>& our_work,
                           const std::function<void()>& their_work) {
    const double million_keys = batches * batch_keys * 1e-6;
    measure_figures(
        {name, "Mkeys/s", "one MPI request and answer per batch", "higher", 0.6},
        [&] { return million_keys / seconds_of_first(our_work); },
        [&] { return million_keys / seconds_of_messages(theirs, their_work); }, 11);
  };
  compare("store: pull of another host's keys, 64 B each", each([&](key_list& list) { ours.pull(list, values); }),
          each([&](key_list& list) { theirs.pull(list, values); }));
  compare("store: push to another host's keys", each([&](key_list& list) { ours.push(list, values); }),
          each([&](key_list& list) { theirs.push(list, values); }));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  syncyte::bench::must(syncyte_init(nullptr));
  run();
  MPI_Finalize();
}
