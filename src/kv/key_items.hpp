// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "fabric/members.hpp"
#include "kv/key_homes.hpp"
#include "kv/operations.hpp"

namespace syncyte::kv {

/// Keys of one operation at one owner's table_target, for access::item_requests. The offset of a key is its slot,
/// counted from the owner's first one.
class key_items {
 public:
  /// Values of one key travel in one message.
  static constexpr std::int64_t most_values = (fabric::most_payload - sizeof(std::uint64_t)) / sizeof(float);

  struct owner {
    int rank;
    std::int64_t first;            // first slot of its keys
    const fabric::members* ranks;  // name it in errors
    const key_homes* homes;        // name a key in errors
    int node = 0;                  // of the worker
  };

  /// `keys`: the owner's, of memory that `list` keeps. `values`: the whole list's; only an operation that reads the
  /// store writes them.
  key_items(owner to, const kv::operation& what, std::shared_ptr<const void> list, std::span<const listed_key> keys,
            const key_layout& layout, float* values)
      : owner_(to), what_(&what), list_(std::move(list)), keys_(keys), layout_(&layout), values_(values) {}

  /// Names the owner's first key of the list too: "rank 3 of world (home of key 17 and 5 more keys of the list)".
  std::string owner_name() const;
  std::uint16_t operation() const { return what_->number; }
  /// A pull that is sent again must not see later pushes.
  bool happens_once() const { return true; }
  bool reads() const { return what_->reads; }
  std::span<const std::byte> own() const { return {}; }

  std::size_t size() const { return keys_.size(); }
  std::size_t most_together() const { return keys_.size(); }
  std::uint64_t offset(std::size_t i) const { return static_cast<std::uint64_t>(keys_[i].slot - owner_.first); }
  std::size_t bytes(std::size_t i) const {
    return static_cast<std::size_t>(layout_->length(keys_[i].slot)) * sizeof(float);
  }
  std::array<std::uint64_t, 2> arguments(std::size_t) const { return {static_cast<std::uint64_t>(owner_.node), 0}; }
  void write(std::size_t first, std::size_t count, std::byte* to) const;
  void read(std::size_t first, std::size_t count, const std::byte* from) const;

 private:
  owner owner_;
  const kv::operation* what_;
  std::shared_ptr<const void> list_;
  std::span<const listed_key> keys_;
  const key_layout* layout_;
  float* values_;
};

}  // namespace syncyte::kv
