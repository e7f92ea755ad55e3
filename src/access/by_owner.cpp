// SPDX-License-Identifier: BSD-3-Clause
#include "access/by_owner.hpp"

namespace syncyte::access {

std::vector<std::size_t>& counters_of_owners(int ranks) {
  thread_local std::vector<std::size_t> all;
  if (all.size() < static_cast<std::size_t>(ranks)) all.resize(static_cast<std::size_t>(ranks));
  return all;
}

}  // namespace syncyte::access
