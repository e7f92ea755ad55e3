#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kv/spread_operation.hpp"

namespace syncyte::kv {

/// An operation of a worker that was started, for the caller's request. It keeps the store and the worker's stream.
class started_operation {
 public:
  static constexpr bool needs_mpi = false;

  started_operation(std::shared_ptr<const void> store, std::shared_ptr<fabric::stream> stream,
                    std::unique_ptr<spread_operation> operation)
      : store_(std::move(store)), stream_(std::move(stream)), operation_(std::move(operation)) {}

  /// Whether it has ended; throws its error. Does not wait.
  bool test();
  /// Waits, and throws its error.
  void wait() { operation_->wait(); }
  /// Waits; the error stays for test() and wait().
  void await_end() { operation_->await_end(); }
  bool has_ended() { return operation_->has_ended(); }

 private:
  std::shared_ptr<const void> store_;
  std::shared_ptr<fabric::stream> stream_;
  std::unique_ptr<spread_operation> operation_;
};

/// The operations in flight of one worker, which it keeps also if nobody else does. Those that have ended are forgotten
/// as others start. Thread-safe.
class started_operations {
 public:
  void add(const std::shared_ptr<started_operation>& started);
  /// Waits for all; their errors stay for their requests.
  void await_ends();
  /// Number of operations that it has not forgotten.
  std::size_t size() const;

 private:
  std::vector<std::shared_ptr<started_operation>> all() const;

  mutable std::mutex mutex_;  // guards the members below
  std::vector<std::shared_ptr<started_operation>> operations_;
  std::size_t forget_at_ = 16;  // size at which those that have ended are looked for
};

}  // namespace syncyte::kv
