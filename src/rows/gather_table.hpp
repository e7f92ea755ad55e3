// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "syncyte/base.h"

namespace syncyte::rows {

/// See syncyte_rows_gather().
void gather_table(const syncyte_buffer_t* table, const syncyte_buffer_t* index, const syncyte_buffer_t* output);

/// Throws SYNCYTE_ERR_INDEX, once, if a gather_table() on a device has skipped an index.
void check_device_gathers(int device);

}  // namespace syncyte::rows
