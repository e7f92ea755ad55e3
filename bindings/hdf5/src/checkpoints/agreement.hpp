// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/ranks.hpp"
#include "checkpoints/entries.hpp"

namespace syncyte::hdf5 {

/// Collective. All ranks throw the same error if `status` is an error on any rank, or if the ranks' arguments differ.
/// The message then names the argument, or the key and its property, with the values on rank 0 and on the lowest rank
/// that differs, and lists the other ranks that differ. `contents`: also compares the CRC32C of replicated entries.
void agree_on_arguments(const ranks& all, syncyte_status_t status, const char* operation, const arguments& mine,
                        bool contents = false);

}  // namespace syncyte::hdf5
