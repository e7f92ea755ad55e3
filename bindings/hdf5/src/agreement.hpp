#pragma once

#include "entries.hpp"
#include "ranks.hpp"

namespace syncyte::hdf5 {

constexpr std::int32_t full_checks = 2;  ///< of ranks::check_level()

/// Collective: all ranks throw the same if `status` is an error on any, or if the ranks' arguments do not fit together;
/// the message then says which argument, or which property of which key, is what on which ranks (path and entries: what
/// on rank 0 and what on the lowest rank that differs from it, and which others do).
/// `contents`: replicated entries must hold the same bytes (their CRC32C) on all ranks.
void agree_on(const ranks& all, syncyte_status_t status, const char* operation, const arguments& mine,
              bool contents = false);

}  // namespace syncyte::hdf5
