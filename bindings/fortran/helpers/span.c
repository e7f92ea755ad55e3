/* The span of gfortran's array descriptors.
 *
 * The span is the number of bytes between neighbouring elements; gfortran multiplies strides by it when it makes a C
 * descriptor. gfortran 14 does not set it for an allocatable array that an assignment of reshape(), pack() or another
 * such function allocates. Any array that arrives at a dummy of assumed rank has the span of its element: components of
 * derived types and parts of complex numbers come as copies. */
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
  const ptrdiff_t bytes = array != NULL ? (ptrdiff_t)array->element_bytes : 0;
  if (array != NULL && array->span != bytes) array->span = bytes;
#else
  (void)array;
#endif
}
