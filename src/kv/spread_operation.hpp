#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "fabric/group.hpp"
#include "kv/key_requests.hpp"
#include "kv/keys_by_owner.hpp"

namespace syncyte::kv {

/// One operation's requests to other nodes, in flight from their add() on. Destroying it before its end gives it up:
/// owners may still serve requests that were sent, but memory here is not touched any more. Once it has ended it is
/// only its error, if any. Thread-safe after the last add().
class spread_operation {
 public:
  spread_operation(std::shared_ptr<fabric::group> ranks, fabric::stream& in, table_operation what, keys_by_owner keys);

  std::span<const keys_by_owner::part> parts() const { return keys_->parts(); }

  /// Begins to send the requests for one of parts(). Layout and values stay until the end.
  void add(key_requests::owner to, std::span<const listed_key> keys, const key_layout& layout, float* values);
  /// This node's part of the operation has failed; this is the operation's error then.
  void fail(base::error error) { error_ = std::move(error); }
  /// Lets the serving thread make progress on it, also before this node's keys are done.
  void drive() { running_->drive(); }

  /// Whether it has ended. Does not wait, and is false while another thread waits.
  bool has_ended();
  /// Waits for the end. What it throws, such as watchdog::interrupted, has ended the wait and not the operation.
  void await_end();
  /// Its error, once it has ended.
  const std::optional<base::error>& error() const { return error_; }
  /// Waits, and throws the error.
  void wait();

 private:
  bool test();
  void end();

  const std::shared_ptr<fabric::group> ranks_;
  const table_operation what_;
  std::mutex mutex_;  // guards the members below
  std::optional<keys_by_owner> keys_;
  std::deque<key_requests> requests_;
  std::unique_ptr<fabric::exchange> running_;  // null: it has ended
  std::optional<base::error> error_;
};

}  // namespace syncyte::kv
