// SPDX-License-Identifier: BSD-3-Clause
// Two ranks under `mpirun --enable-recovery`, each a node of its own: one dies. Operations on its keys then fail with
// an error that names the rank and a key, those in flight when they are waited for; the survivor's own keys can be
// used. It prints the results, because mpirun itself fails after a rank was killed.

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "syncyte.h"

namespace {

using operation = decltype(&syncyte_store_worker_push);

syncyte_buffer_t buffer_of(void* data, syncyte_dtype_t dtype, std::int64_t count) {
  syncyte_buffer_t result{};
  syncyte_buffer_init(data, dtype, 1, &count, &result);
  return result;
}

syncyte_status_t apply(operation what, syncyte_store_worker_t worker, std::vector<std::int64_t> keys, float& value) {
  std::vector<float> values(keys.size(), value);
  const auto wanted = buffer_of(keys.data(), SYNCYTE_INT64, static_cast<std::int64_t>(keys.size()));
  const auto given = buffer_of(values.data(), SYNCYTE_FLOAT32, static_cast<std::int64_t>(keys.size()));
  const syncyte_status_t status = what(worker, &wanted, &given);
  value = values[0];
  return status;
}

bool names_rank_and_key() {
  return std::string(syncyte_last_error()).find("rank 1 of world (home of key 3") != std::string::npos;
}

/// Operations that begin after the death, or before it: their errors come from their requests.
void fail_later(syncyte_store_worker_t worker, syncyte_request_t before_death) {
  std::vector<std::int64_t> keys{0, 3};
  std::vector<float> values{1, 1};
  const auto wanted = buffer_of(keys.data(), SYNCYTE_INT64, 2), given = buffer_of(values.data(), SYNCYTE_FLOAT32, 2);
  syncyte_request_t requests[4] = {nullptr, nullptr, nullptr, before_death};
  int started = 0, failed = 0, named = 0;
  for (int i = 0; i < 3; ++i)
    started += syncyte_store_worker_ipush(worker, &wanted, &given, &requests[i]) == SYNCYTE_SUCCESS && requests[i];
  const syncyte_status_t flushed = syncyte_store_worker_flush(worker);  // errors stay for the requests
  for (const int i : {3, 1}) {
    failed += syncyte_request_wait(&requests[i]) == SYNCYTE_ERR_PEER_DIED;
    named += names_rank_and_key();
  }
  const syncyte_status_t all = syncyte_request_wait_all(4, requests), then = syncyte_request_wait_all(4, requests);
  std::printf("survivor later: %d started, flush: %s, %d failed, %d named, all: %s, then: %s\n", started,
              syncyte_status_name(flushed), failed, named, syncyte_status_name(all), syncyte_status_name(then));
}

syncyte_status_t prefetch(syncyte_store_worker_t worker) {
  std::int64_t keys[] = {0, 3};
  const auto wanted = buffer_of(keys, SYNCYTE_INT64, 2);
  return syncyte_store_worker_prefetch(worker, &wanted);
}

/// Pulls whose prefetches have failed: one that was in flight at the death, and one that begins later.
void fail_ahead(syncyte_store_worker_t worker, syncyte_status_t before_death) {
  float value = 1;
  int failed = apply(&syncyte_store_worker_pull, worker, {0, 3}, value) == SYNCYTE_ERR_PEER_DIED;
  int named = names_rank_and_key();
  const syncyte_status_t later = prefetch(worker);
  failed += apply(&syncyte_store_worker_pull, worker, {0, 3}, value) == SYNCYTE_ERR_PEER_DIED;
  named += names_rank_and_key();
  std::printf("survivor ahead: %s, %s, %d failed, %d named\n", syncyte_status_name(before_death),
              syncyte_status_name(later), failed, named);
}

void survive(syncyte_store_worker_t worker, std::int64_t peer, syncyte_status_t prefetched) {
  while (kill(static_cast<pid_t>(peer), 0) == 0) usleep(1000);
  fail_ahead(worker, prefetched);
  int failed = 0, named = 0;
  for (const operation what : {&syncyte_store_worker_push, &syncyte_store_worker_pull, &syncyte_store_worker_set}) {
    float value = 1;
    failed += apply(what, worker, {0, 3}, value) == SYNCYTE_ERR_PEER_DIED;
    named += names_rank_and_key();
  }
  float value = -1;
  apply(&syncyte_store_worker_pull, worker, {0}, value);
  std::printf("survivor: %d times %s, %d name the rank, own key %g\n", failed,
              syncyte_status_name(SYNCYTE_ERR_PEER_DIED), named, static_cast<double>(value));
  std::fflush(stdout);
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
  syncyte_store_worker_t worker = nullptr;
  syncyte_store_create(world, SYNCYTE_FLOAT32, 4, 1, &length, nullptr, &kv);
  syncyte_store_worker_create(kv, 0, &worker);
  std::int64_t peer = getpid();
  const auto pid = buffer_of(&peer, SYNCYTE_INT64, 1);
  syncyte_comm_bcast(world, 1, nullptr, &pid);
  float value = 0;
  apply(&syncyte_store_worker_pull, worker, {0, 3}, value);  // each has a connection to the other
  syncyte_store_sync(kv);
  if (rank == 1) pause();
  syncyte_request_t before_death = nullptr;
  std::vector<std::int64_t> theirs(1000, 3);
  std::vector<float> many(theirs.size());
  const auto wanted = buffer_of(theirs.data(), SYNCYTE_INT64, std::ssize(theirs));
  const auto room = buffer_of(many.data(), SYNCYTE_FLOAT32, std::ssize(many));
  kill(static_cast<pid_t>(peer), SIGSTOP);
  usleep(20000);  // then it does not answer any more
  syncyte_store_worker_ipull(worker, &wanted, &room, &before_death);
  const syncyte_status_t prefetched = prefetch(worker);
  kill(static_cast<pid_t>(peer), SIGKILL);
  survive(worker, peer, prefetched);
  fail_later(worker, before_death);
  std::fflush(stdout);
  _exit(0);  // MPI must not be entered again
}
