#pragma once

#include <mutex>
#include <utility>

#include "rows/exact_rows.hpp"

namespace syncyte::tensor {

/// Adds of this rank to a tensor with tensor_options::deterministic, until sync() takes them to their owners.
struct staged_adds {
  staged_adds(syncyte_dtype_t of, std::int64_t elements) : dtype(of), row_elements(elements) {}

  rows::exact_rows none() const { return {dtype, row_elements}; }

  void exchange(rows::exact_rows& other) {
    const std::lock_guard guard(mutex);
    std::swap(sums, other);
  }

  const syncyte_dtype_t dtype;
  const std::int64_t row_elements;
  std::mutex mutex;
  rows::exact_rows sums = none();
};

}  // namespace syncyte::tensor
