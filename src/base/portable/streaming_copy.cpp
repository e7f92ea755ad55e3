// SPDX-License-Identifier: BSD-3-Clause
#include "base/streaming_copy.hpp"

#include <cstring>

namespace syncyte::base {

void copy_streaming(std::byte* target, const std::byte* source, std::size_t bytes) {
  std::memcpy(target, source, bytes);
}

void finish_streaming() {}

}  // namespace syncyte::base
