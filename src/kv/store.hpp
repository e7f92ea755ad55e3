// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/array_argument.hpp"
#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "kv/key_homes.hpp"
#include "kv/sampling.hpp"
#include "kv/spread_table.hpp"
#include "kv/started_operations.hpp"
#include "kv/table.hpp"
#include "kv/worker_barrier.hpp"
#include "syncyte/store.h"

namespace syncyte::kv {

/// Options of a new store. They are checked inside the collective, so that all ranks get one rank's error.
struct store_options {
  std::string name;  // equal on all ranks
  std::int32_t workers = 1;
  syncyte_store_homes_t homes = SYNCYTE_STORE_HOMES_CYCLIC;
  std::int64_t foreign_bytes = -1;  // memory for other nodes' keys on this node; -1: a quarter of the node's values
  syncyte_store_intents_t intents = SYNCYTE_STORE_INTENTS_MOVE_OR_COPY;
  std::optional<base::error> error;  // the caller's error on this rank, if any
  std::string label = {};            // for messages, instead of the name; ranks may differ
};

/// A parameter store; syncyte/store.h documents each operation. On one node all keys are in one table; on several nodes
/// each rank has a table of its own.
class store {
 public:
  /// Collective. `lengths` has `lengths_length` elements; create() checks both.
  static std::shared_ptr<store> create(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype,
                                       std::int64_t keys, std::int64_t lengths_length, const std::int64_t* lengths,
                                       const store_options& options);

  /// Drops this rank's reference; memory is freed at a collective point. Local, does not call MPI.
  ~store();
  store(const store&) = delete;
  store& operator=(const store&) = delete;

  const std::shared_ptr<comm::communicator>& comm() const { return comm_; }
  const std::string& text() const { return text_; }  // store "name", for messages
  worker_barrier& workers() { return workers_; }

  std::int64_t keys() const { return table_.layout().keys(); }
  /// Lengths and home ranks of keys. Throw SYNCYTE_ERR_INDEX.
  void lengths(base::array_argument<std::int64_t> keys, std::int64_t* lengths) const;
  void owner(base::array_argument<std::int64_t> keys, std::int32_t* ranks) const;

  void set_sampling(const syncyte_store_sampling_t& asked);
  /// The sampling set last; throws SYNCYTE_ERR_ARGUMENT if none is set.
  std::shared_ptr<sampling> find_sampling() const;

  /// Returns the sum of the keys' lengths. Throws SYNCYTE_ERR_INDEX. Functions below require checked keys.
  std::int64_t check(std::span<const std::int64_t> keys) const;
  /// The begin of each key's values among those of a list, and the end of the last.
  std::vector<std::int64_t> places(std::span<const std::int64_t> keys) const;
  /// Whether all keys are at this node now.
  bool are_local(std::span<const std::int64_t> keys) const { return spread_ == nullptr || spread_->are_here(keys); }
  /// Whether each key is at this node now. Throws SYNCYTE_ERR_INDEX.
  void is_local(base::array_argument<std::int64_t> keys, std::int32_t* flags) const;
  /// The rank at whose node each key is now: its home, or the agent of a node. Throws SYNCYTE_ERR_INDEX.
  void locate(base::array_argument<std::int64_t> keys, std::int32_t* ranks) const;
  /// Gives keys that were lost with the node to which they had moved their homes' last values. 1 for each such key, 0
  /// for others. Throws SYNCYTE_ERR_INDEX.
  void adopt_last(base::array_argument<std::int64_t> keys, std::int32_t* flags) const;
  /// A stream for start(), which outlives its operations. Null on one node.
  std::unique_ptr<fabric::stream> make_stream() const { return spread_ ? spread_->make_stream() : nullptr; }
  /// Starts an operation, as spread_table::start(). On one node it is complete.
  started_transfer start(fabric::stream* in, const operation& what, std::span<const std::int64_t> keys, float* values,
                         bool is_driven = true, const unanswered_operations& before = {});
  /// Pulls, pushes or sets values: complete on return, in no order with operations of a stream.
  void run(const operation& what, std::span<const std::int64_t> keys, float* values);
  /// As those of spread_table; on one node all keys are here.
  bool pull_here(std::span<const std::int64_t> keys, std::span<float> values, const unanswered_operations& before);
  std::unique_ptr<access::transfer> localize(fabric::stream* in, std::span<const std::int64_t> keys);

  /// The table whose keys move between nodes; null if they do not.
  spread_table* moving() const { return spread_ && spread_->has_moves() ? spread_.get() : nullptr; }
  /// Keeps a started operation until it has ended, or the store goes; it must not keep the store. Waits if there are
  /// many.
  void keep(const std::shared_ptr<access::started>& started) {
    constexpr std::size_t most_kept = 256;
    kept_.add(started);
    kept_.limit(most_kept);
  }

  /// A barrier: after it, every rank sees all earlier writes of every rank. Collective. `operation`: its name in
  /// messages, a string literal.
  void synchronize(const char* operation);
  void sync() { synchronize("store_sync"); }
  /// The number of them that have ended.
  std::uint64_t synchronizations() const { return synchronizations_.load(); }

 private:
  store(std::shared_ptr<comm::communicator> comm, std::string text, const store_options& options,
        std::shared_ptr<const key_homes> homes, table values, std::shared_ptr<spread_table> spread,
        std::shared_ptr<comm::collective_resource> held);
  std::int64_t length(std::int64_t key) const;

  std::shared_ptr<comm::communicator> comm_;
  std::string text_;
  syncyte_store_homes_t kind_of_homes_;
  std::shared_ptr<const key_homes> homes_;
  table table_;                           // on several nodes: of this rank's keys
  std::shared_ptr<spread_table> spread_;  // null on one node
  worker_barrier workers_;
  std::uint64_t id_;  // number among the communicator's collective resources, equal on all ranks
  std::atomic<std::uint64_t> synchronizations_{0};

  mutable std::mutex sampling_mutex_;
  std::shared_ptr<sampling> sampling_;
  started_operations kept_;  // of intents
};

}  // namespace syncyte::kv
