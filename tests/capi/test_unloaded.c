/* SPDX-License-Identifier: BSD-3-Clause */
/* An application loads libsyncyte as a plugin, unloads it while it is started, and loads it again, also after the end.
 * The library must stay mapped, because MPI and the kernel call functions in it. */
#include <dlfcn.h>
#include <stdint.h>
#include <unistd.h>

#include "failures.h"
#include "syncyte/base.h"

typedef int32_t (*start_fn)(const void* options, int32_t abi);
typedef int32_t (*plain_fn)(void);
typedef int32_t (*flag_fn)(int32_t* flag);
typedef const char* (*text_fn)(void);

static void* load(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  EXPECT(library != NULL);
  return library;
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  void* library = load(arguments[1]);
  if (library == NULL) return 1;
  EXPECT(((start_fn)dlsym(library, "syncyte_init_abi"))(NULL, SYNCYTE_ABI_VERSION) == 0);
  dlclose(library);
  usleep(1200000); /* the watchdog's thread wakes twice meanwhile */

  int32_t is_started = 0;
  library = load(arguments[1]);
  EXPECT(((flag_fn)dlsym(library, "syncyte_initialized"))(&is_started) == 0);
  EXPECT(is_started == 1);
  EXPECT(((plain_fn)dlsym(library, "syncyte_finalize"))() == 0);
  dlclose(library);

  library = load(arguments[1]);
  EXPECT(((flag_fn)dlsym(library, "syncyte_initialized"))(&is_started) == 0);
  EXPECT(is_started == 0);
  /* Syncyte cannot start a second time. */
  EXPECT(((start_fn)dlsym(library, "syncyte_init_abi"))(NULL, SYNCYTE_ABI_VERSION) == SYNCYTE_ERR_NOT_INITIALIZED);
  EXPECT(((text_fn)dlsym(library, "syncyte_last_error"))()[0] != '\0');
  dlclose(library);
  return failures != 0;
}
