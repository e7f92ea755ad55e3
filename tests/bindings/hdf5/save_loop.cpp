// SPDX-License-Identifier: BSD-3-Clause
// Checks that the file at a path is complete, then saves to that path in an endless loop. All elements equal the step.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "syncyte.h"
#include "syncyte/checkpoint.h"

namespace {

constexpr std::int64_t rows = 40000;
constexpr std::int64_t columns = 8;

int complain() {
  std::fprintf(stderr, "%s\n", syncyte_last_error());
  return 1;
}

syncyte_checkpoint_entry_t entry_of(std::vector<double>& data) {
  static syncyte_buffer_t part;
  const std::int64_t shape[] = {rows, columns};
  syncyte_buffer_init(data.data(), SYNCYTE_FLOAT64, 2, shape, &part);
  return {sizeof(syncyte_checkpoint_entry_t), "w", &part, SYNCYTE_ENTRY_SHARDED, 0};
}

// The step of the file; -1 if there is no file, -2 if it is not complete.
std::int64_t step_found(syncyte_comm_t comm, const char* path, std::vector<double>& data) {
  syncyte_checkpoint_t file = nullptr;
  const syncyte_status_t status = syncyte_checkpoint_open(comm, path, nullptr, &file);
  if (status == SYNCYTE_ERR_NOT_FOUND) return -1;
  std::int64_t count = 0;
  std::int64_t step = -2;
  if (status != SYNCYTE_SUCCESS || syncyte_checkpoint_count(file, &count, &step) != SYNCYTE_SUCCESS) return -2;
  syncyte_checkpoint_close(&file);
  const syncyte_checkpoint_entry_t entry = entry_of(data);
  if (syncyte_checkpoint_load(comm, path, 1, &entry, nullptr) != SYNCYTE_SUCCESS) return -2;
  for (const double value : data)
    if (value != static_cast<double>(step)) {
      syncyte_error_set(SYNCYTE_ERR_INTERNAL, "the file mixes two saves");
      return -2;
    }
  return step;
}

}  // namespace

int main(int argc, char** argv) {
  syncyte_comm_t comm = nullptr;
  std::vector<double> data(static_cast<std::size_t>(rows * columns));
  if (argc != 2 || syncyte_init(nullptr) != SYNCYTE_SUCCESS || syncyte_comm_world(&comm) != SYNCYTE_SUCCESS)
    return complain();
  std::int64_t step = step_found(comm, argv[1], data);
  if (step == -2) return complain();
  std::printf("\npid %d found %lld\n", static_cast<int>(getpid()), static_cast<long long>(step));
  std::fflush(stdout);
  for (;;) {
    ++step;
    std::fill(data.begin(), data.end(), static_cast<double>(step));
    const syncyte_checkpoint_entry_t entry = entry_of(data);
    const syncyte_checkpoint_options_t options{sizeof options, 65536, step, nullptr};
    if (syncyte_checkpoint_save(comm, argv[1], 1, &entry, &options) != SYNCYTE_SUCCESS) return complain();
  }
}
