/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared cache: every function and every wrong argument, before syncyte_init() and after syncyte_finalize(). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

enum { unit = 512, part = 64 * unit };
static char folder[] = "cache-XXXXXX";

static syncyte_cache_t small_cache(void) {
  syncyte_cache_t cache = NULL;
  syncyte_cache_sizes_t sizes = SYNCYTE_CACHE_SIZES_INIT;
  sizes.parameter_bytes = part;
  sizes.computation_bytes = 2 * part;
  EXPECT_OK(syncyte_cache_create(&sizes, &cache));
  return cache;
}

static void blocks_lie_in_the_slice(void) {
  syncyte_cache_t cache = small_cache();
  int64_t parameters = 0, computation = 0;
  int32_t holds = -1;
  void *base = NULL, *first = NULL, *second = NULL;
  EXPECT_OK(syncyte_cache_sizes(cache, &parameters, &computation));
  EXPECT(parameters == part);
  EXPECT(computation == 2 * part);
  EXPECT_OK(syncyte_cache_data(cache, &base));
  EXPECT((uintptr_t)base % ((uintptr_t)2 << 20) == 0);
  EXPECT_OK(syncyte_cache_allocate(8, &first));
  EXPECT(first == NULL); /* no slice is inserted */
  EXPECT_OK(syncyte_cache_insert(cache, 0, part));
  EXPECT_OK(syncyte_cache_allocate(8, &first));
  EXPECT(first == base);
  EXPECT_OK(syncyte_cache_holds(first, &holds));
  EXPECT(holds == 1);
  EXPECT_OK(syncyte_cache_holds(&holds, &holds));
  EXPECT(holds == 0);
  EXPECT_OK(syncyte_cache_insert(cache, part, 2 * part));
  EXPECT_OK(syncyte_cache_allocate(0, &second));
  EXPECT((char*)second == (char*)base + part);
  EXPECT_ERROR(syncyte_cache_clear(), SYNCYTE_ERR_BUSY, "offset 0 (512 bytes), 32768 (512 bytes)");
  EXPECT_ERROR(syncyte_cache_clear_both(0, NULL), SYNCYTE_ERR_BUSY, "this thread's slices");
  EXPECT_OK(syncyte_cache_free(first));
  EXPECT_OK(syncyte_cache_free(second));
  EXPECT_OK(syncyte_cache_free(NULL));
  EXPECT_OK(syncyte_cache_clear());
  EXPECT_OK(syncyte_cache_insert(cache, part + unit, unit));
  EXPECT_OK(syncyte_cache_allocate(unit, &first));
  EXPECT((char*)first == (char*)base + part + unit);
  EXPECT_ERROR(syncyte_cache_allocate(1, &second), SYNCYTE_ERR_MEMORY, "1 bytes do not fit");
  EXPECT_OK(syncyte_cache_free(first));
  EXPECT_OK(syncyte_cache_touch(cache, 0, 3 * part));
  EXPECT_OK(syncyte_cache_destroy(&cache));
  EXPECT(cache == NULL);
  EXPECT_OK(syncyte_cache_allocate(8, &first)); /* the slice keeps the memory */
  memset(first, 1, 8);
  EXPECT_OK(syncyte_cache_free(first));
  EXPECT_OK(syncyte_cache_clear_both(0, NULL)); /* a stream without slices */
  EXPECT_OK(syncyte_cache_allocate(8, &first));
  EXPECT(first == NULL);
}

static void wrong_arguments(void) {
  syncyte_cache_t cache = small_cache(), none = NULL;
  syncyte_cache_sizes_t sizes = SYNCYTE_CACHE_SIZES_INIT;
  syncyte_cache_rendezvous_t rendezvous = SYNCYTE_CACHE_RENDEZVOUS_INIT;
  int64_t number = 0;
  void* data = NULL;
  sizes.parameter_bytes = -1;
  EXPECT_ERROR(syncyte_cache_create(&sizes, &none), SYNCYTE_ERR_ARGUMENT, "parameter_bytes is -1; expected 1 or more");
  sizes.parameter_bytes = part;
  sizes.computation_bytes = -7;
  EXPECT_ERROR(syncyte_cache_create(&sizes, &none), SYNCYTE_ERR_ARGUMENT, "computation_bytes is -7");
  sizes.computation_bytes = INT64_MAX;
  EXPECT_ERROR(syncyte_cache_create(&sizes, &none), SYNCYTE_ERR_MEMORY, "computation_bytes is 9223372036854775807");
  sizes.computation_bytes = (int64_t)1 << 44;
  EXPECT_ERROR(syncyte_cache_create(&sizes, &none), SYNCYTE_ERR_MEMORY, "are available");
  sizes.struct_size = 3;
  EXPECT_ERROR(syncyte_cache_create(&sizes, &none), SYNCYTE_ERR_ARGUMENT, "struct_size");
  EXPECT_ERROR(syncyte_cache_create(NULL, NULL), SYNCYTE_ERR_ARGUMENT, "cache is null");
  EXPECT(none == NULL);
  EXPECT_ERROR(syncyte_cache_sizes(cache, NULL, &number), SYNCYTE_ERR_ARGUMENT, "parameter_bytes is null");
  EXPECT_ERROR(syncyte_cache_sizes(cache, &number, NULL), SYNCYTE_ERR_ARGUMENT, "computation_bytes is null");
  EXPECT_ERROR(syncyte_cache_data(cache, NULL), SYNCYTE_ERR_ARGUMENT, "data is null");
  EXPECT_ERROR(syncyte_cache_touch(cache, -1, 1), SYNCYTE_ERR_ARGUMENT, "offset is -1; expected 0 to 98304");
  EXPECT_ERROR(syncyte_cache_touch(cache, part, 3 * part), SYNCYTE_ERR_ARGUMENT, "size is 98304; expected 0 to 65536");
  EXPECT_ERROR(syncyte_cache_insert(cache, 1, unit), SYNCYTE_ERR_ARGUMENT, "offset is 1; expected a multiple of 512");
  EXPECT_ERROR(syncyte_cache_insert(cache, 0, INT64_MAX), SYNCYTE_ERR_ARGUMENT, "size is 9223372036854775807");
  EXPECT_OK(syncyte_cache_insert(cache, 0, 2 * part));
  EXPECT_ERROR(syncyte_cache_insert(cache, 0, part), SYNCYTE_ERR_BUSY, "overlaps [0, 65536)");
  EXPECT_ERROR(syncyte_cache_insert(cache, part, 2 * part), SYNCYTE_ERR_BUSY, "clear it first");
  EXPECT_ERROR(syncyte_cache_allocate(-1, &data), SYNCYTE_ERR_ARGUMENT, "size is -1; expected 0 or more");
  EXPECT_ERROR(syncyte_cache_allocate(8, NULL), SYNCYTE_ERR_ARGUMENT, "data is null");
  EXPECT_ERROR(syncyte_cache_holds(NULL, NULL), SYNCYTE_ERR_ARGUMENT, "holds is null");
  EXPECT_ERROR(syncyte_cache_free(&number), SYNCYTE_ERR_ARGUMENT, "expected a pointer that cache_allocate() returned");
  EXPECT_OK(syncyte_cache_clear());
  rendezvous.timeout = NAN;
  EXPECT_ERROR(syncyte_cache_send(cache, &rendezvous), SYNCYTE_ERR_ARGUMENT, "timeout is nan");
  rendezvous.timeout = 0;
  rendezvous.folder = folder;
  EXPECT_ERROR(syncyte_cache_send(cache, &rendezvous), SYNCYTE_ERR_TIMEOUT, "no process has received");
  EXPECT_ERROR(syncyte_cache_receive(&rendezvous, &none), SYNCYTE_ERR_TIMEOUT, "no process has sent");
  EXPECT_ERROR(syncyte_cache_receive(&rendezvous, NULL), SYNCYTE_ERR_ARGUMENT, "cache is null");
  rendezvous.name = "x/y";
  EXPECT_ERROR(syncyte_cache_receive(&rendezvous, &none), SYNCYTE_ERR_ARGUMENT, "name is \"x/y\"");
  rendezvous.struct_size = 1;
  EXPECT_ERROR(syncyte_cache_receive(&rendezvous, &none), SYNCYTE_ERR_ARGUMENT, "struct_size");
  syncyte_cache_t freed = cache;
  EXPECT_OK(syncyte_cache_retain(cache));
  EXPECT_OK(syncyte_cache_release(cache));
  EXPECT_OK(syncyte_cache_destroy(&cache));
  EXPECT_ERROR(syncyte_cache_retain(freed), SYNCYTE_ERR_HANDLE, "not a shared cache");
  EXPECT_ERROR(syncyte_cache_release(freed), SYNCYTE_ERR_HANDLE, "cache is a handle that was freed");
  EXPECT_ERROR(syncyte_cache_insert(freed, 0, part), SYNCYTE_ERR_HANDLE, "freed");
  EXPECT_ERROR(syncyte_cache_send(NULL, NULL), SYNCYTE_ERR_HANDLE, "null handle");
}

/* A process sends its cache to another process, which sees the bytes that the first has written. */
static void processes_share(void) {
  syncyte_cache_rendezvous_t rendezvous = SYNCYTE_CACHE_RENDEZVOUS_INIT;
  rendezvous.folder = folder;
  rendezvous.name = "shared";
  rendezvous.nonce[1] = 77;
  const pid_t child = fork();
  if (child == 0) {
    syncyte_cache_t cache = NULL;
    void* block = NULL;
    int seen = 0;
    if (syncyte_cache_receive(&rendezvous, &cache) != SYNCYTE_SUCCESS) _exit(90);
    if (syncyte_cache_insert(cache, part, 2 * part) != SYNCYTE_SUCCESS) _exit(91);
    if (syncyte_cache_allocate(unit, &block) != SYNCYTE_SUCCESS) _exit(92);
    seen = *(unsigned char*)block;
    if (syncyte_cache_free(block) != SYNCYTE_SUCCESS || syncyte_cache_clear() != SYNCYTE_SUCCESS) _exit(93);
    _exit(seen);
  }
  syncyte_cache_t cache = small_cache();
  void* block = NULL;
  int status = -1;
  EXPECT_OK(syncyte_cache_insert(cache, part, 2 * part));
  EXPECT_OK(syncyte_cache_allocate(unit, &block));
  if (block != NULL) memset(block, 42, unit);
  EXPECT_OK(syncyte_cache_send(cache, &rendezvous));
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status));
  EXPECT(WEXITSTATUS(status) == 42);
  EXPECT_OK(syncyte_cache_free(block));
  EXPECT_OK(syncyte_cache_clear());
  EXPECT_OK(syncyte_cache_destroy(&cache));
}

/* A cache that was made for a version of a framework, in the process that makes it and in one that receives it. */
static void expect_one_version(syncyte_cache_t cache) {
  EXPECT_OK(syncyte_cache_check_framework(cache, "torch 2.15.0"));
  EXPECT_ERROR(syncyte_cache_check_framework(cache, "torch 2.11.0+cpu"), SYNCYTE_ERR_VERSION,
               "the shared cache was made for torch 2.15.0, and this process has torch 2.11.0+cpu");
  EXPECT_ERROR(syncyte_cache_check_framework(cache, "torch 2.15"), SYNCYTE_ERR_VERSION, "torch 2.15.0, and");
  EXPECT_OK(syncyte_cache_check_framework(cache, NULL));
  EXPECT_OK(syncyte_cache_check_framework(cache, ""));
}

static void frameworks_are_compared(void) {
  char longest[129] = "";
  syncyte_cache_sizes_t sizes = SYNCYTE_CACHE_SIZES_INIT;
  syncyte_cache_rendezvous_t rendezvous = SYNCYTE_CACHE_RENDEZVOUS_INIT;
  syncyte_cache_t cache = NULL;
  sizes.parameter_bytes = sizes.computation_bytes = part;
  memset(longest, 'x', 128);
  sizes.framework = longest;
  EXPECT_ERROR(syncyte_cache_create(&sizes, &cache), SYNCYTE_ERR_ARGUMENT, "xxx\"; expected a text of at most 127");
  longest[127] = 0;
  EXPECT_OK(syncyte_cache_create(&sizes, &cache));
  EXPECT_OK(syncyte_cache_check_framework(cache, longest));
  EXPECT_OK(syncyte_cache_destroy(&cache));
  cache = small_cache(); /* for no framework */
  EXPECT_OK(syncyte_cache_check_framework(cache, "torch 2.15.0"));
  EXPECT_OK(syncyte_cache_destroy(&cache));

  sizes.framework = "torch 2.15.0";
  rendezvous.folder = folder;
  const pid_t child = fork();
  if (child == 0) {
    failures = 0;
    EXPECT_OK(syncyte_cache_receive(&rendezvous, &cache)); /* a program without a framework */
    expect_one_version(cache);
    _exit(failures);
  }
  int status = -1;
  EXPECT_OK(syncyte_cache_create(&sizes, &cache));
  expect_one_version(cache);
  EXPECT_OK(syncyte_cache_send(cache, &rendezvous));
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(status == 0);
  EXPECT_OK(syncyte_cache_destroy(&cache));
  EXPECT_ERROR(syncyte_cache_check_framework(cache, "torch"), SYNCYTE_ERR_HANDLE, "null handle");
}

static void everything(void) {
  frameworks_are_compared();
  blocks_lie_in_the_slice();
  wrong_arguments();
  processes_share();
}

int main(void) {
  int32_t rank = 0, size = 0;
  EXPECT(mkdtemp(folder) != NULL);
  everything();
  syncyte_comm_t world = start(&rank, &size);
  blocks_lie_in_the_slice();
  wrong_arguments();
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  everything();
  EXPECT(rmdir(folder) == 0); /* succeeds only if the folder is empty */
  return failures;
}
