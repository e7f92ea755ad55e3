// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace syncyte::test {

/// An operation on one key whose value is one number. Times are of a clock that all workers share.
struct timed_operation {
  enum kind { pull, push, set };

  kind what;
  float value;  // found, added or set
  std::int64_t begin, end;
  int worker;
};

/// Searches an order of operations on one key that explains their results (Wing and Gong, 1993): an operation that
/// ended before another began comes before it, and so does an earlier one of the same worker.
class linear_history {
 public:
  /// At most 64 operations, each worker's in their order.
  linear_history(std::vector<timed_operation> operations, float first_value)
      : operations_(std::move(operations)), first_value_(first_value) {}

  bool is_linear() { return search(0, first_value_); }

 private:
  using done_set = std::uint64_t;  // a bit for each operation

  bool is_done(done_set done, std::size_t i) const { return (done >> i & 1) != 0; }

  bool search(done_set done, float value) {
    if (!seen_.emplace(done, value).second) return false;
    std::int64_t first_end = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < operations_.size(); ++i)
      if (!is_done(done, i)) first_end = std::min(first_end, operations_[i].end);
    bool has_more = false;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (is_done(done, i)) continue;
      has_more = true;
      if (operations_[i].begin < first_end && is_next_of_worker(done, i) && go_on(done, value, i)) return true;
    }
    return !has_more;
  }

  bool go_on(done_set done, float value, std::size_t next) {
    const timed_operation& each = operations_[next];
    if (each.what == timed_operation::pull && each.value != value) return false;
    if (each.what == timed_operation::push) value += each.value;
    if (each.what == timed_operation::set) value = each.value;
    return search(done | done_set{1} << next, value);
  }

  bool is_next_of_worker(done_set done, std::size_t next) const {
    for (std::size_t i = 0; i < next; ++i)
      if (operations_[i].worker == operations_[next].worker && !is_done(done, i)) return false;
    return true;
  }

  const std::vector<timed_operation> operations_;
  const float first_value_;
  std::set<std::pair<done_set, float>> seen_;  // states from which the search has failed or is on its way
};

}  // namespace syncyte::test
