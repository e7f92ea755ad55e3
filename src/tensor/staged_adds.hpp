// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "rows/combine_pieces.hpp"
#include "rows/exact_rows.hpp"
#include "rows/row_index.hpp"

namespace syncyte::tensor {

class whole_tensor;

/// Deterministic adds: each rank sums what it adds exactly. sync() takes the sums to the rows' owners, which add them
/// exactly to each other and to the row, and round once. The result therefore depends on no order. Thread-safe.
class staged_adds {
 public:
  staged_adds(syncyte_dtype_t of, std::int64_t row_elements, std::size_t row_bytes)
      : dtype_(of), row_elements_(row_elements), row_bytes_(row_bytes) {}

  /// Adds rows that are packed one behind the other.
  void add(const rows::row_index& index, const std::byte* packed);
  /// Adds rows that are zero outside of their pieces, of `bytes` each; the pieces of a row follow one another.
  void add(std::span<const rows::row_piece> pieces, std::size_t bytes, const std::byte* values);

  /// Adds all sums to the rows of their tensor. Collective. Sums that another thread stages meanwhile wait for the next
  /// call.
  void sync(whole_tensor& to);

 private:
  struct taken_sums;

  rows::exact_rows none() const { return {dtype_, row_elements_}; }
  void take(const whole_tensor& of, taken_sums& to);
  void stage_again(taken_sums& taken);

  const syncyte_dtype_t dtype_;
  const std::int64_t row_elements_;
  const std::size_t row_bytes_;
  std::mutex mutex_;  // guards sums_
  rows::exact_rows sums_ = none();
};

}  // namespace syncyte::tensor
