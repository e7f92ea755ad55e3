// SPDX-License-Identifier: BSD-3-Clause
// A save succeeds although rank 0's fsync() (with the argument "open": its open()) takes longer than the watchdog's
// limit.

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "syncyte.h"
#include "syncyte/checkpoint.h"

namespace {

std::atomic<const char*> slow_call{nullptr};

/// Sleeps in the first call of the function that slow_call names.
void wait_if_slow(const char* call) {
  const char* slow = slow_call;
  if (slow == nullptr || std::strcmp(slow, call) != 0 || !slow_call.compare_exchange_strong(slow, nullptr)) return;
  std::this_thread::sleep_for(std::chrono::seconds(9));
}

int complain() {
  std::fprintf(stderr, "%s\n", syncyte_last_error());
  return 1;
}

}  // namespace

/// Functions that replace those of the C library.
extern "C" {
__attribute__((visibility("default"))) int fsync(int descriptor) {
  wait_if_slow("fsync");
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
__attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  if ((flags & O_CREAT) != 0) wait_if_slow("open");
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, 0600));
}
}

int main(int argc, char** argv) {
  syncyte_comm_t comm = nullptr;
  int32_t rank = 0;
  std::vector<double> data(1000);
  const std::int64_t rows = 1000;
  if (syncyte_init(nullptr) != SYNCYTE_SUCCESS || syncyte_comm_world(&comm) != SYNCYTE_SUCCESS) return complain();
  syncyte_comm_rank(comm, &rank);
  syncyte_buffer_t part;
  syncyte_buffer_init(data.data(), SYNCYTE_FLOAT64, 1, &rows, &part);
  const syncyte_checkpoint_entry_t entry{sizeof entry, "w", &part, SYNCYTE_ENTRY_SHARDED, 0};
  if (rank == 0) slow_call = argc > 1 ? argv[1] : "fsync";
  if (syncyte_checkpoint_save(comm, "slow.h5", 1, &entry, nullptr) != SYNCYTE_SUCCESS) return complain();
  if (slow_call != nullptr) return 2;  // the save has not called the slow function
  return syncyte_finalize() == SYNCYTE_SUCCESS ? 0 : complain();
}
