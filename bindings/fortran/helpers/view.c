/* SPDX-License-Identifier: BSD-3-Clause */
/* Fortran pointers to memory of tensors, windows, caches and models, with bounds of their own. */
#include "descriptor.h"

static char nothing; /* where pointers to arrays without elements point: a null address would mean "not associated" */

static syncyte_status_t is_set(int failed) {
  if (failed == CFI_SUCCESS) return SYNCYTE_SUCCESS;
  return fortran_fail(SYNCYTE_ERR_INTERNAL, "Fortran's descriptor cannot be set (error %d)", failed);
}

/* Points at a view whose last dimension, in Fortran's order, begins at first_row. */
static syncyte_status_t point_at(CFI_cdesc_t* pointer, const syncyte_buffer_t* view, int64_t first_row) {
  CFI_index_t extents[SYNCYTE_MAX_NDIM], lower[SYNCYTE_MAX_NDIM];
  CFI_CDESC_T(SYNCYTE_MAX_NDIM) storage;
  CFI_cdesc_t* target = (CFI_cdesc_t*)&storage;
  if (view->memory != SYNCYTE_MEMORY_HOST)
    return fortran_fail(
        SYNCYTE_ERR_UNSUPPORTED,
        "the rows are in memory of device %d, where Fortran's pointers do not reach; expected address()", view->device);
  if (pointer->rank != view->ndim || !fortran_carries(fortran_dtype(pointer), view->dtype))
    return fortran_fail(pointer->rank != view->ndim ? SYNCYTE_ERR_SHAPE : SYNCYTE_ERR_TYPE,
                        "the pointer is %s of rank %d, the tensor %s of rank %d", fortran_type_name(pointer),
                        pointer->rank, syncyte_dtype_name(view->dtype), view->ndim);
  for (int i = 0; i < view->ndim; ++i) {
    extents[i] = view->shape[view->ndim - 1 - i];
    lower[i] = i == view->ndim - 1 ? first_row : 1;
  }
  int failed = CFI_establish(target, view->data != NULL ? view->data : &nothing, CFI_attribute_other, pointer->type,
                             pointer->elem_len, pointer->rank, extents);
  for (int i = 0; i < view->ndim; ++i) target->dim[i].sm = (CFI_index_t)view->strides[view->ndim - 1 - i];
  if (failed == CFI_SUCCESS) failed = CFI_setpointer(pointer, target, lower);
  return is_set(failed);
}

static syncyte_status_t point_at_nothing(CFI_cdesc_t* pointer) { return is_set(CFI_setpointer(pointer, NULL, NULL)); }

syncyte_status_t fortran_own_rank(syncyte_tensor_t tensor, int32_t* rank) {
  syncyte_comm_t comm = NULL;
  syncyte_status_t status = syncyte_tensor_comm(tensor, &comm);
  if (status == SYNCYTE_SUCCESS) status = syncyte_comm_rank(comm, rank);
  (void)syncyte_comm_destroy(&comm);
  return status;
}

syncyte_status_t fortran_tensor_local(syncyte_tensor_t tensor, CFI_cdesc_t* pointer) {
  syncyte_buffer_t view = {.struct_size = sizeof view};
  int32_t rank = 0;
  int64_t first = 0, count = 0;
  syncyte_layout_t layout = NULL;
  syncyte_status_t status = fortran_own_rank(tensor, &rank);
  if (status == SYNCYTE_SUCCESS) status = syncyte_tensor_layout(tensor, &layout);
  if (status == SYNCYTE_SUCCESS && layout == NULL) status = syncyte_tensor_rows(tensor, rank, &first, &count);
  (void)syncyte_layout_destroy(&layout); /* a block counts from 1 */
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

/* Describes elements from the start of a window's part: those of a shape, or all. */
static syncyte_status_t view_part(void* data, int64_t room, const CFI_cdesc_t* pointer, const CFI_cdesc_t* shape,
                                  syncyte_buffer_t* view) {
  int64_t extents[SYNCYTE_MAX_NDIM] = {room}, elements = 1;
  int32_t count = 1;
  syncyte_status_t status = shape != NULL ? fortran_reversed(shape, "shape", &count, extents) : SYNCYTE_SUCCESS;
  if (status == SYNCYTE_SUCCESS && pointer->rank != count)
    return fortran_wrong(SYNCYTE_ERR_SHAPE, "pointer", -1, "of rank %d; expected %d, the number of elements of shape",
                         pointer->rank, count);
  if (status == SYNCYTE_SUCCESS) status = syncyte_buffer_init(data, fortran_dtype(pointer), count, extents, view);
  for (int32_t i = 0; status == SYNCYTE_SUCCESS && i < count; ++i) elements *= extents[i];
  if (status != SYNCYTE_SUCCESS || elements <= room) return status;
  return fortran_fail(SYNCYTE_ERR_SHAPE, "shape does not fit: there are %lld elements of this type", (long long)room);
}

syncyte_status_t fortran_model_find(syncyte_model_t model, const char* name, CFI_cdesc_t* pointer) {
  syncyte_buffer_t view = {.struct_size = sizeof view};
  const syncyte_status_t status = syncyte_model_find(model, name, &view);
  return status != SYNCYTE_SUCCESS ? status : point_at(pointer, &view, 1);
}

syncyte_status_t fortran_window_pointer(syncyte_window_t window, int32_t rank, const CFI_cdesc_t* shape,
                                        CFI_cdesc_t* pointer) {
  syncyte_buffer_t view;
  int64_t bytes = 0;
  void* data = NULL;
  syncyte_status_t status = syncyte_window_size(window, rank, &bytes);
  if (status == SYNCYTE_SUCCESS) status = syncyte_window_pointer(window, rank, &data);
  if (status == SYNCYTE_SUCCESS) status = view_part(data, bytes / (int64_t)pointer->elem_len, pointer, shape, &view);
  return status != SYNCYTE_SUCCESS ? status : point_at(pointer, &view, 1);
}

syncyte_status_t fortran_cache_pointer(syncyte_cache_t cache, int64_t first, const CFI_cdesc_t* shape,
                                       CFI_cdesc_t* pointer) {
  syncyte_buffer_t view;
  int64_t parameters = 0, computation = 0;
  void* data = NULL;
  syncyte_memory_t memory = SYNCYTE_MEMORY_HOST;
  int32_t device = 0;
  syncyte_status_t status = syncyte_cache_sizes(cache, &parameters, &computation);
  if (status == SYNCYTE_SUCCESS) status = syncyte_cache_data(cache, &data);
  if (status == SYNCYTE_SUCCESS) status = syncyte_cache_device(cache, &memory, &device);
  if (status != SYNCYTE_SUCCESS) return status;
  if (memory != SYNCYTE_MEMORY_HOST)
    return fortran_wrong(SYNCYTE_ERR_UNSUPPORTED, "cache", -1, "on device %d; expected one in host memory",
                         (int)device);
  const int64_t element = (int64_t)pointer->elem_len, elements = (parameters + computation) / element;
  if (first < 1 || first > elements + 1)
    return fortran_wrong(SYNCYTE_ERR_INDEX, "first", -1, "%lld; expected 1 to %lld", (long long)first,
                         (long long)elements + 1);
  status = view_part((char*)data + (first - 1) * element, elements - (first - 1), pointer, shape, &view);
  return status != SYNCYTE_SUCCESS ? status : point_at(pointer, &view, 1);
}

syncyte_status_t fortran_cache_allocate(const CFI_cdesc_t* shape, CFI_cdesc_t* pointer) {
  syncyte_buffer_t view;
  syncyte_status_t status = view_part(NULL, INT64_MAX, pointer, shape, &view);
  int64_t bytes = (int64_t)pointer->elem_len;
  for (int32_t i = 0; status == SYNCYTE_SUCCESS && i < view.ndim; ++i) bytes *= view.shape[i];
  if (status == SYNCYTE_SUCCESS) status = syncyte_cache_allocate(bytes, &view.data);
  if (status != SYNCYTE_SUCCESS) return status;
  return view.data != NULL ? point_at(pointer, &view, 1) : point_at_nothing(pointer);
}

syncyte_status_t fortran_cache_free(CFI_cdesc_t* pointer) {
  const syncyte_status_t status = syncyte_cache_free(pointer->base_addr);
  return status != SYNCYTE_SUCCESS ? status : point_at_nothing(pointer);
}

syncyte_status_t fortran_cache_holds(const CFI_cdesc_t* array, int32_t* holds) {
  return syncyte_cache_holds(array->base_addr, holds);
}
