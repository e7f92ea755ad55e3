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

/// Keys of which a home is asked where they are, for access::item_requests; read() writes the ranks.
class located_keys {
 public:
  struct key {
    std::uint64_t offset;
    std::int32_t* rank;
  };
  located_keys(std::string owner, std::vector<key> keys) : owner_(std::move(owner)), keys_(std::move(keys)) {}

  std::string owner_name() const { return owner_; }
  std::uint16_t operation() const { return static_cast<std::uint16_t>(move_operation::locate); }
  bool happens_once() const { return false; }
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
      std::memcpy(keys_[i].rank, from, sizeof(std::int32_t));
  }

 private:
  std::string owner_;
  std::vector<key> keys_;
};

}  // namespace syncyte::kv
