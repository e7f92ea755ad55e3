/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of a store for Fortran. */
#include "descriptor.h"

/** A function of the store that writes a number for each key. */
typedef syncyte_status_t numbers_of_keys(syncyte_store_t store, int64_t count, const int64_t* keys, int32_t* results);

static syncyte_status_t of_each(numbers_of_keys* function, syncyte_store_t store, const CFI_cdesc_t* keys,
                                const char* name, CFI_cdesc_t* results) {
  syncyte_buffer_t numbers = SYNCYTE_BUFFER_INIT;
  syncyte_status_t status = fortran_integers_buffer(keys, "keys", &numbers);
  if (status == SYNCYTE_SUCCESS) status = fortran_check_result(results, name, CFI_type_int32_t, keys);
  if (status == SYNCYTE_SUCCESS) status = function(store, fortran_count(keys), numbers.data, results->base_addr);
  (void)fortran_release(keys, 0, &numbers);
  return status;
}

syncyte_status_t fortran_store_owner(syncyte_store_t store, const CFI_cdesc_t* keys, CFI_cdesc_t* ranks) {
  return of_each(syncyte_store_owner, store, keys, "ranks", ranks);
}

syncyte_status_t fortran_store_is_local(syncyte_store_t store, const CFI_cdesc_t* keys, CFI_cdesc_t* flags) {
  return of_each(syncyte_store_is_local, store, keys, "flags", flags);
}

syncyte_status_t fortran_store_locate(syncyte_store_t store, const CFI_cdesc_t* keys, CFI_cdesc_t* ranks) {
  return of_each(syncyte_store_locate, store, keys, "ranks", ranks);
}

syncyte_status_t fortran_store_adopt_last(syncyte_store_t store, const CFI_cdesc_t* keys, CFI_cdesc_t* flags) {
  return of_each(syncyte_store_adopt_last, store, keys, "flags", flags);
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
