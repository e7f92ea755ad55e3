// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "rows/kernels.hpp"

namespace syncyte::rows {

const memory::kernel_image& kernel_image() {
  base::fail(SYNCYTE_ERR_UNSUPPORTED,
             "this build of Syncyte has no kernels for rows in device memory; configure with -DSYNCYTE_CUDA=ON, with "
             "CUDA's compiler nvcc");
}

}  // namespace syncyte::rows
