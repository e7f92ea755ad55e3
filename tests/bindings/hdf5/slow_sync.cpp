// A save succeeds although rank 0's fsync takes longer than the watchdog's limit.

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "syncyte.h"
#include "syncyte/checkpoint.h"

namespace {

std::atomic<bool> is_slow{false};

int complain() {
  std::fprintf(stderr, "%s\n", syncyte_last_error());
  return 1;
}

}  // namespace

/// Replaces the C library's fsync.
extern "C" __attribute__((visibility("default"))) int fsync(int descriptor) {
  if (is_slow.exchange(false)) std::this_thread::sleep_for(std::chrono::seconds(9));
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

int main() {
  syncyte_comm_t comm = nullptr;
  int32_t rank = 0;
  std::vector<double> data(1000);
  const std::int64_t rows = 1000;
  if (syncyte_init(nullptr) != SYNCYTE_SUCCESS || syncyte_comm_world(&comm) != SYNCYTE_SUCCESS) return complain();
  syncyte_comm_rank(comm, &rank);
  syncyte_checkpoint_entry_t entry{sizeof(syncyte_checkpoint_entry_t), "w", SYNCYTE_LAYOUT_SHARDED, {}};
  syncyte_buffer_init(data.data(), SYNCYTE_FLOAT64, 1, &rows, &entry.data);
  is_slow = rank == 0;
  if (syncyte_checkpoint_save(comm, "slow.h5", 1, &entry, nullptr) != SYNCYTE_SUCCESS) return complain();
  if (is_slow.exchange(false)) return 2;  // nobody has synced the file
  return syncyte_finalize() == SYNCYTE_SUCCESS ? 0 : complain();
}
