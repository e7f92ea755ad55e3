// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "memory/device_system.hpp"

namespace syncyte::rows {

/// The kernels on rows (cuda/). Throws SYNCYTE_ERR_UNSUPPORTED in a build without nvcc, which has none.
const memory::kernel_image& kernel_image();

}  // namespace syncyte::rows
