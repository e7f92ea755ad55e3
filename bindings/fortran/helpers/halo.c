/* SPDX-License-Identifier: BSD-3-Clause */
/* Halos for Fortran: the dimensions of grid and array are in Fortran's order, which is C's reversed. */
#include "descriptor.h"

/* Numbers in C's order, from a vector or, one for each dimension of the grid, from a scalar. */
static syncyte_status_t read_numbers(const CFI_cdesc_t* given, const char* name, int32_t* count, int64_t* numbers) {
  const int32_t dimensions = *count;
  const syncyte_status_t status = fortran_reversed(given, name, count, numbers);
  if (given->rank != 0) return status;
  *count = dimensions;
  for (int32_t d = 1; d < dimensions; ++d) numbers[d] = numbers[0];
  return status;
}

static syncyte_status_t read_axes(const CFI_cdesc_t* axes, int32_t ndim, int32_t* given, int32_t* places) {
  int64_t numbers[SYNCYTE_MAX_NDIM];
  const syncyte_status_t status = read_numbers(axes, "axes", given, numbers);
  const int32_t count = *given;
  for (int32_t d = 0; status == SYNCYTE_SUCCESS && d < count; ++d) {
    if (numbers[d] < 1 || numbers[d] > ndim)
      return fortran_wrong(SYNCYTE_ERR_ARGUMENT, "axes", count - 1 - d, "%lld; expected 1 to %d, the rank of array",
                           (long long)numbers[d], ndim);
    places[d] = -(int32_t)numbers[d];
    for (int32_t e = 0; e < d; ++e)
      if (places[e] == places[d])
        return fortran_wrong(SYNCYTE_ERR_ARGUMENT, "axes", count - 1 - d, "%lld; expected another one than axes(%d)",
                             (long long)numbers[d], count - e);
  }
  return status;
}

syncyte_status_t fortran_halo_create(syncyte_comm_t cart, const CFI_cdesc_t* array, const CFI_cdesc_t* low,
                                     const CFI_cdesc_t* high, const CFI_cdesc_t* axes, int32_t corners,
                                     syncyte_halo_t* halo) {
  const syncyte_halo_options_t options = {sizeof options, corners, 0};
  syncyte_buffer_t buffer;
  int64_t below[SYNCYTE_MAX_NDIM] = {0}, above[SYNCYTE_MAX_NDIM] = {0};
  int32_t places[SYNCYTE_MAX_NDIM] = {0}, dimensions = 0;
  syncyte_status_t local = fortran_buffer(array, "array", &buffer);
  (void)syncyte_cart_ndim(cart, &dimensions); /* 0 without a grid: halo_create() then fails on all ranks */
  int32_t lows = dimensions, highs = dimensions, cut = dimensions;
  if (local == SYNCYTE_SUCCESS) local = read_numbers(low, "low", &lows, below);
  if (local == SYNCYTE_SUCCESS) local = read_numbers(high != NULL ? high : low, "high", &highs, above);
  if (local == SYNCYTE_SUCCESS && axes != NULL) local = read_axes(axes, buffer.ndim, &cut, places);
  if (local != SYNCYTE_SUCCESS) return fortran_refuse(FORTRAN_ERROR_EVERYWHERE_ALWAYS, cart, local, "halo_create");
  return syncyte_halo_create(cart, buffer.dtype, buffer.ndim, buffer.shape, lows, below, highs, above, cut,
                             axes != NULL ? places : NULL, &options, halo);
}
