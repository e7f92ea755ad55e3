// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/rows.h"

#include "guard.hpp"
#include "rows/gather_table.hpp"

extern "C" {

syncyte_status_t syncyte_rows_gather(const syncyte_buffer_t* table, const syncyte_buffer_t* index,
                                     const syncyte_buffer_t* output) {
  return syncyte::capi::counted("rows_gather", [&] {
    syncyte::rows::gather_table(table, index, output);
    syncyte::capi::trace_buffer(output);
  });
}
}
