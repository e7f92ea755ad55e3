// SPDX-License-Identifier: BSD-3-Clause
// Three ranks under `mpirun --enable-recovery`, each a node of its own. Rank 2 has localized a key of rank 0 and dies:
// operations on the key fail with an error that names it, until a set makes it anew, or it is adopted. Rank 1 has
// localized a key of rank 2, which stays usable there. They print the results, because mpirun itself fails after a rank
// was killed.

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "syncyte.h"

namespace {

constexpr std::int64_t of_0 = 3, of_1 = 4, of_2 = 5, also_of_0 = 6, adopted = 9;  // keys; their homes are cyclic
syncyte_store_worker_t worker = nullptr;

syncyte_buffer_t buffer_of(void* data, syncyte_dtype_t dtype, std::int64_t count) {
  syncyte_buffer_t result{};
  syncyte_buffer_init(data, dtype, 1, &count, &result);
  return result;
}

/// The status of an operation on one key, and its value.
std::string apply(decltype(&syncyte_store_worker_push) what, std::int64_t key, float value) {
  const auto wanted = buffer_of(&key, SYNCYTE_INT64, 1), given = buffer_of(&value, SYNCYTE_FLOAT32, 1);
  const syncyte_status_t status = what(worker, &wanted, &given);
  if (status == SYNCYTE_SUCCESS) return std::to_string(static_cast<int>(value));
  const bool is_named = std::string(syncyte_last_error()).find("key " + std::to_string(key) + " ") != std::string::npos;
  return std::string(syncyte_status_name(status)) + (is_named ? " named" : " ");
}
std::string pull(std::int64_t key) { return apply(&syncyte_store_worker_pull, key, -1); }
std::string push(std::int64_t key) { return apply(&syncyte_store_worker_push, key, 1); }
std::string set(std::int64_t key, float value) { return apply(&syncyte_store_worker_set, key, value); }

/// Whether the key was lost, and has its home's last value now.
bool adopt(syncyte_store_t kv, std::int64_t key) {
  std::int32_t flag = -1;
  return syncyte_store_adopt_last(kv, 1, &key, &flag) == SYNCYTE_SUCCESS && flag == 1;
}

std::string localize(std::int64_t key) {
  const auto wanted = buffer_of(&key, SYNCYTE_INT64, 1);
  return syncyte_status_name(syncyte_store_worker_localize(worker, &wanted));
}

/// Waits until the rank is known to be dead, so that all errors are those of later operations.
void await_death(std::int64_t process, std::int64_t key) {
  while (kill(static_cast<pid_t>(process), 0) == 0) usleep(1000);
  while (pull(key).starts_with("-") || pull(key)[0] != 'S') usleep(10000);
}

}  // namespace

int main() {
  syncyte_init(nullptr);
  syncyte_comm_t world = nullptr;
  syncyte_comm_world(&world);
  std::int32_t rank = 0;
  syncyte_comm_rank(world, &rank);
  const std::int64_t length = 1;
  syncyte_store_t kv = nullptr;
  syncyte_store_create(world, SYNCYTE_FLOAT32, 12, 1, &length, nullptr, &kv);
  syncyte_store_worker_create(kv, 0, &worker);
  std::int64_t victim = getpid();
  const auto pid = buffer_of(&victim, SYNCYTE_INT64, 1);
  syncyte_comm_bcast(world, 2, nullptr, &pid);
  for (const std::int64_t key : {of_0, of_1, of_2, also_of_0, adopted}) push(key);
  syncyte_store_sync(kv);
  if (rank == 2)
    for (const std::int64_t key : {of_0, of_1, also_of_0, adopted}) localize(key);
  if (rank == 1) localize(of_2);
  if (rank == 2) push(adopted);  // is lost
  syncyte_store_sync(kv);
  if (rank == 2) pause();
  if (rank == 0) kill(static_cast<pid_t>(victim), SIGKILL);
  await_death(victim, rank == 0 ? of_0 : of_1);
  if (rank == 0) {
    const std::string lost = pull(of_0), also = push(of_0), moved = localize(of_0), made = set(of_0, 7),
                      then = push(of_0);
    std::printf("rank 0: %s, %s, localize %s, set %s, push %s, %s, ", lost.c_str(), also.c_str(), moved.c_str(),
                made.c_str(), then.c_str(), pull(of_0).c_str());
    const bool was_lost = adopt(kv, adopted), is_lost = adopt(kv, adopted);
    std::printf("adopted %d %d, %s\n", was_lost, is_lost, pull(adopted).c_str());
  } else {
    const std::string lost = pull(also_of_0), made = set(also_of_0, 9), kept = push(of_2), moved = localize(also_of_0);
    std::printf("rank 1: %s, set %s, kept %s, %s, localize %s, %s\n", lost.c_str(), made.c_str(), kept.c_str(),
                pull(of_2).c_str(), moved.c_str(), pull(also_of_0).c_str());
  }
  std::fflush(stdout);
  sleep(1);  // the other one may still ask this one
  _exit(0);  // MPI must not be entered again
}
