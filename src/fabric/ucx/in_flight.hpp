// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <iterator>
#include <list>

namespace syncyte::fabric::ucx {

/// Operations that UCX has not finished. Each keeps its address until it is finished; its memory serves later ones.
template <class Operation>
class in_flight {
 public:
  explicit in_flight(std::size_t most_spare) : most_spare_(most_spare) {}

  Operation& begin() {
    if (spare_.empty()) spare_.emplace_back();
    active_.splice(active_.end(), spare_, spare_.begin());
    active_.back().place = std::prev(active_.end());
    return active_.back();
  }

  void end(Operation& done) {
    spare_.splice(spare_.begin(), active_, done.place);
    if (spare_.size() > most_spare_) spare_.pop_back();
  }

  bool empty() const { return active_.empty(); }

 private:
  std::list<Operation> active_;
  std::list<Operation> spare_;
  const std::size_t most_spare_;
};

}  // namespace syncyte::fabric::ucx
