// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fabric/engine.hpp"
#include "kv/forwarded_keys.hpp"
#include "kv/home.hpp"
#include "kv/operations.hpp"

namespace syncyte::kv {

/// An operation of a worker on keys that are not all at home or are shared, at their home. Keys at home are done at
/// once; others are passed on to the node that has them, and those that are moving wait, or those of which copies have
/// to end. The operation is counted for each key that it found elsewhere (key_directory) until the key is done.
class split_operation {
 public:
  /// `node`: of the worker. `slots`: of all keys. `left`: the places of keys that are not done, in their order.
  /// `values`: of all keys, given or read so far.
  split_operation(std::shared_ptr<home> at, const operation& what, int node, std::vector<std::int64_t> slots,
                  std::span<const std::size_t> left, std::vector<std::byte> values);
  ~split_operation();
  split_operation(const split_operation&) = delete;
  split_operation& operator=(const split_operation&) = delete;

  /// Does what can be done now, without waiting; true if all keys are done. Throws SYNCYTE_ERR_PEER_DIED.
  bool progress();
  /// The values of all keys, after a pull.
  std::span<const std::byte> values() const { return values_; }

 private:
  struct key {
    std::size_t place;
    std::int64_t slot;
    std::span<std::byte> values;
    bool is_counted = false;
    bool has_bounced = false;  // it is on its way home, or there
  };
  struct forward {
    forward(std::shared_ptr<home> at, const operation& what, int node, std::string holder,
            std::vector<forwarded_keys::key> keys);
    std::shared_ptr<home> of;
    forwarded_keys requests;
    fabric::exchange running;  // destroyed before the requests
  };

  bool collect();
  access_result run(key& which);
  access_result run_shared(key& which);
  void finish(key& which);
  void count_waiting(key& which);
  void trace_forward(std::int64_t slot) const;
  [[noreturn]] void fail_lost(const key& which) const;

  std::shared_ptr<home> home_;
  const operation* what_;
  int node_;
  std::vector<std::byte> values_;
  std::vector<key> left_;
  std::vector<std::unique_ptr<forward>> forwards_;
};

}  // namespace syncyte::kv
