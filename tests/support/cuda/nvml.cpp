// SPDX-License-Identifier: BSD-3-Clause
// A stand-in for libnvidia-ml.so.1: as many devices as the stand-in driver has, before CUDA_VISIBLE_DEVICES.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define STANDIN_API extern "C" __attribute__((visibility("default")))

namespace {

unsigned device_count() {
  const char* const given = std::getenv("STANDIN_DEVICES");
  return given == nullptr ? 2 : static_cast<unsigned>(std::atoi(given));
}

}  // namespace

STANDIN_API int nvmlInit_v2() { return std::getenv("STANDIN_NO_NVML") != nullptr; }

STANDIN_API int nvmlShutdown() { return 0; }

STANDIN_API int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = device_count();
  return 0;
}

STANDIN_API int nvmlDeviceGetHandleByIndex_v2(unsigned number, void** device) {
  *device = reinterpret_cast<void*>(std::uintptr_t{number} + 1);
  return number < device_count() ? 0 : 2;
}

STANDIN_API int nvmlDeviceGetUUID(void* device, char* text, unsigned length) {
  const auto number = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)) - 1;
  std::snprintf(text, length, "GPU-53000000-0000-0000-0000-%012x", number);
  return 0;
}
