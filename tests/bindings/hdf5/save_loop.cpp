// SPDX-License-Identifier: BSD-3-Clause
// Checks that the file at a path is complete, then saves to that path in an endless loop: rows "w", and "x", a field of
// a bundle that is cut by columns. All elements equal the step.

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "syncyte.h"
#include "syncyte/checkpoint.h"

namespace {

constexpr std::int64_t rows = 10000;
constexpr std::int64_t columns = 8;  // of this rank

int complain() {
  std::fprintf(stderr, "%s\n", syncyte_last_error());
  return 1;
}

// This rank's arrays.
struct state {
  std::vector<double> rows_of_w = std::vector<double>(rows * columns), columns_of_x = rows_of_w;
  syncyte_buffer_t part{};
  syncyte_checkpoint_entry_t w{sizeof w, "w", &part, SYNCYTE_ENTRY_SHARDED, 0};
  syncyte_bundle_t fields = nullptr;

  // Whether it succeeds. Collective.
  bool start(syncyte_comm_t comm) {
    const std::int64_t shape[] = {rows, columns};
    std::int32_t size = 0;
    const std::int32_t axis = 1;
    syncyte_buffer_t array{};
    syncyte_layout_t cut = nullptr;
    syncyte_buffer_init(rows_of_w.data(), SYNCYTE_FLOAT64, 2, shape, &part);
    syncyte_buffer_init(columns_of_x.data(), SYNCYTE_FLOAT64, 2, shape, &array);
    syncyte_comm_size(comm, &size);
    const std::int64_t cells[] = {rows, columns * size};
    return syncyte_layout_create_mesh(comm, 2, cells, 1, &size, 0, nullptr, 1, &axis, nullptr, &cut) ==
               SYNCYTE_SUCCESS &&
           syncyte_bundle_create(comm, &fields) == SYNCYTE_SUCCESS &&
           syncyte_bundle_add(fields, "x", cut, SYNCYTE_FLOAT64, 1, &array) == SYNCYTE_SUCCESS;
  }

  bool is_all(std::int64_t step) const {
    const auto equals = [&](double value) { return value == static_cast<double>(step); };
    return std::ranges::all_of(rows_of_w, equals) && std::ranges::all_of(columns_of_x, equals);
  }
  void set_all(std::int64_t step) {
    std::ranges::fill(rows_of_w, static_cast<double>(step));
    std::ranges::fill(columns_of_x, static_cast<double>(step));
  }
};

// The step of the file; -1 if there is no file, -2 if it is not complete.
std::int64_t step_found(syncyte_comm_t comm, const char* path, state& arrays) {
  syncyte_checkpoint_t file = nullptr;
  const syncyte_status_t status = syncyte_checkpoint_open(comm, path, nullptr, &file);
  if (status == SYNCYTE_ERR_NOT_FOUND) return -1;
  std::int64_t count = 0;
  std::int64_t step = -2;
  if (status != SYNCYTE_SUCCESS || syncyte_checkpoint_count(file, &count, &step) != SYNCYTE_SUCCESS) return -2;
  syncyte_checkpoint_close(&file);
  if (syncyte_checkpoint_load_bundle(comm, path, arrays.fields, 1, &arrays.w, nullptr) != SYNCYTE_SUCCESS) return -2;
  if (arrays.is_all(step)) return step;
  syncyte_error_set(SYNCYTE_ERR_INTERNAL, "the file mixes two saves");
  return -2;
}

}  // namespace

int main(int argc, char** argv) {
  syncyte_comm_t comm = nullptr;
  state arrays;
  if (argc != 2 || syncyte_init(nullptr) != SYNCYTE_SUCCESS || syncyte_comm_world(&comm) != SYNCYTE_SUCCESS ||
      !arrays.start(comm))
    return complain();
  std::int64_t step = step_found(comm, argv[1], arrays);
  if (step == -2) return complain();
  std::printf("\npid %d found %lld\n", static_cast<int>(getpid()), static_cast<long long>(step));
  std::fflush(stdout);
  for (;;) {
    ++step;
    arrays.set_all(step);
    const syncyte_checkpoint_options_t options{sizeof options, 65536, step, nullptr};
    if (syncyte_checkpoint_save_bundle(comm, argv[1], arrays.fields, 1, &arrays.w, &options) != SYNCYTE_SUCCESS)
      return complain();
  }
}
