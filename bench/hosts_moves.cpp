// SPDX-License-Identifier: BSD-3-Clause
// Keys that move from one host to the other, against the same by MPI: rank 0 localizes batches of keys whose homes are
// at rank 1; or an MPI_Alltoallv takes the keys there, another one the records back, which are stored. The memory of
// both has been used before.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hosts.hpp"
#include "paired.hpp"
#include "store_program.hpp"
#include "syncyte/syncyte.hpp"

namespace {

using namespace syncyte::bench;

constexpr std::int64_t keys = 1 << 20, length = 16, batch_keys = 10000;
constexpr int rounds = 7, batches_of_round = 4;
constexpr std::size_t record_bytes = length * sizeof(float);
constexpr std::int64_t foreign_bytes = 256 << 20;  // room for all keys

using key_list = std::vector<std::int64_t>;

/// The keys whose homes are at rank 1, of which each round moves others.
key_list keys_of_last(const syncyte::store& of) {
  key_list all(keys);
  std::iota(all.begin(), all.end(), 0);
  const auto homes = of.owner(all);
  std::erase_if(all, [&](std::int64_t key) { return homes[static_cast<std::size_t>(key)] != 1; });
  return all;
}

/// Moves by MPI, whose ranks must both take part.
class exchanged {
 public:
  exchanged() : table_(static_cast<std::size_t>(keys) * record_bytes), records_(batch_keys * record_bytes) {}

  void move(std::span<const std::int64_t> batch) {
    key_list asked(batch_keys);
    exchange(batch.data(), asked.data(), sizeof(std::int64_t), 0);
    if (!works())
      for (std::size_t i = 0; i < batch_keys; ++i)
        std::memcpy(&records_[i * record_bytes], row(asked[i]), record_bytes);
    std::vector<std::byte> received(works() ? records_.size() : 0);
    exchange(records_.data(), received.data(), record_bytes, 1);
    if (works())
      for (std::size_t i = 0; i < batch_keys; ++i)
        std::memcpy(row(batch[i]), &received[i * record_bytes], record_bytes);
  }

 private:
  std::byte* row(std::int64_t key) { return &table_[static_cast<std::size_t>(key) * record_bytes]; }

  /// The batch's elements go from rank `from` to the other one.
  static void exchange(const void* send, void* receive, std::size_t element_bytes, int from) {
    const bool sends = works() == (from == 0);
    const int bytes = static_cast<int>(batch_keys * element_bytes), to = works() ? 1 : 0;
    int sent[2] = {0, 0}, received[2] = {0, 0};
    (sends ? sent : received)[to] = bytes;
    const int places[2] = {0, 0};
    MPI_Alltoallv(send, sent, places, MPI_BYTE, receive, received, places, MPI_BYTE, MPI_COMM_WORLD);
  }

  std::vector<std::byte> table_, records_;
};

void run(const syncyte::communicator& world) {
  const syncyte::store store(world, keys, length, {.foreign_bytes = foreign_bytes});
  const auto worker = store.worker();
  const key_list all = keys_of_last(store);
  exchanged table;
  for (const bool comes : {true, false}) {  // all keys move to rank 0, and home again
    if (works() == comes) worker.localize(all);
    worker.barrier();
  }
  const auto next_batch = [&](std::size_t& next) {
    return std::span(all).subspan(std::exchange(next, next + batch_keys), batch_keys);
  };
  std::size_t localized = 0, sent = 0;  // keys of `all`
  const double amount = batches_of_round * batch_keys / 1e6;
  measure_figures(
      {"store: keys moved to another host, 64 B each, batches of 10,000", "million keys/s",
       "MPI_Alltoallv of keys there and of records back, stored", "higher", 0.3},
      [&] {
        const double seconds = seconds_of_first([&] {
          for (int i = 0; i < batches_of_round; ++i) worker.localize(next_batch(localized));
        });
        return amount / seconds;
      },
      [&] {
        const double begin = MPI_Wtime();
        for (int i = 0; i < batches_of_round; ++i) table.move(next_batch(sent));
        return amount / (MPI_Wtime() - begin);
      },
      rounds);
}

}  // namespace

int main() { run_with_stores(run); }
