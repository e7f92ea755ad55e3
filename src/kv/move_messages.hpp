// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "access/item_requests.hpp"
#include "kv/move_operation.hpp"

namespace syncyte::kv {

/// Keys of one request, and their values, for access::item_requests. Either each key has data, or none.
class moved_keys {
 public:
  moved_keys(std::string owner, move_operation what, std::uint64_t first_argument, std::uint64_t second_argument = 0)
      : owner_(std::move(owner)), what_(what), arguments_{first_argument, second_argument} {}

  void add(std::uint64_t offset, std::span<const std::byte> values, std::optional<std::uint8_t> number = {}) {
    offsets_.push_back(offset);
    if (number) data_.push_back(std::byte{*number});
    data_.insert(data_.end(), values.begin(), values.end());
    if (!data_.empty()) ends_.push_back(data_.size());
  }

  move_operation what() const { return what_; }
  const std::vector<std::uint64_t>& offsets() const { return offsets_; }

  std::string owner_name() const { return owner_; }
  std::uint16_t operation() const { return static_cast<std::uint16_t>(what_); }
  bool happens_once() const { return true; }
  bool reads() const { return false; }
  std::span<const std::byte> own() const { return {}; }
  std::size_t size() const { return offsets_.size(); }
  std::size_t most_together() const { return size(); }
  std::uint64_t offset(std::size_t i) const { return offsets_[i]; }
  std::size_t bytes(std::size_t i) const { return ends_.empty() ? 0 : ends_[i] - begin(i); }
  std::array<std::uint64_t, 2> arguments(std::size_t) const { return arguments_; }
  void write(std::size_t first, std::size_t count, std::byte* to) const;
  void read(std::size_t, std::size_t, const std::byte*) const {}

 private:
  std::size_t begin(std::size_t i) const { return i == 0 ? 0 : ends_[i - 1]; }

  std::string owner_;
  move_operation what_;
  std::array<std::uint64_t, 2> arguments_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::byte> data_;
  std::vector<std::size_t> ends_;  // of each key's data; empty if none has any
};

}  // namespace syncyte::kv
