/* SPDX-License-Identifier: BSD-3-Clause */
/* Patches of tensors between two bounds, lo to hi, both inclusive and from 1, as Global Arrays has them. */
#include "descriptor.h"

/* A patch as the C interface has it: dimensions reversed, from 0. */
struct patch {
  syncyte_buffer_t global;
  int64_t lower[SYNCYTE_MAX_NDIM], extent[SYNCYTE_MAX_NDIM];
};

static syncyte_status_t read_bounds(const CFI_cdesc_t* bounds, const char* name, int32_t ndim, int64_t* values) {
  int32_t count = 0;
  const syncyte_status_t status = fortran_reversed(bounds, name, &count, values);
  if (status != SYNCYTE_SUCCESS || count == ndim) return status;
  return fortran_wrong(SYNCYTE_ERR_SHAPE, name, -1, "of %d numbers; expected %d, the rank of the tensor", count, ndim);
}

static syncyte_status_t read_patch(syncyte_tensor_t tensor, const CFI_cdesc_t* lo, const CFI_cdesc_t* hi,
                                   struct patch* patch) {
  int64_t last[SYNCYTE_MAX_NDIM];
  patch->global.struct_size = sizeof patch->global;
  syncyte_status_t status = syncyte_tensor_describe(tensor, &patch->global);
  if (status != SYNCYTE_SUCCESS) return status;
  const int32_t ndim = patch->global.ndim;
  status = read_bounds(lo, "lo", ndim, patch->lower);
  if (status == SYNCYTE_SUCCESS) status = read_bounds(hi, "hi", ndim, last);
  if (status != SYNCYTE_SUCCESS) return status;
  for (int32_t i = ndim - 1; i >= 0; --i) {
    const int64_t first = patch->lower[i], most = patch->global.shape[i];
    if (first < 1 || last[i] > most || last[i] < first - 1)
      return fortran_fail(SYNCYTE_ERR_INDEX, "dimension %d of the patch is %lld to %lld, outside 1 to %lld", ndim - i,
                          (long long)first, (long long)last[i], (long long)most);
    patch->lower[i] = first - 1;
    patch->extent[i] = last[i] - first + 1;
  }
  return SYNCYTE_SUCCESS;
}

/* Adds the dimensions that an array lacks where the patch has extent 1: a row of a matrix fits a vector, as a column
 * does. Leaves an array that does not fit as it is. */
static void add_dimensions(const struct patch* patch, syncyte_buffer_t* buffer) {
  syncyte_buffer_t whole = *buffer;
  int32_t next = buffer->ndim - 1;
  for (int32_t i = patch->global.ndim - 1; i >= 0; --i) {
    const bool is_there = next >= 0 && buffer->shape[next] == patch->extent[i];
    if (!is_there && patch->extent[i] != 1) return;
    whole.shape[i] = patch->extent[i];
    whole.strides[i] = is_there ? buffer->strides[next--] : 0;
  }
  whole.ndim = patch->global.ndim;
  if (next < 0) *buffer = whole;
}

/* The array as an argument of the C interface; its extents are the patch's. */
static syncyte_status_t fit_array(const struct patch* patch, const CFI_cdesc_t* array, syncyte_buffer_t* buffer) {
  int64_t origin[SYNCYTE_MAX_NDIM];
  const int32_t ndim = patch->global.ndim;
  syncyte_status_t status = fortran_buffer_as(array, "array", patch->global.dtype, buffer);
  if (status == SYNCYTE_SUCCESS && buffer->ndim < ndim) add_dimensions(patch, buffer);
  for (int32_t i = 0; i < ndim; ++i) origin[i] = patch->lower[i] + 1;
  if (status == SYNCYTE_SUCCESS) status = fortran_box(&patch->global, buffer, ndim, origin);
  if (status != SYNCYTE_SUCCESS) return status;
  for (int32_t i = ndim - 1; i >= 0; --i)
    if (buffer->shape[i] != patch->extent[i])
      return fortran_wrong(SYNCYTE_ERR_SHAPE, "array", -1,
                           "of extent %lld in dimension %d; expected %lld, from lo to hi", (long long)buffer->shape[i],
                           ndim - i, (long long)patch->extent[i]);
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_tensor_get(syncyte_tensor_t tensor, const CFI_cdesc_t* lo, const CFI_cdesc_t* hi,
                                    CFI_cdesc_t* array) {
  struct patch patch;
  syncyte_buffer_t buffer;
  syncyte_status_t status = read_patch(tensor, lo, hi, &patch);
  if (status == SYNCYTE_SUCCESS) status = fit_array(&patch, array, &buffer);
  return status != SYNCYTE_SUCCESS ? status : syncyte_tensor_get_box(tensor, patch.global.ndim, patch.lower, &buffer);
}

syncyte_status_t fortran_tensor_put(syncyte_tensor_t tensor, const CFI_cdesc_t* lo, const CFI_cdesc_t* hi,
                                    const CFI_cdesc_t* array) {
  struct patch patch;
  syncyte_buffer_t buffer;
  syncyte_status_t status = read_patch(tensor, lo, hi, &patch);
  if (status == SYNCYTE_SUCCESS) status = fit_array(&patch, array, &buffer);
  buffer.read_only = 1;
  return status != SYNCYTE_SUCCESS ? status : syncyte_tensor_put_box(tensor, patch.global.ndim, patch.lower, &buffer);
}

/* One element of the tensor's type; without data if alpha is absent. */
static syncyte_status_t read_factor(const CFI_cdesc_t* alpha, syncyte_dtype_t dtype, syncyte_buffer_t* factor) {
  factor->data = NULL;
  if (alpha == NULL) return SYNCYTE_SUCCESS;
  const syncyte_status_t status = fortran_buffer_as(alpha, "alpha", dtype, factor);
  if (status != SYNCYTE_SUCCESS) return status;
  if (factor->dtype != dtype)
    return fortran_wrong(SYNCYTE_ERR_TYPE, "alpha", -1, "%s; expected the tensor's type", fortran_type_name(alpha));
  if (fortran_count(alpha) != 1)
    return fortran_wrong(SYNCYTE_ERR_SHAPE, "alpha", -1, "of %lld elements; expected 1",
                         (long long)fortran_count(alpha));
  return SYNCYTE_SUCCESS;
}

/* The arguments of an accumulate. */
struct addition {
  struct patch patch;
  syncyte_buffer_t buffer, factor;
};

static syncyte_status_t read_addition(syncyte_tensor_t tensor, const CFI_cdesc_t* lo, const CFI_cdesc_t* hi,
                                      const CFI_cdesc_t* array, const CFI_cdesc_t* alpha, struct addition* to) {
  syncyte_status_t status = read_patch(tensor, lo, hi, &to->patch);
  if (status == SYNCYTE_SUCCESS) status = fit_array(&to->patch, array, &to->buffer);
  to->buffer.read_only = 1;
  return status != SYNCYTE_SUCCESS ? status : read_factor(alpha, to->patch.global.dtype, &to->factor);
}

syncyte_status_t fortran_tensor_acc(syncyte_tensor_t tensor, const CFI_cdesc_t* lo, const CFI_cdesc_t* hi,
                                    const CFI_cdesc_t* array, const CFI_cdesc_t* alpha, syncyte_op_t op) {
  struct addition what;
  const syncyte_status_t status = read_addition(tensor, lo, hi, array, alpha, &what);
  if (status != SYNCYTE_SUCCESS) return status;
  return syncyte_tensor_accumulate_box(tensor, what.patch.global.ndim, what.patch.lower, &what.buffer, what.factor.data,
                                       op);
}

syncyte_status_t fortran_tensor_iacc(syncyte_tensor_t tensor, const CFI_cdesc_t* lo, const CFI_cdesc_t* hi,
                                     const CFI_cdesc_t* array, const CFI_cdesc_t* alpha, syncyte_op_t op,
                                     syncyte_request_t* request) {
  struct addition what;
  const syncyte_status_t status = read_addition(tensor, lo, hi, array, alpha, &what);
  if (status != SYNCYTE_SUCCESS) return status;
  return syncyte_tensor_iaccumulate_box(tensor, what.patch.global.ndim, what.patch.lower, &what.buffer,
                                        what.factor.data, op, request);
}

/* Sets the integers of an output array that is present. */
static syncyte_status_t set_output(CFI_cdesc_t* array, const char* name, const int64_t* values) {
  return array == NULL ? SYNCYTE_SUCCESS : fortran_set_integers(array, name, values);
}

/* Owners, and their first and last rows from 1; -1 and 0 behind the last of them, up to the length of the arrays. */
static syncyte_status_t locate(syncyte_tensor_t tensor, const struct patch* patch, int64_t length, int32_t* found,
                               int64_t* owners, int64_t* first, int64_t* last, int64_t* count) {
  const int32_t ndim = patch->global.ndim;
  const syncyte_status_t status =
      syncyte_tensor_locate_box(tensor, ndim, patch->lower, ndim, patch->extent, length, found, first, last, count);
  if (status != SYNCYTE_SUCCESS) return status;
  for (int64_t i = 0; i < length; ++i) {
    const bool is_owner = i < *count;
    owners[i] = is_owner ? found[i] : -1;
    last[i] = is_owner ? first[i] + last[i] : 0;
    first[i] = is_owner ? first[i] + 1 : 0;
  }
  return SYNCYTE_SUCCESS;
}

/* The length of the longest array that is present. */
static int64_t longest_of(const CFI_cdesc_t* a, const CFI_cdesc_t* b, const CFI_cdesc_t* c) {
  const CFI_cdesc_t* const arrays[] = {a, b, c};
  int64_t longest = 1;
  for (int i = 0; i < 3; ++i)
    if (arrays[i] != NULL && fortran_count(arrays[i]) > longest) longest = fortran_count(arrays[i]);
  return longest;
}

syncyte_status_t fortran_tensor_locate(syncyte_tensor_t tensor, const CFI_cdesc_t* lo, const CFI_cdesc_t* hi,
                                       CFI_cdesc_t* ranks, CFI_cdesc_t* first, CFI_cdesc_t* last, int64_t* count) {
  struct patch patch;
  const int64_t length = longest_of(ranks, first, last);
  void* data = NULL;
  syncyte_status_t status = read_patch(tensor, lo, hi, &patch);
  if (status == SYNCYTE_SUCCESS)
    status = syncyte_memory_allocate(4 * (int64_t)sizeof(int64_t) * length, SYNCYTE_MEMORY_HOST, 0, &data);
  if (status != SYNCYTE_SUCCESS) return status;
  int64_t* const owners = data;
  int64_t* const lowest = owners + length;
  int64_t* const highest = lowest + length;
  int64_t found = 0;
  status = locate(tensor, &patch, length, (int32_t*)(highest + length), owners, lowest, highest, &found);
  if (status == SYNCYTE_SUCCESS) status = set_output(ranks, "ranks", owners);
  if (status == SYNCYTE_SUCCESS) status = set_output(first, "first", lowest);
  if (status == SYNCYTE_SUCCESS) status = set_output(last, "last", highest);
  if (status == SYNCYTE_SUCCESS) *count = found;
  (void)syncyte_memory_free(data);
  return status;
}
