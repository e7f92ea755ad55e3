// SPDX-License-Identifier: BSD-3-Clause
#include "kv/copy_vector.hpp"

#include <cstring>

namespace syncyte::kv {
namespace {

constexpr std::size_t largest = 64;

/// Copies the next `Size` bytes.
template <std::size_t Size>
[[gnu::always_inline]] inline void copy_next(std::byte*& to, const std::byte*& from) {
  std::memcpy(to, from, Size);
  to += Size;
  from += Size;
}

}  // namespace

[[gnu::no_sanitize("thread")]] void copy_vector(std::byte* to, const std::byte* from, std::int64_t length) {
  const std::size_t bytes = static_cast<std::size_t>(length) * sizeof(float);
  for (std::size_t i = bytes / largest; i > 0; --i) copy_next<largest>(to, from);
  if (bytes % largest == 0) return;
  if ((bytes & 32) != 0) copy_next<32>(to, from);
  if ((bytes & 16) != 0) copy_next<16>(to, from);
  if ((bytes & 8) != 0) copy_next<8>(to, from);
  if ((bytes & 4) != 0) copy_next<4>(to, from);
}

}  // namespace syncyte::kv
