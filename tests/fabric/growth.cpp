// SPDX-License-Identifier: BSD-3-Clause
// Tensors, windows and communicators that use the fabric are created, used and freed many times: memory, file
// descriptors and threads do not grow. Every rank is a node of its own (SYNCYTE_SHM=none).
#include <malloc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "syncyte.h"

namespace {

constexpr std::int64_t columns = 16;

int failures = 0;
std::int32_t rank = 0, ranks = 0;

void require(syncyte_status_t status, const char* what) {
  if (status == SYNCYTE_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", what, syncyte_last_error());
  std::exit(1);
}

/// Memory, open descriptors and threads of this process.
struct holdings {
  std::int64_t memory_kib, descriptors, threads;
};

std::int64_t entries_of(const char* folder) {
  const std::filesystem::directory_iterator first(folder);
  return std::distance(first, std::filesystem::directory_iterator());
}

holdings now() {
  malloc_trim(0);
  std::int64_t whole = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> whole >> resident;
  return {resident * 4, entries_of("/proc/self/fd"), entries_of("/proc/self/task")};
}

/// Expects that nothing has grown since `before`, up to some memory.
void expect_same(const char* what, const holdings& before, std::int64_t most_kib) {
  const holdings after = now();
  std::printf("%s: rank %d: memory %lld to %lld KiB, descriptors %lld to %lld, threads %lld to %lld\n", what, rank,
              static_cast<long long>(before.memory_kib), static_cast<long long>(after.memory_kib),
              static_cast<long long>(before.descriptors), static_cast<long long>(after.descriptors),
              static_cast<long long>(before.threads), static_cast<long long>(after.threads));
  failures += after.memory_kib > before.memory_kib + most_kib;
  failures += after.descriptors > before.descriptors;
  failures += after.threads > before.threads;
}

syncyte_buffer_t buffer_of(void* data, syncyte_dtype_t dtype, std::vector<std::int64_t> shape) {
  syncyte_buffer_t result;
  require(syncyte_buffer_init(data, dtype, static_cast<std::int32_t>(shape.size()), shape.data(), &result), "buffer");
  return result;
}

syncyte_tensor_t make_tensor(syncyte_comm_t comm) {
  const std::int64_t shape[] = {4 * ranks, columns};
  syncyte_tensor_t tensor = nullptr;
  require(syncyte_tensor_create(comm, SYNCYTE_FLOAT32, 2, shape, nullptr, &tensor), "tensor_create");
  return tensor;
}

/// Adds to a row of the next rank.
void add_elsewhere(syncyte_tensor_t tensor) {
  std::int64_t row = (rank + 1) % ranks * 4;
  std::vector<float> ones(columns, 1.0f);
  const syncyte_buffer_t index = buffer_of(&row, SYNCYTE_INT64, {1});
  const syncyte_buffer_t source = buffer_of(ones.data(), SYNCYTE_FLOAT32, {1, columns});
  require(syncyte_tensor_scatter_add(tensor, &index, &source), "scatter_add");
}

void tensor_and_window(syncyte_comm_t world, int round) {
  syncyte_tensor_t tensor = make_tensor(world);
  syncyte_window_t window = nullptr;
  std::int64_t one = 1, previous = 0;
  require(syncyte_window_create(world, 4096, nullptr, &window), "window_create");
  if (round % 4 == 0) {
    add_elsewhere(tensor);
    require(syncyte_window_fetch_op(window, (rank + 1) % ranks, 0, SYNCYTE_INT64, &one, SYNCYTE_OP_SUM, &previous),
            "fetch_op");
    require(syncyte_comm_barrier(world), "barrier");  // nobody frees before all have used it
  }
  require(syncyte_tensor_destroy(&tensor), "tensor_destroy");
  require(syncyte_window_destroy(&window), "window_destroy");
  require(syncyte_comm_collect(world), "collect");
}

void communicator(syncyte_comm_t world, int) {
  syncyte_comm_t copy = nullptr;
  require(syncyte_comm_dup(world, nullptr, &copy), "dup");
  syncyte_tensor_t tensor = make_tensor(copy);
  add_elsewhere(tensor);
  require(syncyte_comm_barrier(copy), "barrier");
  require(syncyte_tensor_destroy(&tensor), "tensor_destroy");
  require(syncyte_comm_destroy(&copy), "comm_destroy");
  require(syncyte_comm_collect(world), "collect");
}

void repeat(const char* what, void (*cycle)(syncyte_comm_t, int), syncyte_comm_t world, int first, int count,
            std::int64_t most_kib) {
  for (int round = 0; round < first; ++round) cycle(world, round);
  const holdings before = now();
  for (int round = 0; round < count; ++round) cycle(world, round);
  expect_same(what, before, most_kib);
}

}  // namespace

int main() {
  syncyte_comm_t world = nullptr;
  require(syncyte_init(nullptr), "init");
  require(syncyte_comm_world(&world), "world");
  require(syncyte_comm_rank(world, &rank), "rank");
  require(syncyte_comm_size(world, &ranks), "size");
  repeat("tensors and windows", tensor_and_window, world, 200, 5000, 1024);
  repeat("communicators", communicator, world, 50, 500, 1024);
  require(syncyte_finalize(), "finalize");
  return failures != 0;
}
