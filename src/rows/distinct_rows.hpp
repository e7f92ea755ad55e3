// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/scratch.hpp"
#include "rows/row_index.hpp"

namespace syncyte::rows {

/// The distinct rows of an index, ascending, each with the sum of its source rows in the order of their positions.
class distinct_rows {
 public:
  /// `source`: packed rows of `row_bytes`, one for each index; it must live as long as this object. Every index is 0 or
  /// more.
  distinct_rows(const row_index& index, const std::byte* source, std::size_t row_bytes, syncyte_dtype_t dtype);

  std::span<const std::int64_t> rows() const { return rows_; }
  /// By place in rows(): the sum, which is in `source` for a row that does not repeat.
  std::span<const std::byte* const> sums() const { return sums_; }

 private:
  std::vector<std::int64_t> rows_;
  std::vector<const std::byte*> sums_;
  memory::scratch added_;  // sums of rows that repeat
};

}  // namespace syncyte::rows
