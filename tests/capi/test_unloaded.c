/* An application loads libsyncyte as a plugin, drops it while it is started, and loads it again, also after the end:
 * the library stays where MPI's and the kernel's callbacks expect it. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

typedef int32_t (*start_fn)(const void* options);
typedef int32_t (*plain_fn)(void);
typedef int32_t (*flag_fn)(int32_t* flag);
typedef const char* (*text_fn)(void);

static int failures = 0;

#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      ++failures;                                                              \
      fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
    }                                                                          \
  } while (0)

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
  EXPECT(((start_fn)dlsym(library, "syncyte_init"))(NULL) == 0);
  dlclose(library);
  usleep(300000); /* the watchdog's thread looks around meanwhile */

  int32_t is_started = 0;
  library = load(arguments[1]);
  EXPECT(((flag_fn)dlsym(library, "syncyte_initialized"))(&is_started) == 0 && is_started == 1);
  EXPECT(((plain_fn)dlsym(library, "syncyte_finalize"))() == 0);
  dlclose(library);

  library = load(arguments[1]);
  EXPECT(((flag_fn)dlsym(library, "syncyte_initialized"))(&is_started) == 0 && is_started == 0);
  EXPECT(((start_fn)dlsym(library, "syncyte_init"))(NULL) ==
         7); /* SYNCYTE_ERR_NOT_INITIALISED: it cannot start again */
  EXPECT(((text_fn)dlsym(library, "syncyte_last_error"))()[0] != '\0');
  dlclose(library);
  return failures != 0;
}
