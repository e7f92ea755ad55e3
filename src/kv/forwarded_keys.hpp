// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "access/item_list.hpp"
#include "fabric/caller.hpp"
#include "fabric/target.hpp"
#include "kv/operations.hpp"

namespace syncyte::kv {

/// A part of an operation that a home passes on to the node that has the keys: requests to its agent. An answer has a
/// byte for each key, 1 if the key is not there, and then the values of a pull.
class forwarded_keys final : public fabric::request_source {
 public:
  struct key {
    std::size_t place;     // in the operation's list
    std::uint64_t offset;  // slot, counted from the home's first one
    std::span<std::byte> values;
    bool has_bounced = false;
  };

  /// `home`: the rank of the home. A pull writes the keys' values, other operations read them.
  forwarded_keys(fabric::object_name to, const operation& what, int home, std::string holder, std::vector<key> keys);

  const std::vector<key>& keys() const { return keys_; }

  std::string owner_name() const override { return holder_; }
  std::shared_ptr<fabric::message> next() override;
  void on_answer(const fabric::message_header& request, std::span<const std::byte> payload) override;

 private:
  fabric::object_name to_;
  const operation* what_;
  int home_;
  std::string holder_;
  std::vector<key> keys_;
  access::item_coding coding_;
  std::size_t done_ = 0;
};

}  // namespace syncyte::kv
