/* SPDX-License-Identifier: BSD-3-Clause */
/* Models by name: every function and every wrong argument, before syncyte_init() and after syncyte_finalize(). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

enum { count = 1000 };
static char folder[] = "models-XXXXXX";

static syncyte_cache_rendezvous_t place(void) {
  syncyte_cache_rendezvous_t result = SYNCYTE_CACHE_RENDEZVOUS_INIT;
  result.name = "models";
  result.folder = folder;
  result.nonce[0] = 5;
  result.timeout = 20;
  return result;
}

static syncyte_buffer_t vector(double* values) {
  syncyte_buffer_t result;
  const int64_t length = count;
  EXPECT_OK(syncyte_buffer_init(values, SYNCYTE_FLOAT64, 1, &length, &result));
  return result;
}

/* Publishes a model of "a" with this value, and "b" with its double, which is filled. */
static void publish(syncyte_models_t models, const char* name, double value) {
  static double a[count], b[count];
  syncyte_publication_t publication = NULL;
  syncyte_publication_options_t options = SYNCYTE_PUBLICATION_OPTIONS_INIT;
  syncyte_buffer_t first = vector(a), second = vector(b);
  for (int i = 0; i < count; ++i) a[i] = value, b[i] = 2 * value;
  options.checksums = 1;
  second.data = NULL;
  EXPECT_OK(syncyte_publication_create(models, name, &options, &publication));
  EXPECT_OK(syncyte_publication_add(publication, "a", &first));
  EXPECT_OK(syncyte_publication_add(publication, "b", &second));
  EXPECT_OK(syncyte_publication_start(publication));
  second.data = b;
  EXPECT_OK(syncyte_publication_fill(publication, "b", &second));
  EXPECT_OK(syncyte_publication_finish(publication));
  EXPECT_OK(syncyte_publication_destroy(&publication));
}

static double value_of(syncyte_model_t model, const char* name) {
  syncyte_buffer_t found = SYNCYTE_BUFFER_INIT;
  EXPECT_OK(syncyte_model_find(model, name, &found));
  return found.data != NULL ? ((double*)found.data)[count - 1] : -1;
}

static void models_are_published_and_bound(void) {
  syncyte_models_t models = NULL;
  syncyte_model_t model = NULL;
  syncyte_model_info_t info = {.struct_size = sizeof info};
  syncyte_model_tensor_t tensor = {.struct_size = sizeof tensor};
  syncyte_published_t published = {.struct_size = sizeof published};
  EXPECT_OK(syncyte_models_create(NULL, &models));
  publish(models, "net", 3);
  EXPECT_OK(syncyte_models_bind(models, "net", NULL, &model));
  EXPECT(value_of(model, "a") == 3 && value_of(model, "b") == 6);
  EXPECT_OK(syncyte_model_describe(model, &info));
  EXPECT(info.tensors == 2 && info.groups == 1 && info.ready == 1 && info.bytes > 16 * count);
  EXPECT_OK(syncyte_model_tensor(model, 1, &tensor));
  EXPECT(strcmp(tensor.name, "b") == 0 && tensor.bytes == 8 * count && tensor.group == 0 && tensor.same_as == 1);
  EXPECT(tensor.dtype == SYNCYTE_FLOAT64 && tensor.ndim == 1 && tensor.shape[0] == count && tensor.strides[0] == 8);
  EXPECT(((double*)tensor.data)[0] == 6);
  EXPECT_ERROR(syncyte_model_tensor(model, 2, &tensor), SYNCYTE_ERR_INDEX, "number is 2");
  EXPECT_OK(syncyte_model_wait(model, -1, -1));
  EXPECT_OK(syncyte_model_wait(model, 0, 0));
  EXPECT_OK(syncyte_model_verify(model));
  EXPECT_OK(syncyte_models_describe(models, 0, &published));
  EXPECT(strcmp(published.name, "net") == 0 && published.publisher == getpid() && published.holders == 1);
  EXPECT(published.processes[0] == getpid() && published.groups == 1 && published.ready == 1);
  EXPECT_ERROR(syncyte_models_describe(models, 1, &published), SYNCYTE_ERR_INDEX, "number is 1");
  EXPECT_ERROR(syncyte_models_remove(models, "net"), SYNCYTE_ERR_BUSY, "is bound by process");
  EXPECT_OK(syncyte_model_retain(model));
  EXPECT_OK(syncyte_model_release(model));
  EXPECT_OK(syncyte_models_destroy(&models));
  EXPECT(value_of(model, "a") == 3); /* without its server */
  EXPECT_OK(syncyte_model_destroy(&model));
}

/// The error for a device that no machine has.
static syncyte_status_t without_this_device(void) {
  int32_t devices = 0;
  EXPECT_OK(syncyte_memory_device_count(SYNCYTE_MEMORY_CUDA, &devices));
  return devices == 0 ? SYNCYTE_ERR_UNSUPPORTED : SYNCYTE_ERR_ARGUMENT;
}

static void wrong_arguments(void) {
  double values[count] = {0};
  syncyte_models_t models = NULL, other = NULL;
  syncyte_publication_t publication = NULL;
  syncyte_model_t model = NULL;
  syncyte_buffer_t buffer = vector(values);
  syncyte_models_options_t options = SYNCYTE_MODELS_OPTIONS_INIT;
  syncyte_bind_options_t bind = SYNCYTE_BIND_OPTIONS_INIT;
  syncyte_publication_options_t sums = SYNCYTE_PUBLICATION_OPTIONS_INIT;
  syncyte_cache_rendezvous_t where = place();

  options.device_budget = -5;
  EXPECT_ERROR(syncyte_models_create(&options, &models), SYNCYTE_ERR_ARGUMENT, "device_budget is -5");
  options.device_budget = 0;
  options.budget = -1;
  EXPECT_ERROR(syncyte_models_create(&options, &models), SYNCYTE_ERR_ARGUMENT, "budget is -1");
  EXPECT_ERROR(syncyte_models_create(NULL, NULL), SYNCYTE_ERR_ARGUMENT, "models is null");
  EXPECT(models == NULL);
  EXPECT_OK(syncyte_models_create(NULL, &models));

  where.timeout = NAN;
  EXPECT_ERROR(syncyte_models_serve(models, &where), SYNCYTE_ERR_ARGUMENT, "timeout is nan");
  EXPECT_ERROR(syncyte_models_connect(&where, &other), SYNCYTE_ERR_ARGUMENT, "timeout is nan");
  where.timeout = 0.05;
  EXPECT_ERROR(syncyte_models_connect(&where, &other), SYNCYTE_ERR_TIMEOUT, "no process has served the models");
  EXPECT_ERROR(syncyte_models_connect(&where, NULL), SYNCYTE_ERR_ARGUMENT, "models is null");
  EXPECT_ERROR(syncyte_models_serve(NULL, &where), SYNCYTE_ERR_HANDLE, "models is a null handle");
  EXPECT_ERROR(syncyte_models_remove(models, NULL), SYNCYTE_ERR_ARGUMENT, "name is null");
  EXPECT_ERROR(syncyte_models_remove(models, "net"), SYNCYTE_ERR_NOT_FOUND, "no model \"net\"");
  EXPECT_ERROR(syncyte_models_describe(models, -1, NULL), SYNCYTE_ERR_ARGUMENT, "published");

  EXPECT_ERROR(syncyte_publication_create(models, NULL, NULL, &publication), SYNCYTE_ERR_ARGUMENT, "name is null");
  EXPECT_ERROR(syncyte_publication_create(models, "", NULL, &publication), SYNCYTE_ERR_ARGUMENT, "name is empty");
  sums.checksums = 2;
  EXPECT_ERROR(syncyte_publication_create(models, "net", &sums, &publication), SYNCYTE_ERR_ARGUMENT, "checksums is 2");
  sums.checksums = 0;
  sums.memory = 7;
  EXPECT_ERROR(syncyte_publication_create(models, "net", &sums, &publication), SYNCYTE_ERR_ARGUMENT, "memory is 7");
  sums.memory = SYNCYTE_MEMORY_CUDA;
  sums.device = -2;
  EXPECT_ERROR(syncyte_publication_create(models, "net", &sums, &publication), SYNCYTE_ERR_ARGUMENT, "device is -2");
  sums.device = 1000;
  EXPECT(syncyte_publication_create(models, "net", &sums, &publication) == without_this_device());
  EXPECT_OK(syncyte_publication_create(models, "net", NULL, &publication));
  EXPECT_ERROR(syncyte_publication_start(publication), SYNCYTE_ERR_ARGUMENT, "publication is without tensors");
  EXPECT_ERROR(syncyte_publication_add(publication, NULL, &buffer), SYNCYTE_ERR_ARGUMENT, "tensor is null");
  EXPECT_ERROR(syncyte_publication_add(publication, "a", NULL), SYNCYTE_ERR_ARGUMENT, "buffer");
  buffer.memory = SYNCYTE_MEMORY_CUDA;
  buffer.device = 1000;
  EXPECT(syncyte_publication_add(publication, "a", &buffer) == without_this_device());
  buffer.memory = SYNCYTE_MEMORY_HOST;
  buffer.device = 0;
  buffer.dtype = 99;
  EXPECT_ERROR(syncyte_publication_add(publication, "a", &buffer), SYNCYTE_ERR_TYPE, "99");
  buffer.dtype = SYNCYTE_FLOAT64;
  EXPECT_OK(syncyte_publication_add(publication, "a", &buffer));
  EXPECT_ERROR(syncyte_publication_add(publication, "a", &buffer), SYNCYTE_ERR_ARGUMENT, "tensor is \"a\"");
  EXPECT_ERROR(syncyte_publication_fail(publication, SYNCYTE_SUCCESS, "why"), SYNCYTE_ERR_ARGUMENT, "code is 0");
  EXPECT_ERROR(syncyte_publication_fail(publication, SYNCYTE_ERR_IO, NULL), SYNCYTE_ERR_ARGUMENT, "reason is null");
  EXPECT_OK(syncyte_publication_start(publication));
  EXPECT_OK(syncyte_publication_start(publication));
  EXPECT_ERROR(syncyte_publication_fill(publication, "b", &buffer), SYNCYTE_ERR_NOT_FOUND, "no tensor \"b\"");
  bind.memory = 7;
  EXPECT_ERROR(syncyte_models_bind(models, "net", &bind, &model), SYNCYTE_ERR_ARGUMENT, "memory is 7");
  bind.memory = SYNCYTE_MEMORY_CUDA;
  bind.device = 1000;
  EXPECT(syncyte_models_bind(models, "net", &bind, &model) == without_this_device());
  bind.device = -1;
  bind.copy = 2;
  EXPECT_ERROR(syncyte_models_bind(models, "net", &bind, &model), SYNCYTE_ERR_ARGUMENT, "copy is 2");
  EXPECT_ERROR(syncyte_models_bind(models, "net", NULL, NULL), SYNCYTE_ERR_ARGUMENT, "model is null");
  EXPECT_OK(syncyte_models_bind(models, "net", NULL, &model));
  EXPECT_ERROR(syncyte_model_wait(model, 0, 0.01), SYNCYTE_ERR_TIMEOUT, "0 of 1 groups");
  EXPECT_ERROR(syncyte_model_wait(model, 0, NAN), SYNCYTE_ERR_ARGUMENT, "timeout is nan");
  EXPECT_ERROR(syncyte_model_wait(model, -2, 0), SYNCYTE_ERR_INDEX, "group is -2");
  EXPECT_ERROR(syncyte_model_wait(model, 1, 0), SYNCYTE_ERR_INDEX, "group is 1");
  EXPECT_ERROR(syncyte_model_find(model, "a", NULL), SYNCYTE_ERR_ARGUMENT, "buffer");
  EXPECT_ERROR(syncyte_model_find(model, "c", &buffer), SYNCYTE_ERR_NOT_FOUND, "no tensor \"c\"");
  EXPECT_OK(syncyte_publication_fail(publication, SYNCYTE_ERR_CHECKSUM, "a bad disk"));
  EXPECT_ERROR(syncyte_model_find(model, "a", &buffer), SYNCYTE_ERR_CHECKSUM, "\"net\" has failed: a bad disk");
  EXPECT_ERROR(syncyte_model_verify(model), SYNCYTE_ERR_UNSUPPORTED, "without checksums");
  EXPECT_ERROR(syncyte_publication_finish(publication), SYNCYTE_ERR_ARGUMENT, "has ended");
  EXPECT_OK(syncyte_publication_retain(publication));
  EXPECT_OK(syncyte_publication_release(publication));
  EXPECT_OK(syncyte_publication_destroy(&publication));
  EXPECT_OK(syncyte_model_destroy(&model));
  EXPECT_OK(syncyte_models_retain(models));
  EXPECT_OK(syncyte_models_release(models));
  EXPECT_OK(syncyte_models_destroy(&models));
}

static void processes_share(void) {
  syncyte_models_t models = NULL;
  const syncyte_cache_rendezvous_t where = place();
  const pid_t child = fork();
  if (child == 0) {
    syncyte_model_t model = NULL;
    EXPECT_OK(syncyte_models_connect(&where, &models));
    publish(models, "theirs", 8);
    EXPECT_OK(syncyte_models_bind(models, "ours", NULL, &model));
    EXPECT(value_of(model, "b") == 10);
    _exit(failures == 0 ? 42 : 1);
  }
  syncyte_model_t model = NULL;
  int status = 0;
  EXPECT_OK(syncyte_models_create(NULL, &models));
  publish(models, "ours", 5);
  EXPECT_OK(syncyte_models_serve(models, &where));
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WEXITSTATUS(status) == 42);
  EXPECT_OK(syncyte_models_bind(models, "theirs", NULL, &model));
  EXPECT(value_of(model, "a") == 8);
  EXPECT_OK(syncyte_model_destroy(&model));
  EXPECT_OK(syncyte_models_destroy(&models));
}

static void everything(void) {
  models_are_published_and_bound();
  wrong_arguments();
  processes_share();
}

int main(void) {
  int32_t rank = 0, size = 0;
  EXPECT(mkdtemp(folder) != NULL);
  everything();
  syncyte_comm_t world = start(&rank, &size);
  models_are_published_and_bound();
  wrong_arguments();
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  everything();
  EXPECT(rmdir(folder) == 0); /* succeeds only if the folder is empty */
  return failures;
}
