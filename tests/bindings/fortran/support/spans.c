/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaves an array's descriptor as gfortran 14 leaves that of an array which `a = reshape(...)` has allocated: without
   the bytes from one element to the next. For test_kinds.f90. */
#include <stddef.h>

struct gfortran_array {
  void* base;
  size_t offset, element_bytes;
  int version;
  signed char rank, type;
  short attribute;
  ptrdiff_t span;
};

void unset_span_(struct gfortran_array* array, const int* span);
void unset_span_(struct gfortran_array* array, const int* span) {
#ifdef SYNCYTE_GFORTRAN
  array->span = *span;
#else
  (void)array;
  (void)span;
#endif
}
