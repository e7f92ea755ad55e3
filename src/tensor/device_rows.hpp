// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {

// Operations on rows of a tensor on devices. `index` and `packed` are on the tensor's device, whose stream of this
// thread queues the operation; without a stream it is complete on return. Throw SYNCYTE_ERR_INDEX if an index of this
// operation, or of an earlier one, is known to be out of range.
void gather_on_device(const whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* output);
void scatter_on_device(const whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* source);
void scatter_add_on_device(const whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* source);

}  // namespace syncyte::tensor
