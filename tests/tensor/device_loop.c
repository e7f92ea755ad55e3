/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a tensor in device memory, uses rows of all ranks and frees it, until all ranks are killed. An argument is the
 * last rank's STANDIN_FAIL in the loop: a step of the driver at which it is killed. */
#include <stdio.h>
#include <stdlib.h>

#include "../support/waiting.h"
#include "syncyte/memory.h"

static const int64_t rows = 400000, row = 4;

static syncyte_buffer_t on_device(int64_t elements, syncyte_dtype_t dtype, size_t size) {
  syncyte_buffer_t result = SYNCYTE_BUFFER_INIT;
  void* data = NULL;
  if (syncyte_memory_allocate(elements * (int64_t)size, SYNCYTE_MEMORY_CUDA, 0, &data) != SYNCYTE_SUCCESS)
    syncyte_abort(3);
  syncyte_buffer_init(data, dtype, 1, &elements, &result);
  result.memory = SYNCYTE_MEMORY_CUDA;
  return result;
}

int main(int count_of_arguments, char** arguments) {
  int32_t rank = 0, size = 0;
  syncyte_comm_t world = start_world(&rank, &size);
  const int64_t wanted[] = {0, rows - 1, rows / 2}, count = 3, shape[] = {rows, row};
  syncyte_tensor_options_t options = SYNCYTE_TENSOR_OPTIONS_INIT;
  options.memory = SYNCYTE_MEMORY_CUDA;
  options.device = 0;
  syncyte_buffer_t index = on_device(count, SYNCYTE_INT64, sizeof(int64_t)), host = SYNCYTE_BUFFER_INIT;
  syncyte_buffer_init((void*)wanted, SYNCYTE_INT64, 1, &count, &host);
  if (syncyte_memory_copy(&index, &host, NULL) != SYNCYTE_SUCCESS) syncyte_abort(3);
  const syncyte_buffer_t values = on_device(count * row, SYNCYTE_FLOAT32, sizeof(float));
  puts("ready");
  fflush(stdout);
  if (count_of_arguments > 1 && rank == size - 1) setenv("STANDIN_FAIL", arguments[1], 1);
  for (;;) {
    syncyte_tensor_t tensor = NULL;
    if (syncyte_tensor_create(world, SYNCYTE_FLOAT32, 2, shape, &options, &tensor) != SYNCYTE_SUCCESS ||
        syncyte_tensor_scatter_add(tensor, &index, &values) != SYNCYTE_SUCCESS ||
        syncyte_tensor_sync(tensor) != SYNCYTE_SUCCESS ||
        syncyte_tensor_gather(tensor, &index, &values) != SYNCYTE_SUCCESS ||
        syncyte_tensor_destroy(&tensor) != SYNCYTE_SUCCESS) {
      fprintf(stderr, "rank %d: %s\n", rank, syncyte_last_error());
      syncyte_abort(3);
    }
  }
}
