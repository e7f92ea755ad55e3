// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "syncyte/base.h"

namespace syncyte::rows {

/// See syncyte_rows_gather().
void gather_table(const syncyte_buffer_t* table, const syncyte_buffer_t* index, const syncyte_buffer_t* output);

}  // namespace syncyte::rows
