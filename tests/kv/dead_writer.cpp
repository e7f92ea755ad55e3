// SPDX-License-Identifier: BSD-3-Clause
// Two ranks under `mpirun --enable-recovery`: one dies in the middle of a push. The other gets an error that names the
// damaged key, can still use all other keys, and repairs the key. It prints the results, because mpirun itself fails
// after a rank was killed.

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "syncyte.h"

namespace {

constexpr std::int64_t length = 4096, damaged = 2;  // a vector of 16 KiB
using operation = decltype(&syncyte_store_worker_push);

syncyte_buffer_t buffer_of(void* data, syncyte_dtype_t dtype, std::int64_t count) {
  syncyte_buffer_t result{};
  syncyte_buffer_init(data, dtype, 1, &count, &result);
  return result;
}

/// A vector whose second half cannot be read: a process that pushes it dies while it holds the key's lock.
float* half_a_vector() {
  const std::size_t bytes = length * sizeof(float);
  char* const begin =
      static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(begin + bytes / 2, bytes / 2, PROT_NONE);
  return reinterpret_cast<float*>(begin);
}

syncyte_status_t apply(operation what, syncyte_store_worker_t worker, std::vector<std::int64_t> keys, float* values) {
  const auto wanted = buffer_of(keys.data(), SYNCYTE_INT64, static_cast<std::int64_t>(keys.size()));
  const auto given = buffer_of(values, SYNCYTE_FLOAT32, static_cast<std::int64_t>(keys.size()) * length);
  return what(worker, &wanted, &given);
}

void die(syncyte_store_worker_t worker) {
  signal(SIGSEGV, [](int) { raise(SIGKILL); });
  apply(syncyte_store_worker_push, worker, {damaged}, half_a_vector());
}

class survivor {
 public:
  explicit survivor(syncyte_store_worker_t worker) : worker_(worker) {}

  /// Prints "what: status", and "named" if the error says which key is damaged, and by whose death.
  void report(const char* what, syncyte_status_t status) const {
    syncyte_error_fields_t fields{};
    fields.struct_size = sizeof fields;
    syncyte_last_error_fields(&fields);
    const std::string text = "key 2 is damaged: rank 1 of the world died while it wrote its values";
    const bool is_named = status != SYNCYTE_SUCCESS && fields.rank == 1 &&
                          std::string(syncyte_last_error()).find(text) != std::string::npos;
    std::printf(" %s: %s%s,", what, syncyte_status_name(status), is_named ? " named" : "");
  }
  void push(const char* what, const std::vector<std::int64_t>& keys) const {
    std::vector<float> ones(keys.size() * length, 1);
    report(what, apply(syncyte_store_worker_push, worker_, keys, ones.data()));
  }
  /// Also prints the value of each vector: -1 if nothing was read, -2 if its elements differ.
  void pull(const char* what, const std::vector<std::int64_t>& keys) const {
    std::vector<float> found(keys.size() * length, -1);
    report(what, apply(syncyte_store_worker_pull, worker_, keys, found.data()));
    for (auto at = found.begin(); at != found.end(); at += length)
      std::printf(" %g", std::count(at, at + length, *at) == length ? *at : -2);
  }
  void set() const {
    std::vector<float> fives(length, 5);
    report("set", apply(syncyte_store_worker_set, worker_, {damaged}, fives.data()));
  }

 private:
  syncyte_store_worker_t worker_;
};

void survive(syncyte_store_worker_t worker, std::int64_t peer) {
  while (kill(static_cast<pid_t>(peer), 0) == 0) usleep(1000);
  const survivor self(worker);
  std::printf("survivor:");
  self.pull("pull", {damaged});
  self.push("push", {damaged});
  self.push("list", {0, damaged, 3});
  self.push("others", {0, 1, 3});
  self.pull("list", {0, damaged, 3});
  self.pull("others", {0, 1, 3});
  self.set();
  self.push("push", {damaged, damaged});
  self.pull("all", {0, 1, damaged, 3});
  std::printf(" end\n");
  std::fflush(stdout);
}

}  // namespace

int main() {
  syncyte_init(nullptr);
  syncyte_comm_t world = nullptr;
  syncyte_comm_world(&world);
  std::int32_t rank = 0;
  syncyte_comm_rank(world, &rank);
  syncyte_store_t kv = nullptr;
  syncyte_store_worker_t worker = nullptr;
  syncyte_store_create(world, SYNCYTE_FLOAT32, 4, 1, &length, nullptr, &kv);
  syncyte_store_worker_create(kv, 0, &worker);
  std::int64_t peer = getpid();
  const auto pid = buffer_of(&peer, SYNCYTE_INT64, 1);
  syncyte_comm_bcast(world, 1, nullptr, &pid);
  syncyte_store_sync(kv);
  if (rank == 1)
    die(worker);
  else
    survive(worker, peer);
  _exit(0);  // MPI must not be entered again
}
