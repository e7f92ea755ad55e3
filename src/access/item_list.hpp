// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "fabric/target.hpp"

namespace syncyte::access {

/// Encoding of a request's list of items, such as rows or keys, each by its offset at the owner: offsets in units of
/// 2^shift as 32-bit numbers, or as 64-bit numbers if the shift is `wide`.
class item_coding {
 public:
  static constexpr std::uint64_t wide = 64;

  explicit item_coding(std::uint64_t shift) : shift_(shift) {}
  /// The shortest encoding of some offsets. `bits`: the bitwise or of all of them.
  static item_coding of(std::uint64_t bits);

  std::uint64_t shift() const { return shift_; }
  std::size_t bytes_each() const { return shift_ == wide ? sizeof(std::uint64_t) : sizeof(std::uint32_t); }

  /// Writes offset(i) for each i in [first, first + count).
  template <class Offset>
  void encode(std::size_t first, std::size_t count, Offset&& offset, std::byte* list) const {
    for (std::size_t i = first; i < first + count; ++i, list += bytes_each()) {
      const std::uint64_t given = offset(i);
      const auto unit = static_cast<std::uint32_t>(given >> (shift_ & 63));
      shift_ == wide ? std::memcpy(list, &given, sizeof given) : std::memcpy(list, &unit, sizeof unit);
    }
  }

  std::uint64_t decode(const std::byte* list, std::size_t i) const {
    std::uint64_t offset = 0;
    std::uint32_t unit = 0;
    if (shift_ == wide) {
      std::memcpy(&offset, list + i * sizeof offset, sizeof offset);
      return offset;
    }
    std::memcpy(&unit, list + i * sizeof unit, sizeof unit);
    return std::uint64_t{unit} << shift_;
  }

 private:
  std::uint64_t shift_;
};

/// The first argument of a request about items: their number, below 2^32, and the shift of their coding.
struct item_arguments {
  static std::uint64_t pack(std::size_t count, std::uint64_t shift) { return count | shift << 32; }
  static std::size_t count(std::uint64_t packed) { return packed & UINT32_MAX; }
  static std::uint64_t shift(std::uint64_t packed) { return packed >> 32; }
};

/// A request about a list of items, at their owner. The payload has the operation's own bytes, the list and, in a
/// request that carries them, the items' data. Arguments: item_arguments, the place of the first item in the caller's
/// list, and two of the operation.
class served_items {
 public:
  /// Refers to the payload. Throws SYNCYTE_ERR_INTERNAL if it has no room for the own bytes and the list.
  explicit served_items(const fabric::served_request& request, std::size_t own_bytes = 0);

  std::size_t count() const { return count_; }
  std::uint64_t offset(std::size_t i) const { return coding_.decode(list_, i); }
  /// Two numbers of the operation.
  std::uint64_t first_argument() const { return arguments_[0]; }
  std::uint64_t second_argument() const { return arguments_[1]; }
  /// The operation's own bytes.
  const std::byte* own() const { return own_; }
  /// Data of the items.
  std::span<const std::byte> data() const { return data_; }

 private:
  std::size_t count_;
  item_coding coding_;
  std::array<std::uint64_t, 2> arguments_;
  const std::byte* own_;
  const std::byte* list_ = nullptr;
  std::span<const std::byte> data_;
};

}  // namespace syncyte::access
