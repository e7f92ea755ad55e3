/* SPDX-License-Identifier: BSD-3-Clause */
/* Tensors in device memory through the C interface: the device of the options, rows of other ranks, errors. */
#include <dlfcn.h>

#include "../capi/expect.h"

enum { width = 3 };
static int32_t rank = 0, size = 0;

/* Makes a device's primary context the thread's current one, as an application does. */
static void use_device(int device) {
  void *const driver = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL;
  int (*retain)(void**, int) = NULL, (*push)(void*) = NULL;
  *(void**)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
  *(void**)&push = dlsym(driver, "cuCtxPushCurrent_v2");
  EXPECT(retain(&context, device) == 0);
  EXPECT(push(context) == 0);
}

static syncyte_tensor_t make(syncyte_comm_t comm, int32_t device) {
  const int64_t shape[] = {size, width};
  syncyte_tensor_options_t options = SYNCYTE_TENSOR_OPTIONS_INIT;
  syncyte_tensor_t tensor = NULL;
  options.memory = SYNCYTE_MEMORY_CUDA;
  options.device = device;
  EXPECT_OK(syncyte_tensor_create(comm, SYNCYTE_FLOAT32, 2, shape, &options, &tensor));
  return tensor;
}

static int32_t device_of(syncyte_tensor_t tensor) {
  syncyte_buffer_t view = SYNCYTE_BUFFER_INIT;
  EXPECT_OK(syncyte_tensor_local(tensor, &view));
  EXPECT(view.memory == SYNCYTE_MEMORY_CUDA);
  return view.device;
}

static syncyte_buffer_t on_device(syncyte_buffer_t host, int64_t bytes, int32_t device) {
  syncyte_buffer_t result = host;
  EXPECT_OK(syncyte_memory_allocate(bytes, SYNCYTE_MEMORY_CUDA, device, &result.data));
  result.memory = SYNCYTE_MEMORY_CUDA;
  result.device = device;
  EXPECT_OK(syncyte_memory_copy(&result, &host, NULL));
  return result;
}

/* Every rank writes the next one's row, and reads the one before it. */
static void use_rows(syncyte_tensor_t tensor) {
  const int64_t shape[] = {1, width};
  const int32_t device = device_of(tensor);
  int64_t next = (rank + 1) % size, before = (rank + size - 1) % size, far = size;
  float row[width] = {(float)rank, 1, 2};
  syncyte_buffer_t host, host_row = SYNCYTE_BUFFER_INIT;
  EXPECT_OK(syncyte_buffer_init(row, SYNCYTE_FLOAT32, 2, shape, &host_row));
  EXPECT_OK(syncyte_buffer_init(&next, SYNCYTE_INT64, 1, shape, &host));
  const syncyte_buffer_t to = on_device(host, sizeof next, device), values = on_device(host_row, sizeof row, device);
  host.data = &before;
  const syncyte_buffer_t from = on_device(host, sizeof before, device);
  host.data = &far;
  const syncyte_buffer_t outside = on_device(host, sizeof far, device);

  EXPECT_OK(syncyte_tensor_scatter(tensor, &to, &values));
  EXPECT_OK(syncyte_tensor_sync(tensor));
  EXPECT_OK(syncyte_tensor_gather(tensor, &from, &values));
  EXPECT_OK(syncyte_memory_copy(&host_row, &values, NULL));
  EXPECT(row[0] == (float)((rank + 2 * size - 2) % size));
  EXPECT(row[2] == 2);
  EXPECT_ERROR(syncyte_tensor_gather(tensor, &outside, &values), SYNCYTE_ERR_INDEX, "is out of range");
  EXPECT_ERROR(syncyte_tensor_gather(tensor, &host, &values), SYNCYTE_ERR_ARGUMENT, "index: memory is the host's");
  EXPECT_ERROR(syncyte_tensor_gather(tensor, &from, &host_row), SYNCYTE_ERR_ARGUMENT, "output: memory is the host's");
  EXPECT_OK(syncyte_memory_free(to.data));
  EXPECT_OK(syncyte_memory_free(from.data));
  EXPECT_OK(syncyte_memory_free(outside.data));
  EXPECT_OK(syncyte_memory_free(values.data));
}

int main(void) {
  int32_t devices = 0;
  syncyte_comm_t world = start(&rank, &size);
  EXPECT_OK(syncyte_memory_device_count(SYNCYTE_MEMORY_CUDA, &devices));
  syncyte_tensor_t tensor = devices > 0 ? make(world, -1) : NULL;
  if (tensor != NULL) {
    EXPECT(device_of(tensor) == 0); /* without a context */
    use_rows(tensor);
    EXPECT_OK(syncyte_tensor_destroy(&tensor));
    use_device(devices - 1);
    tensor = make(world, -1);
    EXPECT(device_of(tensor) == devices - 1);
    use_rows(tensor);
    EXPECT_OK(syncyte_tensor_destroy(&tensor));
    tensor = make(world, 0);
    EXPECT(device_of(tensor) == 0);
    EXPECT_OK(syncyte_tensor_destroy(&tensor));
  }
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  if (devices == 0) return 77;
  return failures == 0 ? 0 : 1;
}
