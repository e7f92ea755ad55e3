// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {

/// Makes the locks of a tensor's rows: a tensor of int64, in which a locked row's element is its holder's rank + 1.
/// Collective.
std::shared_ptr<whole_tensor> make_row_locks(const whole_tensor& of, const std::string& name);

void lock(const whole_tensor& of, std::int64_t row);
void unlock(const whole_tensor& of, std::int64_t row);

}  // namespace syncyte::tensor
