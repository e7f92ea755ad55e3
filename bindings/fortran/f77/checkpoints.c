/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <syncyte/checkpoint.h>

#include "objects.h"
#include "subroutines.h"

void syncyte_checkpoint_save_(const int32_t* comm, const char* path, const int32_t* bundle, const int32_t* step,
                              size_t length) {
  syncyte_checkpoint_options_t options = {.struct_size = sizeof options};
  char* const text = f77_text(path, length);
  options.step = *step;
  f77_require(syncyte_checkpoint_save_bundle(f77_object(*comm, F77_COMM), text, f77_object(*bundle, F77_BUNDLE), 0,
                                             NULL, &options));
  free(text);
}

void syncyte_checkpoint_load_(const int32_t* comm, const char* path, const int32_t* bundle, int32_t* step,
                              size_t length) {
  syncyte_comm_t const on = f77_object(*comm, F77_COMM);
  syncyte_checkpoint_t file = NULL;
  char* const text = f77_text(path, length);
  int64_t keys = 0, saved = 0;
  f77_require(syncyte_checkpoint_open(on, text, NULL, &file));
  f77_require(syncyte_checkpoint_count(file, &keys, &saved));
  f77_require(syncyte_checkpoint_close(&file));
  f77_require(syncyte_checkpoint_load_bundle(on, text, f77_object(*bundle, F77_BUNDLE), 0, NULL, NULL));
  free(text);
  *step = f77_step(saved);
}
