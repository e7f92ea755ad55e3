// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kv/move_messages.hpp"

namespace syncyte::kv {

/// Keys about which a home is asked for a number each, for access::item_requests; read() writes the numbers.
class asked_keys {
 public:
  struct key {
    std::uint64_t offset;
    std::int32_t* result;
  };
  asked_keys(std::string owner, move_operation what, std::vector<key> keys)
      : owner_(std::move(owner)), what_(what), keys_(std::move(keys)) {}

  std::string owner_name() const { return owner_; }
  std::uint16_t operation() const { return static_cast<std::uint16_t>(what_); }
  bool happens_once() const { return what_ != move_operation::locate; }
  bool reads() const { return true; }
  std::span<const std::byte> own() const { return {}; }
  std::size_t size() const { return keys_.size(); }
  std::size_t most_together() const { return size(); }
  std::uint64_t offset(std::size_t i) const { return keys_[i].offset; }
  std::size_t bytes(std::size_t) const { return sizeof(std::int32_t); }
  std::array<std::uint64_t, 2> arguments(std::size_t) const { return {}; }
  void write(std::size_t, std::size_t, std::byte*) const {}
  void read(std::size_t first, std::size_t count, const std::byte* from) const {
    for (std::size_t i = first; i < first + count; ++i, from += sizeof(std::int32_t))
      std::memcpy(keys_[i].result, from, sizeof(std::int32_t));
  }

 private:
  std::string owner_;
  move_operation what_;
  std::vector<key> keys_;
};

}  // namespace syncyte::kv
