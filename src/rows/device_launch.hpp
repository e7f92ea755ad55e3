// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace syncyte::rows {

/// Base-2 logarithm of the number of threads that work on a row together: at most a warp.
int lane_bits_for(std::int64_t elements);

/// Number of threads for rows of 2^lane_bits threads each.
std::int64_t threads_of(std::int64_t rows, int lane_bits);

/// Queues a kernel of src/rows/cuda by its name. `arguments`: the kernel's struct.
void launch_kernel(int device, const std::string& kernel, const void* arguments, std::int64_t threads, void* stream);

}  // namespace syncyte::rows
