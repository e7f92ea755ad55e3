/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of the structures in C, for test_kinds.f90. */
#include "syncyte.h"

void c_sizes(size_t* sizes);

void c_sizes(size_t* sizes) {
  const size_t all[] = {
      sizeof(syncyte_buffer_t),       sizeof(syncyte_trace_event_t),        sizeof(syncyte_init_options_t),
      sizeof(syncyte_comm_options_t), sizeof(syncyte_collective_options_t), sizeof(syncyte_topology_t),
      sizeof(syncyte_memory_stats_t), sizeof(syncyte_tensor_options_t),     sizeof(syncyte_window_options_t)};
  for (int i = 0; i < 9; ++i) sizes[i] = all[i];
}
