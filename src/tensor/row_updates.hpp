// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "optim/update.hpp"
#include "tensor/layout.hpp"
#include "tensor/storage.hpp"

namespace syncyte::tensor {

/// A part of a row's elements, equal for values, gradient and state.
struct element_range {
  std::size_t first;
  std::size_t count;
};

/// Updates of rows that this process loads and stores, each under the row's lock. Thread-safe.
class row_updates {
 public:
  /// `state`: of the same partition; null if the optimizer has none and the values have locks.
  row_updates(const optim::rule& by, const layout& shape, std::shared_ptr<storage> values,
              std::shared_ptr<storage> state);

  const layout& shape() const { return shape_; }
  bool is_mapped(std::int64_t row) const { return values_->mapped_rows().find(row) != nullptr; }

  /// Updates mapped rows; gradients[i] belongs to rows[i]. Throws SYNCYTE_ERR_PEER_DIED, naming the row; rows before it
  /// have been updated.
  void update(const optim::step& by, std::span<const std::int64_t> rows, std::span<const std::byte* const> gradients);

  /// Updates a part of a mapped row. Returns false if the lock is held for lock_table::longest_try.
  bool try_update(const optim::step& by, std::int64_t row, element_range part, const std::byte* gradient);

 private:
  atomics::lock_table& locks() const { return values_->locks().empty() ? state_->locks() : values_->locks(); }
  void update_locked(const optim::step& by, std::int64_t row, element_range part, const std::byte* gradient);
  void prefetch(std::int64_t row, const std::byte* gradient) const;

  layout shape_;
  std::shared_ptr<storage> values_;
  std::shared_ptr<storage> state_;
  optim::update_function update_;
  std::size_t state_bytes_;  // of an element of state
};

}  // namespace syncyte::tensor
