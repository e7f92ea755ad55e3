// SPDX-License-Identifier: BSD-3-Clause
// The kernels on rows: one thread for each share of a body.

#include "rows/cuda/kernel_list.hpp"

namespace syncyte::rows::cuda {

__device__ __forceinline__ std::int64_t this_thread() {
  return blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
}
__device__ __forceinline__ std::int64_t all_threads() { return gridDim.x * static_cast<std::int64_t>(blockDim.x); }

#define SYNCYTE_KERNEL(name, arguments, ...)                                                                  \
  extern "C" __global__ void __launch_bounds__(256) syncyte_##name(const __grid_constant__ arguments given) { \
    __VA_ARGS__(given, this_thread(), all_threads());                                                         \
  }
SYNCYTE_ROW_KERNELS(SYNCYTE_KERNEL)

}  // namespace syncyte::rows::cuda
