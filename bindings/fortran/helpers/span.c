/* SPDX-License-Identifier: BSD-3-Clause */
/* The span of gfortran's array descriptors.
 *
 * The span is the number of bytes between neighbouring elements; gfortran multiplies strides by it when it makes a C
 * descriptor. gfortran 14 does not set it for an allocatable array that an assignment of reshape(), pack() or another
 * such function allocates: it is 0, or what was in that memory before. Such a value is replaced if it cannot be a span:
 * the span of an array is the size of its element, or, of a pointer to a component, that of the derived type around it.
 */
#include <stddef.h>

struct gfortran_array {
  void* base;
  size_t offset;
  size_t element_bytes;
  int version;
  signed char rank;
  signed char type;
  short attribute;
  ptrdiff_t span;
};

/* Called from Fortran: an absent argument is null. Other compilers have other descriptors. */
void syncyte_set_span_(struct gfortran_array* array);
void syncyte_set_span_(struct gfortran_array* array) {
#ifdef SYNCYTE_GFORTRAN
  const ptrdiff_t most = (ptrdiff_t)1 << 30; /* no derived type is larger; addresses are */
  if (array == NULL) return;
  const ptrdiff_t bytes = (ptrdiff_t)array->element_bytes;
  if (array->span < bytes || (bytes <= most && array->span > most)) array->span = bytes;
#else
  (void)array;
#endif
}
