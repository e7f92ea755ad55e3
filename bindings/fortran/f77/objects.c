/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects.h"

#include <stdlib.h>
#include <string.h>

#include "descriptor.h"

static struct {
  void* object;
  f77_kind_t kind;
}* objects = NULL;
static int32_t places = 0;

f77_kind_t f77_kind(int32_t number) { return number > 0 && number <= places ? objects[number - 1].kind : F77_NONE; }

void* f77_object(int32_t number, f77_kind_t kind) {
  return f77_kind(number) == kind ? objects[number - 1].object : NULL;
}

static void add_places(void) {
  const int32_t wanted = places + 64;
  void* const larger = realloc(objects, (size_t)wanted * sizeof *objects);
  if (larger == NULL) f77_require(fortran_fail(SYNCYTE_ERR_MEMORY, "no memory for %d objects", wanted));
  objects = larger;
  memset(objects + places, 0, (size_t)(wanted - places) * sizeof *objects);
  places = wanted;
}

int32_t f77_number(void* object, f77_kind_t kind) {
  int32_t place = 0;
  if (object == NULL) return 0;
  while (place < places && objects[place].kind != F77_NONE) ++place;
  if (place == places) add_places();
  objects[place].object = object;
  objects[place].kind = kind;
  return place + 1;
}

void f77_forget(int32_t number) {
  objects[number - 1].object = NULL;
  objects[number - 1].kind = F77_NONE;
}

void f77_require(syncyte_status_t status) {
  if (status != SYNCYTE_SUCCESS) (void)fortran_end_job(status);
}

char* f77_text(const char* characters, size_t length) {
  while (length > 0 && characters[length - 1] == ' ') --length;
  if (memchr(characters, '\0', length) != NULL)
    f77_require(fortran_fail(SYNCYTE_ERR_ARGUMENT, "a text has a zero character; expected none"));
  char* const text = length == 0 ? NULL : malloc(length + 1);
  if (text == NULL) return NULL;
  memcpy(text, characters, length);
  text[length] = '\0';
  return text;
}

int32_t f77_step(int64_t step) {
  if (step != (int32_t)step)
    f77_require(fortran_wrong(SYNCYTE_ERR_UNSUPPORTED, "step", -1, "%lld; expected one that an INTEGER holds",
                              (long long)step));
  return (int32_t)step;
}

void f77_reversed(const int32_t* numbers, int32_t ndim, int64_t base, int64_t* result) {
  if (ndim > SYNCYTE_MAX_NDIM) return; /* which the function that gets them refuses */
  for (int32_t i = 0; i < ndim; ++i) result[ndim - 1 - i] = numbers[i] - base;
}

void f77_part(void* array, syncyte_dtype_t dtype, const int32_t* dims, syncyte_buffer_t* part) {
  int64_t extents[SYNCYTE_MAX_NDIM] = {0}, shape[SYNCYTE_MAX_NDIM] = {0};
  const int32_t ndim = part->ndim;
  bool has_room = true;
  f77_reversed(dims, ndim, 0, extents);
  for (int32_t axis = 0; axis < ndim && axis < SYNCYTE_MAX_NDIM; ++axis) {
    shape[axis] = part->shape[axis];
    has_room = has_room && shape[axis] <= extents[axis];
  }
  f77_require(syncyte_buffer_init(array, dtype, ndim, extents, part)); /* the strides of the whole array */
  if (has_room) memcpy(part->shape, shape, sizeof shape);
}
