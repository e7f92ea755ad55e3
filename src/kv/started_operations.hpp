#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "kv/spread_operation.hpp"

namespace syncyte::kv {

/// A worker's operations that were started and not waited for. Each has a timestamp: the number of operations started
/// before it. Those that have ended without an error are forgotten as others start, so that the memory is bounded by
/// the operations under way; of those that have failed the last `most_failed` are kept. Destroying it gives up the
/// operations under way. Thread-safe.
class started_operations {
 public:
  static constexpr std::int64_t complete = -1;  // timestamp
  static constexpr std::size_t most_failed = 1024;

  /// Adds a driven operation; returns its timestamp. Null: it is complete.
  std::int64_t add(std::unique_ptr<spread_operation> started);

  /// Whether an operation has ended, or failed; does not wait. These two throw SYNCYTE_ERR_ARGUMENT for a timestamp
  /// that add() has not returned.
  bool has_ended(std::int64_t timestamp);
  /// Waits, and throws the operation's error the first time.
  void wait(std::int64_t timestamp);
  /// Waits for all, and then throws the error of the first one that has failed; those of others are dropped.
  void wait_all();
  /// Waits for all; errors stay for wait().
  void await_ends();

  /// Number of operations that it has.
  std::size_t size() const;

 private:
  using operations = std::map<std::int64_t, std::shared_ptr<spread_operation>>;  // by timestamp

  std::shared_ptr<spread_operation> find(std::int64_t timestamp) const;
  operations all() const;
  void forget_ended();

  mutable std::mutex mutex_;  // guards the members below
  operations operations_;
  std::int64_t started_ = 0;    // number of operations ever
  std::size_t forget_at_ = 16;  // size at which those that have ended are looked for
};

}  // namespace syncyte::kv
