// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/error.hpp"
#include "base/first_size.hpp"

// The rule for structs of the C interface. Their first member is struct_size, the sizeof of the struct as the caller
// knows it; programs and libraries of different ages share what both know. A member that is added later lies behind the
// former sizeof, in multiples of 8 bytes without padding, and has its default where its bytes are zero or absent. Bytes
// between the last member and a multiple of 8 are a member `reserved`, which is 0 until a version gives it a meaning.

namespace syncyte::base {

/// Most bytes that a struct may have.
inline constexpr std::size_t largest_struct = 4096;

/// Throws SYNCYTE_ERR_ARGUMENT for a null pointer and for a size that no version of the struct has.
/// `first`: its size in the first release. `current`: its size here. `name`: of the argument.
void require_struct(const void* theirs, std::size_t first, std::size_t current, const char* name);

/// Throws SYNCYTE_ERR_VERSION if a byte from `known` to `size` is not zero: a member that this library does not know.
void require_nothing_beyond(const void* theirs, std::size_t size, std::size_t known, const char* name);

/// Overwrites `ours`, whose size its own struct_size tells, with the members that the caller's struct has.
void read_bytes(const void* theirs, const char* name, std::size_t first, void* ours);

template <class Struct>
concept sized_struct = std::is_trivially_copyable_v<Struct> && sizeof(Struct) % 8 == 0 &&
                       std::is_same_v<decltype(Struct::struct_size), std::size_t> && first_size<Struct> != 0 &&
                       first_size<Struct> <= sizeof(Struct);

/// Throws SYNCYTE_ERR_ARGUMENT unless a struct's member `reserved` is 0.
void require_reserved(std::int64_t value, const char* name);

/// A caller's struct, to be read: `result`, which has the defaults, overwritten by the members that the caller's struct
/// has.
template <sized_struct Struct>
Struct read_struct(const Struct* theirs, const char* name, Struct result) {
  result.struct_size = sizeof(Struct);
  if (theirs != nullptr && theirs->struct_size == sizeof(Struct)) [[likely]]
    result = *theirs;
  else
    read_bytes(theirs, name, first_size<Struct>, &result);
  if constexpr (requires { result.reserved; }) require_reserved(result.reserved, name);
  return result;
}

/// Fills the members of a caller's struct that this library knows, zeroes the others, and sets struct_size to the bytes
/// that are filled.
template <sized_struct Struct>
void fill_struct(Struct* theirs, const char* name, const Struct& ours) {
  require_struct(theirs, first_size<Struct>, sizeof(Struct), name);
  const std::size_t size = theirs->struct_size;
  const std::size_t filled = std::min(size, sizeof(Struct));
  std::memcpy(theirs, &ours, filled);
  if (size > filled) std::memset(reinterpret_cast<std::byte*>(theirs) + filled, 0, size - filled);
  theirs->struct_size = filled;
}

/// Throws SYNCYTE_ERR_ARGUMENT unless the struct number `index` of an array has the size of the first one.
void require_same_size(const void* element, std::size_t size, const char* name, std::int64_t index);

/// An array of a caller's structs, which are to be read. The size of the first one is the distance between them.
template <sized_struct Struct>
class struct_array {
 public:
  struct_array() = default;

  /// `count` is 0 or more.
  struct_array(std::int64_t count, const Struct* first, const char* name)
      : first_(reinterpret_cast<const std::byte*>(first)), count_(count) {
    if (count == 0) return;
    require_struct(first, first_size<Struct>, sizeof(Struct), name);
    size_ = first->struct_size;
    for (std::int64_t i = 0; i < count; ++i) {
      require_same_size(address(i), size_, name, i);
      if (size_ > sizeof(Struct)) require_nothing_beyond(address(i), size_, sizeof(Struct), name);
    }
  }

  std::int64_t size() const { return count_; }

  /// The members that the caller's struct lacks are zero.
  Struct operator[](std::int64_t index) const {
    Struct result{};
    std::memcpy(&result, address(index), std::min(size_, sizeof(Struct)));
    result.struct_size = sizeof(Struct);
    return result;
  }

 private:
  const std::byte* address(std::int64_t index) const { return first_ + static_cast<std::size_t>(index) * size_; }

  const std::byte* first_ = nullptr;
  std::int64_t count_ = 0;
  std::size_t size_ = 0;
};

}  // namespace syncyte::base
