/* Halo exchange for Fortran: the grid's dimensions and the array's come in Fortran's order, reversed. */
#include "descriptor.h"
#include "terms.h"

/* One number for each dimension of the grid, in C's order, from a scalar or a vector of as many. */
static syncyte_status_t read_numbers(const CFI_cdesc_t* given, const char* name, int32_t count, int64_t* numbers) {
  int64_t forward[SYNCYTE_MAX_NDIM];
  const syncyte_status_t status = fortran_integers(given, name, SYNCYTE_MAX_NDIM, forward);
  if (status != SYNCYTE_SUCCESS) return status;
  if (given->rank != 0 && fortran_count(given) != count)
    return fortran_fail(SYNCYTE_ERR_SHAPE, "%s has %lld elements, the grid has %d dimensions", name,
                        (long long)fortran_count(given), count);
  for (int32_t d = 0; d < count; ++d) numbers[d] = given->rank == 0 ? forward[0] : forward[count - 1 - d];
  return SYNCYTE_SUCCESS;
}

static syncyte_status_t read_axes(const CFI_cdesc_t* dims, int32_t count, int32_t* axes) {
  int64_t numbers[SYNCYTE_MAX_NDIM];
  const syncyte_status_t status = read_numbers(dims, "dims", count, numbers);
  for (int32_t d = 0; status == SYNCYTE_SUCCESS && d < count; ++d) {
    if (numbers[d] < 1 || numbers[d] > SYNCYTE_MAX_NDIM)
      return fortran_fail(SYNCYTE_ERR_ARGUMENT, "dims has the dimension %lld, which no array has",
                          (long long)numbers[d]);
    axes[d] = fortran_axis((int32_t)numbers[d]);
  }
  return status;
}

syncyte_status_t fortran_halo_create(syncyte_comm_t cart, const CFI_cdesc_t* array, const CFI_cdesc_t* low,
                                     const CFI_cdesc_t* high, const CFI_cdesc_t* dims, int32_t corners,
                                     syncyte_halo_t* halo) {
  const syncyte_halo_options_t options = {sizeof options, corners};
  syncyte_buffer_t buffer;
  int64_t below[SYNCYTE_MAX_NDIM] = {0}, above[SYNCYTE_MAX_NDIM] = {0};
  int32_t axes[SYNCYTE_MAX_NDIM] = {0}, count = 0;
  syncyte_status_t local = fortran_buffer(array, "array", 0, &buffer);
  if (syncyte_cart_ndim(cart, &count) != SYNCYTE_SUCCESS) count = 0; /* told by the collective */
  if (count > 0) {
    if (local == SYNCYTE_SUCCESS) local = read_numbers(low, "low", count, below);
    if (local == SYNCYTE_SUCCESS) local = read_numbers(high != NULL ? high : low, "high", count, above);
    if (local == SYNCYTE_SUCCESS && dims != NULL) local = read_axes(dims, count, axes);
  }
  /* ndim -1 is refused on all ranks. */
  const int32_t ndim = local == SYNCYTE_SUCCESS ? buffer.ndim : -1;
  const syncyte_status_t status =
      syncyte_halo_create(cart, buffer.dtype, ndim, buffer.shape, dims != NULL ? axes : NULL, count, below, count,
                          above, count, &options, halo);
  if (local != SYNCYTE_SUCCESS) return fortran_report(local);
  return fortran_dimensions(status, buffer.ndim);
}

/* A buffer that the core refuses, so that the neighbours are told of a wrong array. */
syncyte_status_t fortran_halo_exchange(syncyte_halo_t halo, const CFI_cdesc_t* array) {
  syncyte_buffer_t buffer;
  const syncyte_status_t local = fortran_buffer(array, "array", 0, &buffer);
  return fortran_settle(local, syncyte_halo_exchange(halo, &buffer));
}

syncyte_status_t fortran_halo_accumulate(syncyte_halo_t halo, const CFI_cdesc_t* array) {
  syncyte_buffer_t buffer;
  const syncyte_status_t local = fortran_buffer(array, "array", 0, &buffer);
  return fortran_settle(local, syncyte_halo_accumulate(halo, &buffer));
}

syncyte_status_t fortran_halo_iexchange(syncyte_halo_t halo, const CFI_cdesc_t* array, syncyte_request_t* request) {
  syncyte_buffer_t buffer;
  const syncyte_status_t local = fortran_buffer(array, "array", 0, &buffer);
  return fortran_settle(local, syncyte_halo_iexchange(halo, &buffer, request));
}

syncyte_status_t fortran_halo_iaccumulate(syncyte_halo_t halo, const CFI_cdesc_t* array, syncyte_request_t* request) {
  syncyte_buffer_t buffer;
  const syncyte_status_t local = fortran_buffer(array, "array", 0, &buffer);
  return fortran_settle(local, syncyte_halo_iaccumulate(halo, &buffer, request));
}
