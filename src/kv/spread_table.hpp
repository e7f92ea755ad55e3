// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "access/transfer.hpp"
#include "comm/collective_call.hpp"
#include "fabric/group.hpp"
#include "kv/key_homes.hpp"
#include "kv/keys_by_owner.hpp"
#include "kv/operations.hpp"
#include "kv/table.hpp"

namespace syncyte::kv {

/// Values of all keys at the ranks of several nodes, each key at one rank. Keys of this node's ranks are read and
/// written in its memory. Ranks of other nodes get requests, one stream for each rank; they overlap. Several threads
/// may use a table at once.
///
/// After an error any key of the list may have been processed or not; each rank processes its keys in order. A rank
/// processes operations of one stream in the order of their starts, operations of several streams in any order.
class spread_table {
 public:
  /// Collective; ends in an agreement. `tables` have the keys of the node's ranks, by rank within the node; `memory`
  /// keeps their memory.
  static std::unique_ptr<spread_table> create(comm::collective_call& call, std::shared_ptr<fabric::group> ranks,
                                              std::shared_ptr<const key_homes> homes, std::vector<table> tables,
                                              std::shared_ptr<void> memory);

  /// No rank sends requests any more.
  void stop_serving() { ranks_->through().targets().remove(name_); }

  /// Whether all keys are at ranks of this node.
  bool are_here(std::span<const std::int64_t> keys) const;

  /// A stream for start(), which outlives its operations.
  std::unique_ptr<fabric::stream> make_stream() const { return std::make_unique<fabric::stream>(ranks_->through()); }

  /// Begins an operation: keys at this node are done on return; wait() for the others, or if `is_driven` let them make
  /// progress and wait later. Null: all are done. This object and `values`, which only an operation that reads the
  /// store changes, stay until the end; `keys` need not. The transfer throws an error of this node's keys; without a
  /// transfer this function does.
  std::unique_ptr<access::transfer> start(fabric::stream& in, const operation& what, std::span<const std::int64_t> keys,
                                          float* values, bool is_driven);

 private:
  spread_table(const comm::communicator& comm, std::shared_ptr<fabric::group> ranks,
               std::shared_ptr<const key_homes> homes, std::vector<table> tables);

  void run_here(const operation& what, std::span<const keys_by_owner::part> parts, float* values);

  const comm::communicator& comm_;
  std::shared_ptr<fabric::group> ranks_;
  fabric::object_name name_{};
  std::shared_ptr<const key_homes> homes_;
  std::vector<table> tables_;
};

}  // namespace syncyte::kv
