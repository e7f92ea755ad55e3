#pragma once

#include <cstddef>

#include "base/overlap.hpp"
#include "rows/row_index.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {

/// A checked list of rows with the packed memory that belongs to it.
struct whole_tensor::row_request {
  rows::row_index index;
  std::byte* packed;
  bool is_empty;
  const char* name;         // of the packed argument
  base::byte_range memory;  // of the packed rows
};

}  // namespace syncyte::tensor
