// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace syncyte::distribution {

/// A part, and the place of an index among the part's indices.
struct position {
  int part;
  std::int64_t offset;  // in indices
  bool operator==(const position&) const = default;
};

}  // namespace syncyte::distribution
