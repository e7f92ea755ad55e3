// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "cache/meeting_place.hpp"
#include "guard.hpp"
#include "syncyte/cache.h"

namespace syncyte::capi {

/// The caller's choice of a socket; null for defaults.
inline cache::rendezvous chosen_rendezvous(const syncyte_cache_rendezvous_t* given) {
  const auto chosen = options_or(given, syncyte_cache_rendezvous_t SYNCYTE_CACHE_RENDEZVOUS_INIT);
  base::expect(!std::isnan(chosen.timeout), SYNCYTE_ERR_ARGUMENT, "timeout", "nan", "a number of seconds");
  return {.name = text_or_empty(chosen.name),
          .folder = text_or_empty(chosen.folder),
          .nonce = {static_cast<std::uint64_t>(chosen.nonce[0]), static_cast<std::uint64_t>(chosen.nonce[1])},
          .seconds = chosen.timeout};
}

}  // namespace syncyte::capi
