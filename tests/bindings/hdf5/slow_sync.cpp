// SPDX-License-Identifier: BSD-3-Clause
// A save of rows and of a bundle's field succeeds although rank 0's fsync() (with the argument "open": its open())
// takes longer than the watchdog's limit.

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
  std::this_thread::sleep_for(std::chrono::seconds(6));
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
  syncyte_layout_t columns = nullptr;
  syncyte_bundle_t fields = nullptr;
  int32_t rank = 0, size = 0;
  std::vector<double> data(1000), column(1000);
  const std::int32_t axis = 1;
  const std::int64_t shape[] = {1000, 1};
  if (syncyte_init(nullptr) != SYNCYTE_SUCCESS || syncyte_comm_world(&comm) != SYNCYTE_SUCCESS) return complain();
  syncyte_comm_rank(comm, &rank);
  syncyte_comm_size(comm, &size);
  syncyte_buffer_t part, array;
  syncyte_buffer_init(data.data(), SYNCYTE_FLOAT64, 1, shape, &part);
  syncyte_buffer_init(column.data(), SYNCYTE_FLOAT64, 2, shape, &array);
  const std::int64_t cells[] = {1000, size};
  if (syncyte_layout_create_mesh(comm, 2, cells, 1, &size, 0, nullptr, 1, &axis, nullptr, &columns) !=
          SYNCYTE_SUCCESS ||
      syncyte_bundle_create(comm, &fields) != SYNCYTE_SUCCESS ||
      syncyte_bundle_add(fields, "x", columns, SYNCYTE_FLOAT64, 1, &array) != SYNCYTE_SUCCESS)
    return complain();
  const syncyte_checkpoint_entry_t entry{sizeof entry, "w", &part, SYNCYTE_ENTRY_SHARDED, 0};
  if (rank == 0) slow_call = argc > 1 ? argv[1] : "fsync";
  if (syncyte_checkpoint_save_bundle(comm, "slow.h5", fields, 1, &entry, nullptr) != SYNCYTE_SUCCESS) return complain();
  if (slow_call != nullptr) return 2;  // the save has not called the slow function
  return syncyte_finalize() == SYNCYTE_SUCCESS ? 0 : complain();
}
