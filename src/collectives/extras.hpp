#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "syncyte/collectives.h"

namespace syncyte::collectives {

/// Further facts of the caller's, and its error, for the agreement of a collective.
struct extras {
  std::int64_t fact = 0;                  // a further fact that all ranks must share
  std::span<const syncyte_fact_t> facts;  // more of them, with names; the caller's
  std::optional<base::error> error;       // what the caller found wrong on this rank: all ranks are told
};

}  // namespace syncyte::collectives
