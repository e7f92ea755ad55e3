#pragma once

#include <mutex>

#include "rows/exact_rows.hpp"

namespace syncyte::tensor {

/// Adds of this rank to a tensor with tensor_options::deterministic, until sync() takes them to their owners.
struct staged_adds {
  staged_adds(syncyte_dtype_t dtype, std::int64_t row_elements) : sums(dtype, row_elements) {}

  std::mutex mutex;
  rows::exact_rows sums;
};

}  // namespace syncyte::tensor
