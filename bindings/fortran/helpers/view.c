/* Fortran pointers to memory of tensors and windows, with bounds of their own. */
#include "descriptor.h"

static char nothing; /* where pointers to arrays without elements point: a null address would mean "not associated" */

/* Makes pointer refer to a contiguous array; extents and lower bounds are in Fortran's order. */
static syncyte_status_t associate(CFI_cdesc_t* pointer, void* data, const CFI_index_t* extents,
                                  const CFI_index_t* lower) {
  CFI_CDESC_T(SYNCYTE_MAX_NDIM) storage;
  CFI_cdesc_t* target = (CFI_cdesc_t*)&storage;
  int failed = CFI_establish(target, data != NULL ? data : &nothing, CFI_attribute_other, pointer->type,
                             pointer->elem_len, pointer->rank, extents);
  if (failed == CFI_SUCCESS) failed = CFI_setpointer(pointer, target, lower);
  if (failed == CFI_SUCCESS) return SYNCYTE_SUCCESS;
  return fortran_fail(SYNCYTE_ERR_INTERNAL, "Fortran's descriptor cannot be set (error %d)", failed);
}

/* Points at a view whose last dimension, in Fortran's order, begins at first_row. */
static syncyte_status_t point_at(CFI_cdesc_t* pointer, const syncyte_buffer_t* view, int64_t first_row) {
  CFI_index_t extents[SYNCYTE_MAX_NDIM], lower[SYNCYTE_MAX_NDIM];
  if (pointer->rank != view->ndim || !fortran_carries(fortran_dtype(pointer), view->dtype))
    return fortran_fail(pointer->rank != view->ndim ? SYNCYTE_ERR_SHAPE : SYNCYTE_ERR_TYPE,
                        "the pointer is %s of rank %d, the tensor %s of rank %d", fortran_type_name(pointer),
                        pointer->rank, syncyte_dtype_name(view->dtype), view->ndim);
  for (int i = 0; i < view->ndim; ++i) {
    extents[i] = view->shape[view->ndim - 1 - i];
    lower[i] = i == view->ndim - 1 ? first_row : 1;
  }
  return associate(pointer, view->data, extents, lower);
}

static syncyte_status_t own_first_row(syncyte_tensor_t tensor, int64_t* first) {
  syncyte_comm_t comm = NULL;
  int32_t rank = 0;
  int64_t count = 0;
  syncyte_status_t status = syncyte_tensor_comm(tensor, &comm);
  if (status != SYNCYTE_SUCCESS) return status;
  status = syncyte_comm_rank(comm, &rank);
  (void)syncyte_comm_destroy(&comm);
  return status != SYNCYTE_SUCCESS ? status : syncyte_tensor_rows(tensor, rank, first, &count);
}

syncyte_status_t fortran_tensor_local(syncyte_tensor_t tensor, CFI_cdesc_t* pointer) {
  syncyte_buffer_t view = {.struct_size = sizeof view};
  int64_t first = 0;
  syncyte_status_t status = own_first_row(tensor, &first);
  if (status == SYNCYTE_SUCCESS) status = syncyte_tensor_local(tensor, &view);
  return status != SYNCYTE_SUCCESS ? status : point_at(pointer, &view, first + 1);
}

/* first_row: from 1, or 0 if the node's ranks are not consecutive. */
syncyte_status_t fortran_tensor_node(syncyte_tensor_t tensor, CFI_cdesc_t* pointer, int64_t* first_row) {
  syncyte_buffer_t view = {.struct_size = sizeof view};
  int64_t first = 0;
  syncyte_status_t status = syncyte_tensor_node(tensor, &view, &first);
  if (status == SYNCYTE_SUCCESS) status = point_at(pointer, &view, first >= 0 ? first + 1 : 1);
  if (status == SYNCYTE_SUCCESS) *first_row = first + 1;
  return status;
}

/* Whether the product of extents is at most room, without overflow. */
static bool fits(int rank, const int64_t* extents, int64_t room) {
  bool empty = false;
  for (int i = 0; i < rank; ++i) {
    if (extents[i] < 0) return false;
    empty = empty || extents[i] == 0;
  }
  for (int i = 0; i < rank && !empty; ++i) {
    room /= extents[i];
    if (room == 0) return false;
  }
  return true;
}

syncyte_status_t fortran_window_pointer(syncyte_window_t window, int32_t rank, const CFI_cdesc_t* shape,
                                        CFI_cdesc_t* pointer) {
  CFI_index_t extents[SYNCYTE_MAX_NDIM], lower[SYNCYTE_MAX_NDIM];
  int64_t given[SYNCYTE_MAX_NDIM];
  int32_t count = 1;
  size_t bytes = 0;
  void* data = NULL;
  syncyte_status_t status = syncyte_window_size(window, rank, &bytes);
  if (status == SYNCYTE_SUCCESS) status = syncyte_window_pointer(window, rank, &data);
  if (status != SYNCYTE_SUCCESS) return status;
  const int64_t room = (int64_t)(bytes / pointer->elem_len);
  given[0] = room;
  if (shape != NULL) status = fortran_reversed(shape, "shape", &count, given);
  if (status == SYNCYTE_SUCCESS && pointer->rank != count)
    status = fortran_fail(SYNCYTE_ERR_SHAPE, "the pointer has rank %d, shape has %d elements", pointer->rank, count);
  if (status == SYNCYTE_SUCCESS && !fits(pointer->rank, given, room))
    status = fortran_fail(SYNCYTE_ERR_SHAPE, "shape does not fit: the part of rank %d has %lld elements of this type",
                          rank, (long long)room);
  for (int i = 0; status == SYNCYTE_SUCCESS && i < pointer->rank; ++i) {
    extents[i] = given[count - 1 - i];
    lower[i] = 1;
  }
  return status != SYNCYTE_SUCCESS ? status : associate(pointer, data, extents, lower);
}
