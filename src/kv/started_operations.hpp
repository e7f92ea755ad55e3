// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "access/started.hpp"
#include "kv/unanswered_operations.hpp"

namespace syncyte::kv {

/// The operations in flight of one worker, kept even if nobody else keeps them. Ended operations are forgotten as
/// others start. Thread-safe.
class started_operations {
 public:
  void add(const std::shared_ptr<access::started>& started, const unanswered_operations& until_its_end = {});
  /// Forgets an operation that reads, for which nobody waits any more.
  void give_up(const std::shared_ptr<access::started>& started);
  /// What a further operation may not overtake. Waits while very many operations have asked for keys of this node.
  unanswered_operations unanswered();
  /// Waits for all; their errors stay for their requests.
  void await_ends();
  /// Waits for the first ones until at most so many are not forgotten.
  void limit(std::size_t most);
  /// Number of operations that are not forgotten.
  std::size_t size() const;

 private:
  struct in_flight {
    std::shared_ptr<access::started> operation;
    held_keys::grant_number grants;  // never less than that of the operation before
    std::shared_ptr<const unanswered_operations::slot_set> asked;
  };

  std::vector<std::shared_ptr<access::started>> all() const;
  std::shared_ptr<access::started> first_of_too_many();
  void end(const std::shared_ptr<access::started>& which);
  template <class Which>
  void forget(Which&& which);  // with the lock held

  mutable std::mutex mutex_;  // guards the members below
  std::deque<in_flight> operations_;
  std::size_t asking_ = 0;      // how many of them have `asked`
  std::size_t forget_at_ = 16;  // size at which ended operations are looked for
};

}  // namespace syncyte::kv
