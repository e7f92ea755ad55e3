// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/base.h"

#include "base/buffer.hpp"
#include "base/dtype.hpp"
#include "base/log.hpp"
#include "guard.hpp"

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_version(int32_t* major, int32_t* minor, int32_t* patch, int32_t* abi) {
  if (major != nullptr) *major = SYNCYTE_VERSION_MAJOR;
  if (minor != nullptr) *minor = SYNCYTE_VERSION_MINOR;
  if (patch != nullptr) *patch = SYNCYTE_VERSION_PATCH;
  if (abi != nullptr) *abi = SYNCYTE_ABI_VERSION;
  return SYNCYTE_SUCCESS;
}

const char* syncyte_status_name(syncyte_status_t status) { return base::status_name(status); }

const char* syncyte_dtype_name(syncyte_dtype_t dtype) { return base::dtype_name(dtype); }

syncyte_status_t syncyte_struct_read(const void* theirs, const char* name, size_t first_size, void* ours) {
  return guarded("struct_read", [&] {
    base::expect(name != nullptr, SYNCYTE_ERR_ARGUMENT, "name", "null", "a text");
    base::expect(ours != nullptr, SYNCYTE_ERR_ARGUMENT, "ours", "null", "a struct");
    base::read_bytes(theirs, name, first_size, ours);
  });
}

syncyte_status_t syncyte_dtype_size(syncyte_dtype_t dtype, int64_t* size) {
  return guarded("dtype_size", [&] { out(size, "size") = static_cast<std::int64_t>(base::dtype_size(dtype)); });
}

syncyte_status_t syncyte_buffer_set(void* data, syncyte_dtype_t dtype, int32_t ndim, const int64_t* shape,
                                    syncyte_buffer_t* buffer) {
  return guarded("buffer_init", [&] {
    require_output(buffer, "buffer");
    base::expect(ndim >= 0 && ndim <= SYNCYTE_MAX_NDIM, SYNCYTE_ERR_SHAPE, "ndim", ndim, "0 to {}", SYNCYTE_MAX_NDIM);
    base::expect(shape != nullptr || ndim == 0, SYNCYTE_ERR_ARGUMENT, "shape", "null", "{} extents", ndim);
    const std::span<const std::int64_t> extents(shape, static_cast<std::size_t>(ndim));
    base::checked_elements(extents, base::dtype_size(dtype), "shape");
    base::fill_struct(buffer, "buffer", base::make_buffer(data, dtype, extents));
  });
}

syncyte_status_t syncyte_log(syncyte_log_level_t level, const char* message) {
  return guarded("log", [&] {
    base::expect_known<base::known::severity>(level, "level");
    base::expect(message != nullptr, SYNCYTE_ERR_ARGUMENT, "message", "null", "a text");
    base::log(level, "{}", message);
  });
}
}
