// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <vector>

#include "cache/region.hpp"

namespace syncyte::test {

/// Second descriptors of a region's files, as another process would receive them.
inline std::vector<memory::descriptor> files_of(const cache::region& original) {
  std::vector<memory::descriptor> result;
  for (const auto& each : original.files()) result.emplace_back(dup(each.number()));
  return result;
}

}  // namespace syncyte::test
