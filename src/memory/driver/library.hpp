// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda.h>

#include <string>

namespace syncyte::memory::driver {

// cuda.h defines some names as those of newer versions: cuMemAlloc is cuMemAlloc_v2.
#define SYNCYTE_DRIVER_FUNCTIONS(EACH) \
  EACH(cuCtxGetCurrent)                \
  EACH(cuCtxGetDevice)                 \
  EACH(cuCtxPopCurrent)                \
  EACH(cuCtxPushCurrent)               \
  EACH(cuCtxSynchronize)               \
  EACH(cuDeviceCanAccessPeer)          \
  EACH(cuDeviceGet)                    \
  EACH(cuDeviceGetAttribute)           \
  EACH(cuDeviceGetCount)               \
  EACH(cuDeviceGetP2PAttribute)        \
  EACH(cuDeviceGetUuid)                \
  EACH(cuDevicePrimaryCtxRetain)       \
  EACH(cuDriverGetVersion)             \
  EACH(cuEventCreate)                  \
  EACH(cuEventDestroy)                 \
  EACH(cuEventQuery)                   \
  EACH(cuEventRecord)                  \
  EACH(cuEventSynchronize)             \
  EACH(cuGetErrorName)                 \
  EACH(cuGetErrorString)               \
  EACH(cuInit)                         \
  EACH(cuLaunchKernel)                 \
  EACH(cuLibraryGetKernel)             \
  EACH(cuLibraryLoadData)              \
  EACH(cuMemAddressFree)               \
  EACH(cuMemAddressReserve)            \
  EACH(cuMemAlloc)                     \
  EACH(cuMemCreate)                    \
  EACH(cuMemExportToShareableHandle)   \
  EACH(cuMemFree)                      \
  EACH(cuMemFreeHost)                  \
  EACH(cuMemGetAllocationGranularity)  \
  EACH(cuMemGetInfo)                   \
  EACH(cuMemHostAlloc)                 \
  EACH(cuMemHostRegister)              \
  EACH(cuMemHostUnregister)            \
  EACH(cuMemImportFromShareableHandle) \
  EACH(cuMemMap)                       \
  EACH(cuMemRelease)                   \
  EACH(cuMemSetAccess)                 \
  EACH(cuMemUnmap)                     \
  EACH(cuMemcpyAsync)                  \
  EACH(cuMemcpyPeerAsync)              \
  EACH(cuMemsetD8Async)                \
  EACH(cuPointerGetAttribute)          \
  EACH(cuStreamCreate)                 \
  EACH(cuStreamDestroy)                \
  EACH(cuStreamIsCapturing)            \
  EACH(cuStreamQuery)                  \
  EACH(cuStreamSynchronize)            \
  EACH(cuStreamWaitEvent)              \
  EACH(cuThreadExchangeStreamCaptureMode)

/// Functions of NVIDIA's driver library, libcuda.so.1, in the versions of CUDA 12.0: any later driver has them.
struct functions {
#define SYNCYTE_MEMBER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  SYNCYTE_DRIVER_FUNCTIONS(SYNCYTE_MEMBER)
#undef SYNCYTE_MEMBER
};

/// The functions; opens the library and starts the driver (cuInit) when first called. Throws SYNCYTE_ERR_UNSUPPORTED
/// with the reason if there is no library, no device or an older driver, and in a process that was forked after the
/// driver had started. Thread-safe.
const functions& started();

/// Throws unless the code is CUDA_SUCCESS; `step` is the function that has returned it. After an error that stays, such
/// as an illegal access on a device, later messages name the first function that has returned it.
void check(CUresult code, const char* step);

/// Checks a step that gives a device access to memory, like check(); but CUDA_ERROR_INVALID_DEVICE means here that the
/// memory is out of the device's reach, and is SYNCYTE_ERR_UNSUPPORTED.
void check_access(CUresult code, const char* step);

/// Throws SYNCYTE_ERR_UNSUPPORTED: the driver is too old for kernels that this version of CUDA has compiled.
[[noreturn]] void refuse_kernels(const char* toolkit);

/// Number of devices, counted without starting the driver where NVIDIA's management library (libnvidia-ml.so.1) can be
/// asked, so that a process that is forked later may use them. 0 if the driver cannot be used. Thread-safe.
int count_devices() noexcept;

/// Why count_devices() is 0, in the driver's words.
std::string why_no_device();

/// Devices that CUDA_VISIBLE_DEVICES leaves, by the management library; -1 if it cannot be asked, or the variable names
/// parts of devices (MIG). Source of the rules: CUDA's programming guide, "CUDA Environment Variables".
int count_visible_devices();

}  // namespace syncyte::memory::driver
