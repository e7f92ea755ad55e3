// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "access/item_list.hpp"
#include "fabric/target.hpp"
#include "kv/key_range.hpp"
#include "kv/operations.hpp"

namespace syncyte::kv {

/// Keys of this rank, on whose values it does operations for ranks of other nodes. The items of a request
/// (access::served_items) are this rank's slots, counted from its first one. Their data are values, in the answer if
/// the operation reads the store.
class table_target final : public fabric::target {
 public:
  /// `keys`: this rank's slots. `memory` keeps the table's memory.
  table_target(table values, key_range keys, std::shared_ptr<void> memory)
      : values_(std::move(values)), keys_(keys), memory_(std::move(memory)) {}

  bool serve(fabric::served_request& request, fabric::answer& reply) override;

 private:
  void find_slots(const access::served_items& items);
  bool write(const operation& what, fabric::served_request& request, const std::byte* given);

  table values_;
  key_range keys_;
  std::shared_ptr<void> memory_;
  std::vector<std::int64_t> asked_;  // slots of the request that is served
};

}  // namespace syncyte::kv
