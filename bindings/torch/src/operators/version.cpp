// SPDX-License-Identifier: BSD-3-Clause
#include <torch/csrc/api/include/torch/version.h>

#include <cstdint>

#include "syncyte/base.h"

/// Returns the version of the loaded libsyncyte_torch, for the Python package. The parameters are those of
/// syncyte_version(), but none may be null.
extern "C" SYNCYTE_EXPORT syncyte_status_t syncyte_torch_version(std::int32_t* major, std::int32_t* minor,
                                                                 std::int32_t* patch, std::int32_t* abi) {
  *major = SYNCYTE_VERSION_MAJOR;
  *minor = SYNCYTE_VERSION_MINOR;
  *patch = SYNCYTE_VERSION_PATCH;
  *abi = SYNCYTE_ABI_VERSION;
  return SYNCYTE_SUCCESS;
}

/// Returns the version of the torch that the library was compiled with, such as "2.15.0", for the Python package: a
/// library may load into another one, and fail later.
extern "C" SYNCYTE_EXPORT const char* syncyte_torch_built_for() { return TORCH_VERSION; }
