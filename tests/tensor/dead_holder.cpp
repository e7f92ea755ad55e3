// SPDX-License-Identifier: BSD-3-Clause
// Two or more ranks under `mpirun --enable-recovery`, of which the first two are on one host. Rank 0 owns all rows.
// Rank 1 dies in the middle of an add, and holds another row's lock. The others get an error that names the damaged row
// and the dead rank, and one for the lock, and can still use all other rows. They print the results, because mpirun
// itself fails after a rank was killed.

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "syncyte.h"

namespace {

constexpr std::int64_t columns = 4096;  // float64: a row of 32 KiB

syncyte_buffer_t buffer_of(void* data, syncyte_dtype_t dtype, std::initializer_list<std::int64_t> shape) {
  syncyte_buffer_t result{};
  syncyte_buffer_init(data, dtype, static_cast<std::int32_t>(shape.size()), shape.begin(), &result);
  return result;
}

/// A row whose second half cannot be read: a process that adds it dies while it holds the row's lock.
void* half_a_row() {
  const std::size_t bytes = columns * sizeof(double);
  char* const begin =
      static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(begin + bytes / 2, bytes / 2, PROT_NONE);
  return begin;
}

syncyte_status_t add(syncyte_tensor_t tensor, std::int64_t row, void* source) {
  const auto index = buffer_of(&row, SYNCYTE_INT64, {1});
  const auto values = buffer_of(source, SYNCYTE_FLOAT64, {1, columns});
  return syncyte_tensor_scatter_add(tensor, &index, &values);
}

void die(syncyte_tensor_t tensor) {
  syncyte_tensor_lock(tensor, 1);
  signal(SIGSEGV, [](int) { raise(SIGKILL); });
  add(tensor, 2, half_a_row());
}

int dead_rank() {
  syncyte_error_fields_t fields{};
  fields.struct_size = sizeof fields;
  syncyte_last_error_fields(&fields);
  return fields.rank;
}

/// Elements of the tensor of news, which rank 0 owns: the id of rank 1's process until it has died, then 0; and the
/// number of survivors that have printed their results.
enum { victim, printed, news_elements };

/// Rank 0 sees the end of rank 1, and tells the others.
void wait_for_death(syncyte_tensor_t news, std::int32_t rank) {
  std::int64_t pid = 0;
  syncyte_tensor_load(news, victim, &pid);
  while (pid != 0) {
    if (rank == 0 && kill(static_cast<pid_t>(pid), 0) != 0) syncyte_tensor_store(news, victim, 0);
    usleep(1000);
    syncyte_tensor_load(news, victim, &pid);
  }
}

void survive(syncyte_tensor_t tensor) {
  std::vector<double> ones(columns, 1.0);
  const auto first = add(tensor, 2, ones.data());
  const std::string text = "row 2 is damaged: rank 1 of the world died while it added to it";
  const std::string first_text = syncyte_last_error();
  bool is_named = dead_rank() == 1 && first_text.find(text) != std::string::npos;
  const auto second = add(tensor, 2, ones.data());
  const auto other = add(tensor, 3, ones.data());
  const auto locked = syncyte_tensor_lock(tensor, 1);
  is_named = is_named && dead_rank() == 1;
  std::printf("survivor: %s %s %s %s %s\n", syncyte_status_name(first), syncyte_status_name(second),
              syncyte_status_name(other), syncyte_status_name(locked), is_named ? "named" : first_text.c_str());
  std::fflush(stdout);
}

/// Rank 0 serves the requests of the others until all have printed.
void wait_for_others(syncyte_tensor_t news, std::int32_t rank, std::int32_t size) {
  std::int64_t count = 0;
  syncyte_tensor_fetch_add(news, printed, 1, nullptr);
  for (; rank == 0 && count < size - 1; usleep(1000)) syncyte_tensor_load(news, printed, &count);
}

}  // namespace

int main() {
  syncyte_init(nullptr);
  syncyte_comm_t world = nullptr;
  syncyte_comm_world(&world);
  std::int32_t rank = 0, size = 0;
  syncyte_comm_rank(world, &rank);
  syncyte_comm_size(world, &size);
  const std::array<std::int64_t, 2> shape{4, columns};
  const std::int64_t elements = news_elements;
  syncyte_tensor_t tensor = nullptr, news = nullptr;
  syncyte_tensor_options_t options = SYNCYTE_TENSOR_OPTIONS_INIT;
  options.row_locks = 1;
  options.local_rows = rank == 0 ? 4 : 0;
  syncyte_tensor_create(world, SYNCYTE_FLOAT64, 2, shape.data(), &options, &tensor);
  options.local_rows = rank == 0 ? elements : 0;
  syncyte_tensor_create(world, SYNCYTE_INT64, 1, &elements, &options, &news);
  if (rank == 1) syncyte_tensor_store(news, victim, getpid());
  syncyte_tensor_sync(news);
  if (rank == 1) die(tensor);
  wait_for_death(news, rank);
  survive(tensor);
  wait_for_others(news, rank, size);
  _exit(0);  // MPI must not be entered again
}
