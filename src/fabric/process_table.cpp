// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/process_table.hpp"

#include <cstring>

namespace syncyte::fabric {

std::vector<std::byte> process_table::pack(process_entry entry, std::string_view address, std::size_t longest) {
  constexpr std::size_t alignment = alignof(process_entry);
  entry.address_bytes = static_cast<std::uint32_t>(address.size());
  std::vector<std::byte> bytes((sizeof entry + longest + alignment - 1) / alignment * alignment);
  std::memcpy(bytes.data(), &entry, sizeof entry);
  std::memcpy(bytes.data() + sizeof entry, address.data(), address.size());
  return bytes;
}

}  // namespace syncyte::fabric
