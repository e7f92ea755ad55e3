/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of a store for Fortran. */
#include "descriptor.h"

syncyte_status_t fortran_store_owner(syncyte_store_t store, const CFI_cdesc_t* keys, CFI_cdesc_t* ranks) {
  syncyte_buffer_t numbers = SYNCYTE_BUFFER_INIT;
  syncyte_status_t status = fortran_integers_buffer(keys, "keys", &numbers);
  if (status == SYNCYTE_SUCCESS) status = fortran_check_result(ranks, "ranks", CFI_type_int32_t, keys);
  if (status == SYNCYTE_SUCCESS)
    status = syncyte_store_owner(store, fortran_count(keys), numbers.data, ranks->base_addr);
  (void)fortran_release(keys, 0, &numbers);
  return status;
}

syncyte_status_t fortran_store_lengths(syncyte_store_t store, const CFI_cdesc_t* keys, CFI_cdesc_t* lengths) {
  syncyte_buffer_t numbers = SYNCYTE_BUFFER_INIT;
  syncyte_status_t status = fortran_integers_buffer(keys, "keys", &numbers);
  if (status == SYNCYTE_SUCCESS) status = fortran_check_result(lengths, "lengths", CFI_type_int64_t, keys);
  if (status == SYNCYTE_SUCCESS)
    status = syncyte_store_lengths(store, fortran_count(keys), numbers.data, lengths->base_addr);
  (void)fortran_release(keys, 0, &numbers);
  return status;
}
