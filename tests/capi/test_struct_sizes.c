/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs of callers that were compiled with other versions of the headers: shorter ones, longer ones, and sizes that
 * no version has. For every struct of the C interface; tests/bindings/hdf5 has those of checkpoints. */
#include <string.h>

#include "expect.h"

enum { later = 16 }; /* bytes of members that a later version has */

static syncyte_comm_t world;
static double number[2];
static syncyte_buffer_t one, other;

/* A call with an input struct, whose sizeof was `first` in the first release; it undoes what it has done. `reserved` is
 * the offset of the struct's member of that name, or 0. */
struct input {
  const char* name;
  size_t size;
  size_t first;
  size_t reserved;
  const void* init;
  syncyte_status_t (*call)(const void* given);
};

/* A call with an output struct. */
struct output {
  const char* name;
  size_t size;
  size_t first;
  syncyte_status_t (*call)(void* given);
};

static syncyte_status_t init_with(const void* given) { return syncyte_init(given); }

static syncyte_status_t dup_with(const void* given) {
  syncyte_comm_t comm = NULL;
  const syncyte_status_t status = syncyte_comm_dup(world, given, &comm);
  if (comm != NULL) EXPECT_OK(syncyte_comm_destroy(&comm));
  return status;
}

static syncyte_status_t allreduce_with(const void* given) {
  return syncyte_comm_allreduce(world, &one, SYNCYTE_OP_SUM, given, &other);
}

static syncyte_status_t send_with(const void* given) {
  return syncyte_comm_send(world, &one, SYNCYTE_PROC_NULL, 0, given);
}

static syncyte_status_t halo_with(const void* given) {
  const int64_t shape = 4, width = 1;
  const int32_t chosen = 0;
  syncyte_comm_t ring = NULL;
  syncyte_halo_t halo = NULL;
  EXPECT_OK(syncyte_cart_create(world, 1, &chosen, 0, NULL, NULL, &ring));
  const syncyte_status_t status =
      syncyte_halo_create(ring, SYNCYTE_FLOAT64, 1, &shape, 1, &width, 1, &width, 0, NULL, given, &halo);
  if (halo != NULL) EXPECT_OK(syncyte_halo_destroy(&halo));
  EXPECT_OK(syncyte_comm_destroy(&ring));
  return status;
}

static syncyte_status_t reducer_with(const void* given) {
  const syncyte_dtype_t dtype = SYNCYTE_FLOAT64;
  const int64_t elements = 3;
  syncyte_reducer_t reducer = NULL;
  const syncyte_status_t status = syncyte_reducer_create(world, 1, &dtype, &elements, given, &reducer);
  if (reducer != NULL) EXPECT_OK(syncyte_reducer_destroy(&reducer));
  return status;
}

static syncyte_status_t window_with(const void* given) {
  syncyte_window_t window = NULL;
  const syncyte_status_t status = syncyte_window_create(world, 64, given, &window);
  if (window != NULL) EXPECT_OK(syncyte_window_destroy(&window));
  return status;
}

static syncyte_status_t tensor_with(const void* given) {
  const int64_t shape[] = {7, 2};
  syncyte_tensor_t tensor = NULL;
  const syncyte_status_t status = syncyte_tensor_create(world, SYNCYTE_FLOAT64, 2, shape, given, &tensor);
  if (tensor != NULL) EXPECT_OK(syncyte_tensor_destroy(&tensor));
  return status;
}

static syncyte_status_t optimizer_with(const void* given) {
  const int64_t shape[] = {7, 2};
  syncyte_tensor_t tensor = NULL;
  EXPECT_OK(syncyte_tensor_create(world, SYNCYTE_FLOAT64, 2, shape, NULL, &tensor));
  const syncyte_status_t status = syncyte_tensor_set_optimizer(tensor, SYNCYTE_OPTIMIZER_SGD, 0.1, given);
  EXPECT_OK(syncyte_tensor_destroy(&tensor));
  return status;
}

static syncyte_status_t store_with(const void* given) {
  const int64_t length = 2;
  syncyte_store_t kv = NULL;
  const syncyte_status_t status = syncyte_store_create(world, SYNCYTE_FLOAT32, 10, 1, &length, given, &kv);
  if (kv != NULL) EXPECT_OK(syncyte_store_destroy(&kv));
  return status;
}

static syncyte_status_t sampling_with(const void* given) {
  const int64_t length = 2;
  syncyte_store_t kv = NULL;
  EXPECT_OK(syncyte_store_create(world, SYNCYTE_FLOAT32, 10, 1, &length, NULL, &kv));
  const syncyte_status_t status = syncyte_store_set_sampling(kv, given);
  EXPECT_OK(syncyte_store_destroy(&kv));
  return status;
}

static syncyte_status_t cache_with(const void* given) {
  syncyte_cache_t cache = NULL;
  const syncyte_status_t status = syncyte_cache_create(given, &cache);
  if (cache != NULL) EXPECT_OK(syncyte_cache_destroy(&cache));
  return status;
}

/* The name is wrong, so that nobody is waited for. */
static syncyte_status_t rendezvous_with(const void* given) {
  syncyte_cache_t cache = NULL;
  const syncyte_status_t status = syncyte_cache_receive(given, &cache);
  return status == SYNCYTE_ERR_ARGUMENT && strstr(syncyte_last_error(), "struct_size") == NULL ? SYNCYTE_SUCCESS
                                                                                               : status;
}

static syncyte_models_t models;
static syncyte_model_t model; /* with one tensor "x" */

static void make_model(void) {
  syncyte_publication_t publication = NULL;
  EXPECT_OK(syncyte_models_create(NULL, &models));
  EXPECT_OK(syncyte_publication_create(models, "net", NULL, &publication));
  EXPECT_OK(syncyte_publication_add(publication, "x", &one));
  EXPECT_OK(syncyte_publication_finish(publication));
  EXPECT_OK(syncyte_publication_destroy(&publication));
  EXPECT_OK(syncyte_models_bind(models, "net", NULL, &model));
}

static syncyte_status_t models_with(const void* given) {
  syncyte_models_t made = NULL;
  const syncyte_status_t status = syncyte_models_create(given, &made);
  if (made != NULL) EXPECT_OK(syncyte_models_destroy(&made));
  return status;
}

static syncyte_status_t publication_with(const void* given) {
  syncyte_publication_t made = NULL;
  const syncyte_status_t status = syncyte_publication_create(models, "other", given, &made);
  if (made != NULL) EXPECT_OK(syncyte_publication_destroy(&made));
  return status;
}

static syncyte_status_t bind_with(const void* given) {
  syncyte_model_t made = NULL;
  const syncyte_status_t status = syncyte_models_bind(models, "net", given, &made);
  if (made != NULL) EXPECT_OK(syncyte_model_destroy(&made));
  return status;
}

static syncyte_status_t agree_with(const void* given) {
  return syncyte_comm_agree(world, SYNCYTE_SUCCESS, "test", 1, given);
}

static syncyte_status_t fact_with(const void* given) {
  syncyte_collective_options_t options = SYNCYTE_COLLECTIVE_OPTIONS_INIT;
  options.facts = given;
  options.fact_count = 1;
  return syncyte_comm_allreduce(world, &one, SYNCYTE_OP_SUM, &options, &other);
}

static syncyte_status_t tell_with(const void* given) { return syncyte_trace_tell(world, given); }

static syncyte_status_t set_error_with(const void* given) {
  const syncyte_status_t status = syncyte_error_set_fields(given);
  return status == SYNCYTE_ERR_FORMAT ? SYNCYTE_SUCCESS : status; /* the error that it has set */
}

static syncyte_status_t buffer_with(const void* given) {
  return syncyte_comm_allreduce(world, given, SYNCYTE_OP_SUM, NULL, &other);
}

static syncyte_status_t published_into(void* given) { return syncyte_models_describe(models, 0, given); }
static syncyte_status_t model_into(void* given) { return syncyte_model_describe(model, given); }
static syncyte_status_t model_tensor_into(void* given) { return syncyte_model_tensor(model, 0, given); }
static syncyte_status_t find_into(void* given) { return syncyte_model_find(model, "x", given); }
static syncyte_status_t topology_into(void* given) { return syncyte_comm_topology(world, given); }
static syncyte_status_t fields_into(void* given) { return syncyte_last_error_fields(given); }
static syncyte_status_t stats_into(void* given) { return syncyte_stats(0, given); }
static syncyte_status_t memory_into(void* given) { return syncyte_memory_stats(given); }

static syncyte_status_t status_into(void* given) {
  return syncyte_comm_recv(world, SYNCYTE_PROC_NULL, 0, NULL, &one, given);
}

static syncyte_status_t info_into(void* given) {
  const int64_t length = 2;
  syncyte_store_t kv = NULL;
  syncyte_store_worker_t worker = NULL;
  EXPECT_OK(syncyte_store_create(world, SYNCYTE_FLOAT32, 10, 1, &length, NULL, &kv));
  EXPECT_OK(syncyte_store_worker_create(kv, 0, &worker));
  const syncyte_status_t status = syncyte_store_worker_describe(worker, given);
  EXPECT_OK(syncyte_store_worker_destroy(&worker));
  EXPECT_OK(syncyte_store_destroy(&kv));
  return status;
}

static syncyte_status_t buffer_into(void* given) {
  const int64_t extent = 1;
  return syncyte_buffer_set(number, SYNCYTE_FLOAT64, 1, &extent, given);
}

/* Calls a function of a tensor that fills a buffer. */
static syncyte_status_t with_tensor(syncyte_status_t (*call)(syncyte_tensor_t tensor, syncyte_buffer_t* given),
                                    void* given) {
  const int64_t shape[] = {7, 2};
  syncyte_tensor_t tensor = NULL;
  EXPECT_OK(syncyte_tensor_create(world, SYNCYTE_FLOAT64, 2, shape, NULL, &tensor));
  const syncyte_status_t status = call(tensor, given);
  EXPECT_OK(syncyte_tensor_destroy(&tensor));
  return status;
}

static syncyte_status_t node_of(syncyte_tensor_t tensor, syncyte_buffer_t* given) {
  int64_t first = 0;
  return syncyte_tensor_node(tensor, given, &first);
}

static syncyte_status_t describe_into(void* given) { return with_tensor(syncyte_tensor_describe, given); }
static syncyte_status_t local_into(void* given) { return with_tensor(syncyte_tensor_local, given); }
static syncyte_status_t node_into(void* given) { return with_tensor(node_of, given); }

static syncyte_status_t halo_into(syncyte_buffer_t* array, syncyte_buffer_t* interior) {
  const int64_t shape = 4, width = 1;
  const int32_t chosen = 0;
  syncyte_comm_t ring = NULL;
  syncyte_halo_t halo = NULL;
  EXPECT_OK(syncyte_cart_create(world, 1, &chosen, 0, NULL, NULL, &ring));
  EXPECT_OK(syncyte_halo_create(ring, SYNCYTE_FLOAT64, 1, &shape, 1, &width, 1, &width, 0, NULL, NULL, &halo));
  const syncyte_status_t status = syncyte_halo_describe(halo, array, interior);
  EXPECT_OK(syncyte_halo_destroy(&halo));
  EXPECT_OK(syncyte_comm_destroy(&ring));
  return status;
}

static syncyte_status_t array_into(void* given) { return halo_into(given, NULL); }

static syncyte_status_t interior_into(void* given) {
  syncyte_buffer_t array = SYNCYTE_BUFFER_INIT;
  return halo_into(&array, given);
}

static syncyte_status_t bucket_into(void* given) {
  const syncyte_dtype_t dtype = SYNCYTE_FLOAT64;
  const int64_t elements = 3;
  syncyte_reducer_t reducer = NULL;
  EXPECT_OK(syncyte_reducer_create(world, 1, &dtype, &elements, NULL, &reducer));
  const syncyte_status_t status = syncyte_reducer_bucket(reducer, 0, given);
  EXPECT_OK(syncyte_reducer_destroy(&reducer));
  return status;
}

/* Sizes that no version of the struct has. The first member is struct_size. */
static void expect_refused_sizes(size_t size, size_t first, void* given, syncyte_status_t (*call)(void* given)) {
  const size_t wrong[] = {0, 3, 8, first - 8, size + 4, 4104, SIZE_MAX - 7};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    char text[64];
    snprintf(text, sizeof text, "->struct_size is %zu; expected %zu", wrong[i], size);
    memcpy(given, &wrong[i], sizeof wrong[i]);
    EXPECT_ERROR(call(given), SYNCYTE_ERR_ARGUMENT, text);
  }
}

static syncyte_status_t (*called)(const void* given);
static syncyte_status_t call_input(void* given) { return called(given); }

static void test_input(const struct input* one_of_them) {
  _Alignas(16) unsigned char given[4096] = {0};
  const size_t longer = one_of_them->size + later;
  char text[64];
  const int failures_before = failures;
  memcpy(given, one_of_them->init, one_of_them->size);
  EXPECT_OK(one_of_them->call(given));
  memset(given + one_of_them->first, 0xEE, one_of_them->size - one_of_them->first);
  memcpy(given, &one_of_them->first, sizeof one_of_them->first);
  EXPECT_OK(one_of_them->call(given)); /* nothing behind the first release's members is read */
  memcpy(given, one_of_them->init, one_of_them->size);
  memcpy(given, &longer, sizeof longer);
  EXPECT_OK(one_of_them->call(given)); /* the later members have their defaults */
  given[longer - 1] = 1;
  snprintf(text, sizeof text, "has %zu bytes, and its byte %zu is set", longer, longer - 1);
  EXPECT_ERROR(one_of_them->call(given), SYNCYTE_ERR_VERSION, text);
  called = one_of_them->call;
  expect_refused_sizes(one_of_them->size, one_of_them->first, given, call_input);
  if (failures != failures_before) fprintf(stderr, "the struct is %s\n", one_of_them->name);
}

/* Bytes between two members have no meaning yet: a caller leaves them 0. */
static void test_reserved(const struct input* one_of_them) {
  _Alignas(16) unsigned char given[4096];
  const int failures_before = failures;
  const int32_t set = 7;
  memcpy(given, one_of_them->init, one_of_them->size);
  memcpy(given + one_of_them->reserved, &set, sizeof set);
  EXPECT_ERROR(one_of_them->call(given), SYNCYTE_ERR_ARGUMENT, "->reserved is 7; expected 0");
  if (failures != failures_before) fprintf(stderr, "the struct is %s\n", one_of_them->name);
}

/* An array of a later version's facts: the size of the first one is the distance between them. */
static void test_array(int32_t rank, int32_t size) {
  struct {
    syncyte_fact_t known;
    int64_t later_member;
  } facts[3] = {
      {{sizeof facts[0], "first", 1}, 0}, {{sizeof facts[0], "second", 2}, 0}, {{sizeof facts[0], "third", 3}, 0}};
  EXPECT_OK(syncyte_comm_agree(world, SYNCYTE_SUCCESS, "test", 3, &facts[0].known));
  facts[2].known.value += rank;
  if (size > 1)
    EXPECT_ERROR(syncyte_comm_agree(world, SYNCYTE_SUCCESS, "test", 3, &facts[0].known), SYNCYTE_ERR_MISMATCH,
                 "third is 3 on rank");
  facts[1].known.struct_size = sizeof facts[0].known;
  EXPECT_ERROR(syncyte_comm_agree(world, SYNCYTE_SUCCESS, "test", 3, &facts[0].known), SYNCYTE_ERR_ARGUMENT,
               "facts[1].struct_size is 24; expected 32, as in facts[0]");
  facts[1].known.struct_size = sizeof facts[0];
  facts[1].later_member = 1;
  EXPECT_ERROR(syncyte_comm_agree(world, SYNCYTE_SUCCESS, "test", 3, &facts[0].known), SYNCYTE_ERR_VERSION,
               "has 32 bytes, and its byte 24 is set");
}

/* A library on top reads its own structs by the same rule. */
static void test_library_on_top(void) {
  struct {
    size_t struct_size;
    int64_t first, second;
  } ours = {sizeof ours, 1, 2}, theirs = {2 * sizeof(int64_t), 7, 9};
  EXPECT_OK(syncyte_struct_read(&theirs, "options", 16, &ours));
  EXPECT(ours.struct_size == sizeof ours);
  EXPECT(ours.first == 7);
  EXPECT(ours.second == 2);
  theirs.struct_size = sizeof theirs;
  EXPECT_OK(syncyte_struct_read(&theirs, "options", 16, &ours));
  EXPECT(ours.second == 9);
  theirs.struct_size = 8;
  EXPECT_ERROR(syncyte_struct_read(&theirs, "options", 16, &ours), SYNCYTE_ERR_ARGUMENT,
               "options->struct_size is 8; expected 24");
  EXPECT_ERROR(syncyte_struct_read(NULL, "options", 16, &ours), SYNCYTE_ERR_ARGUMENT, "options is null");
  EXPECT_ERROR(syncyte_struct_read(&theirs, NULL, 16, &ours), SYNCYTE_ERR_ARGUMENT, "name is null");
  EXPECT_ERROR(syncyte_struct_read(&theirs, "options", 16, NULL), SYNCYTE_ERR_ARGUMENT, "ours is null");
}

static void test_output(const struct output* one_of_them) {
  _Alignas(16) unsigned char given[4096], exact[4096];
  const size_t longer = one_of_them->size + later;
  const int failures_before = failures;
  memset(given, 0xEE, sizeof given);
  memset(exact, 0xEE, sizeof exact);
  memcpy(exact, &one_of_them->size, sizeof(size_t));
  memcpy(given, &longer, sizeof longer);
  EXPECT_OK(one_of_them->call(exact));
  EXPECT_OK(one_of_them->call(given));
  size_t filled = 0;
  memcpy(&filled, given, sizeof filled);
  EXPECT(filled == one_of_them->size);
  for (size_t i = one_of_them->size; i < longer; ++i) EXPECT(given[i] == 0);
  EXPECT(given[longer] == 0xEE);
  EXPECT(exact[one_of_them->size] == 0xEE);
  memset(exact, 0xEE, sizeof exact);
  memcpy(exact, &one_of_them->first, sizeof one_of_them->first);
  EXPECT_OK(one_of_them->call(exact));
  EXPECT(exact[one_of_them->first] == 0xEE);
  expect_refused_sizes(one_of_them->size, one_of_them->first, given, one_of_them->call);
  if (failures != failures_before) fprintf(stderr, "the struct is %s\n", one_of_them->name);
}

#define INPUT(type, first, value, function) {#type, sizeof(type), first, 0, &(const type)value, function}
#define RESERVED_INPUT(type, first, value, function) \
  {#type, sizeof(type), first, offsetof(type, reserved), &(const type)value, function}
#define OUTPUT(type, first, function) {#type " of " #function, sizeof(type), first, function}

int main(void) {
  int32_t rank = 0, size = 0;
  world = start(&rank, &size);
  const int64_t extent = 1;
  EXPECT_OK(syncyte_buffer_init(&number[0], SYNCYTE_FLOAT64, 1, &extent, &one));
  EXPECT_OK(syncyte_buffer_init(&number[1], SYNCYTE_FLOAT64, 1, &extent, &other));
  make_model();
  syncyte_store_sampling_t sampling = SYNCYTE_STORE_SAMPLING_INIT;
  sampling.max_key = 10;
  const syncyte_cache_sizes_t sizes = {sizeof sizes, 1 << 20, 1 << 20, SYNCYTE_MEMORY_HOST, -1, NULL};
  syncyte_cache_rendezvous_t nowhere = SYNCYTE_CACHE_RENDEZVOUS_INIT;
  nowhere.name = "/";
  const syncyte_trace_event_t event = {.struct_size = sizeof event, .operation = "library_call"};
  const syncyte_fact_t fact = {sizeof fact, "step", 3};
  const syncyte_error_fields_t fields = {.struct_size = sizeof fields, .status = SYNCYTE_ERR_FORMAT};
  const struct input inputs[] = {
      RESERVED_INPUT(syncyte_init_options_t, 16, SYNCYTE_INIT_OPTIONS_INIT, init_with),
      RESERVED_INPUT(syncyte_comm_options_t, 24, SYNCYTE_COMM_OPTIONS_INIT, dup_with),
      INPUT(syncyte_collective_options_t, 24, SYNCYTE_COLLECTIVE_OPTIONS_INIT, allreduce_with),
      INPUT(syncyte_message_options_t, 32, SYNCYTE_MESSAGE_OPTIONS_INIT, send_with),
      RESERVED_INPUT(syncyte_halo_options_t, 16, SYNCYTE_HALO_OPTIONS_INIT, halo_with),
      INPUT(syncyte_reducer_options_t, 16, SYNCYTE_REDUCER_OPTIONS_INIT, reducer_with),
      RESERVED_INPUT(syncyte_window_options_t, 24, SYNCYTE_WINDOW_OPTIONS_INIT, window_with),
      INPUT(syncyte_tensor_options_t, 32, SYNCYTE_TENSOR_OPTIONS_INIT, tensor_with),
      INPUT(syncyte_optimizer_options_t, 40, SYNCYTE_OPTIMIZER_OPTIONS_INIT, optimizer_with),
      INPUT(syncyte_store_options_t, 24, SYNCYTE_STORE_OPTIONS_INIT, store_with),
      {"syncyte_store_sampling_t", sizeof sampling, 64, offsetof(syncyte_store_sampling_t, reserved), &sampling,
       sampling_with},
      {"syncyte_cache_sizes_t", sizeof sizes, 24, 0, &sizes, cache_with},
      INPUT(syncyte_models_options_t, 24, SYNCYTE_MODELS_OPTIONS_INIT, models_with),
      RESERVED_INPUT(syncyte_publication_options_t, 24, SYNCYTE_PUBLICATION_OPTIONS_INIT, publication_with),
      RESERVED_INPUT(syncyte_bind_options_t, 24, SYNCYTE_BIND_OPTIONS_INIT, bind_with),
      {"syncyte_cache_rendezvous_t", sizeof nowhere, 48, 0, &nowhere, rendezvous_with},
      {"syncyte_trace_event_t", sizeof event, 72, offsetof(syncyte_trace_event_t, reserved), &event, tell_with},
      {"syncyte_error_fields_t", sizeof fields, 80, offsetof(syncyte_error_fields_t, reserved), &fields,
       set_error_with},
      {"syncyte_buffer_t", sizeof one, 168, offsetof(syncyte_buffer_t, reserved), &one, buffer_with},
      {"syncyte_fact_t", sizeof fact, 24, 0, &fact, agree_with},
      {"syncyte_fact_t of options", sizeof fact, 24, 0, &fact, fact_with},
  };
  const struct output outputs[] = {
      OUTPUT(syncyte_topology_t, 24, topology_into),
      OUTPUT(syncyte_error_fields_t, 80, fields_into),
      OUTPUT(syncyte_operation_stats_t, 48, stats_into),
      OUTPUT(syncyte_memory_stats_t, 48, memory_into),
      OUTPUT(syncyte_message_status_t, 24, status_into),
      OUTPUT(syncyte_store_worker_info_t, 80, info_into),
      OUTPUT(syncyte_buffer_t, 168, buffer_into),
      OUTPUT(syncyte_buffer_t, 168, describe_into),
      OUTPUT(syncyte_buffer_t, 168, local_into),
      OUTPUT(syncyte_buffer_t, 168, node_into),
      OUTPUT(syncyte_buffer_t, 168, array_into),
      OUTPUT(syncyte_buffer_t, 168, interior_into),
      OUTPUT(syncyte_buffer_t, 168, bucket_into),
      OUTPUT(syncyte_buffer_t, 168, find_into),
      OUTPUT(syncyte_published_t, 184, published_into),
      OUTPUT(syncyte_model_info_t, 56, model_into),
      OUTPUT(syncyte_model_tensor_t, 184, model_tensor_into),
  };
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; ++i) {
    test_input(&inputs[i]);
    if (inputs[i].reserved != 0) test_reserved(&inputs[i]);
  }
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; ++i) test_output(&outputs[i]);
  test_array(rank, size);
  test_library_on_top();
  EXPECT_OK(syncyte_model_destroy(&model));
  EXPECT_OK(syncyte_models_destroy(&models));
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
