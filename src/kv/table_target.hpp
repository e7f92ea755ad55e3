// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "access/item_list.hpp"
#include "fabric/target.hpp"
#include "kv/home.hpp"
#include "kv/key_range.hpp"
#include "kv/looks_for_deaths.hpp"
#include "kv/operations.hpp"

namespace syncyte::kv {

class split_operation;

/// Keys of this rank, on whose values it does operations for ranks of other nodes. The items of a request
/// (access::served_items) are this rank's slots, counted from its first one. Their data are values, in the answer if
/// the operation reads the store.
///
/// With a home, keys move: it also serves what nodes' agents ask and give back, and operations of ranks of its own node
/// on keys that are elsewhere.
class table_target final : public fabric::target {
 public:
  /// `keys`: slots of this rank, `rank`. `memory` keeps the table's memory. `moves` may be null.
  table_target(table values, key_range keys, int rank, std::shared_ptr<void> memory,
               std::shared_ptr<home> moves = nullptr)
      : values_(std::move(values)), keys_(keys), rank_(rank), memory_(std::move(memory)), home_(std::move(moves)) {}

  bool serve(fabric::served_request& request, fabric::answer& reply) override;
  bool progress() override;
  bool makes_progress() const override { return home_ != nullptr; }
  std::chrono::nanoseconds time_left(std::chrono::nanoseconds now) const override;

 private:
  void find_slots(const access::served_items& items);
  bool handle(fabric::served_request& request, const access::served_items& items, fabric::answer& reply);
  bool handle_traced(fabric::served_request& request, const access::served_items& items, fabric::answer& reply);
  bool serve(const operation& what, fabric::served_request& request, const access::served_items& items,
             fabric::answer& reply);
  std::size_t write(const operation& what, fabric::served_request& request, std::span<const std::byte> given);
  static bool go_on(split_operation& state, const operation& what, fabric::answer& reply);
  bool answer_each(move_operation what, fabric::answer& reply);
  std::int32_t locate(std::int64_t slot) const;
  std::int32_t adopt(std::int64_t slot);
  bool acquire(fabric::served_request& request, int node, wish why);
  void give_back(move_operation what, const access::served_items& items, int node);
  bool take_pushes(move_operation what, fabric::served_request& request, const access::served_items& items, int node);
  bool renew(fabric::served_request& request, const access::served_items& items);

  table values_;
  key_range keys_;
  std::int32_t rank_;
  std::shared_ptr<void> memory_;
  std::shared_ptr<home> home_;
  std::vector<std::int64_t> asked_;  // slots of the request that is served
  absent_keys absent_;               // of them
  looks_for_deaths deaths_;          // of nodes with keys that others wish
};

}  // namespace syncyte::kv
