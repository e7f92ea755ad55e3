// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fabric/process_table.hpp"

namespace syncyte::test {

/// A communicator's table of these processes, each with its address.
inline std::shared_ptr<const fabric::process_table> table_of(const std::vector<fabric::process_entry>& entries,
                                                             const std::vector<std::string>& addresses) {
  const std::size_t longest = std::ranges::max_element(addresses, {}, &std::string::size)->size();
  const std::size_t entry_bytes = fabric::process_table::pack(entries[0], addresses[0], longest).size();
  const std::shared_ptr<std::byte[]> table(new std::byte[entry_bytes * entries.size()]);
  for (std::size_t rank = 0; rank < entries.size(); ++rank) {
    const auto packed = fabric::process_table::pack(entries[rank], addresses[rank], longest);
    std::memcpy(table.get() + rank * entry_bytes, packed.data(), packed.size());
  }
  return std::make_shared<const fabric::process_table>(table, entry_bytes, entries.size());
}

}  // namespace syncyte::test
