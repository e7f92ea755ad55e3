// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_argument.hpp"
#include "base/buffer.hpp"
#include "tensor/row_request.hpp"

namespace syncyte::tensor {

// Operands that share memory with a tensor: refused, with SYNCYTE_ERR_ARGUMENT, if the call would read bytes that it
// also writes.

/// Refuses packed rows, or an index, that share memory with other rows of the request. A row that is copied or added to
/// itself is allowed, unless the index has it several times. `is_get`: the packed rows are written.
void require_apart_from_rows(const whole_tensor& of, const row_request& request, bool is_get);

/// Refuses packed rows that share memory with the state's rows of the same numbers. `state`: of an optimizer.
void require_apart_from_state(const whole_tensor& state, const row_request& request);

/// Refuses a box that shares memory with other elements of the tensor's box at `lower`.
void require_apart_from_box(const whole_tensor& of, base::array_argument<std::int64_t> lower, const base::buffer& box,
                            bool is_get);

}  // namespace syncyte::tensor
