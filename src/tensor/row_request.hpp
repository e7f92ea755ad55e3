// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/array_argument.hpp"
#include "base/overlap.hpp"
#include "rows/row_index.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {

/// A checked list of rows with the packed memory that belongs to it.
struct row_request {
  /// `packed_name`: of the packed argument.
  row_request(const whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* packed,
              const char* packed_name, bool is_written);

  rows::row_index index;
  const char* name;  // of the packed argument
  std::byte* packed = nullptr;
  bool is_empty = false;
  base::byte_range memory{};  // of the packed rows
};

/// Throws SYNCYTE_ERR_UNSUPPORTED, naming the first row of a request, or of a box, that this process has not mapped.
void require_mapped(const whole_tensor& of, const row_request& request);
void require_mapped(const whole_tensor& of, base::array_argument<std::int64_t> lower,
                    std::span<const std::int64_t> extent);

/// Whether rows of all owners can be added to.
bool can_add_everywhere(const whole_tensor& of);

}  // namespace syncyte::tensor
