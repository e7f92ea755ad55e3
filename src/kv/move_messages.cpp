// SPDX-License-Identifier: BSD-3-Clause
#include "kv/move_messages.hpp"

#include <cstring>

namespace syncyte::kv {

void moved_keys::write(std::size_t first, std::size_t count, std::byte* to) const {
  if (!data_.empty()) std::memcpy(to, data_.data() + begin(first), ends_[first + count - 1] - begin(first));
}

}  // namespace syncyte::kv
