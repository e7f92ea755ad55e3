// SPDX-License-Identifier: BSD-3-Clause
// The stand-in's devices, contexts and errors, and how a program finds the functions.

#include <dlfcn.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "standin.hpp"

namespace standin {
namespace {

std::string text_of(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? otherwise : value;
}

bool has_started = false;
std::vector<int> devices;
std::set<CUdevice> retained;  // devices whose primary context is active
thread_local std::vector<CUcontext> contexts;

void find_devices() {
  const int all = std::stoi(text_of("STANDIN_DEVICES", "2"));
  const char* const listed = std::getenv("CUDA_VISIBLE_DEVICES");
  for (int i = 0; listed == nullptr && i < all; ++i) devices.push_back(i);
  for (const char* at = listed; at != nullptr && *at != '\0';) {
    char* end = nullptr;
    const long number = std::strtol(at, &end, 10);
    if (end == at || number < 0 || number >= all) return;
    devices.push_back(static_cast<int>(number));
    at = *end == ',' ? end + 1 : end;
  }
}

/// Whether a list of numbers, "102,103", has one.
bool lists(const std::string& numbers, int wanted) {
  return (',' + numbers + ',').find(',' + std::to_string(wanted) + ',') != std::string::npos;
}

CUcontext primary(CUdevice device) {
  return reinterpret_cast<CUcontext>(std::size_t{0x1000} + static_cast<std::size_t>(device));
}

}  // namespace

std::recursive_mutex& mutex() {
  static std::recursive_mutex one;
  return one;
}

CUresult failure_now(const char* function) {
  static std::string counted;  // value of the variable
  static int calls = 0;
  const std::string wanted = text_of("STANDIN_FAIL", "");
  if (wanted != counted) calls = 0;
  counted = wanted;
  const auto colon = wanted.find(':');
  if (colon == std::string::npos || wanted.substr(0, colon) != function ||
      ++calls != std::stoi(wanted.substr(colon + 1)))
    return CUDA_SUCCESS;
  const auto second = wanted.find(':', colon + 1);
  if (second == std::string::npos) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::string outcome = wanted.substr(second + 1);
  if (outcome == "kill") ::raise(SIGKILL);
  return static_cast<CUresult>(std::stoi(outcome));
}

const std::vector<int>& visible() { return devices; }

int number_of(int physical) {
  const auto found = std::ranges::find(devices, physical);
  return found == devices.end() ? -1 : static_cast<int>(found - devices.begin());
}

CUdevice device_of(CUcontext context) { return static_cast<int>(reinterpret_cast<std::size_t>(context) - 0x1000); }

std::size_t bytes_per_device() { return std::stoull(text_of("STANDIN_BYTES", "8589934592")); }

CUresult& sticky() {
  static CUresult code = CUDA_SUCCESS;
  return code;
}

}  // namespace standin

using namespace standin;

STANDIN_API CUresult cuInit(unsigned) {
  const std::lock_guard lock(mutex());
  if (has_started) return CUDA_SUCCESS;
  find_devices();
  if (devices.empty()) return CUDA_ERROR_NO_DEVICE;
  if (!open_arena()) return CUDA_ERROR_OUT_OF_MEMORY;
  has_started = true;
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuDriverGetVersion(int* version) {
  *version = std::stoi(text_of("STANDIN_VERSION", std::to_string(CUDA_VERSION).c_str()));
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuDeviceGetCount(int* count) {
  if (!has_started) return CUDA_ERROR_NOT_INITIALIZED;
  *count = static_cast<int>(devices.size());
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuDeviceGet(CUdevice* device, int number) {
  if (!has_started) return CUDA_ERROR_NOT_INITIALIZED;
  if (number < 0 || number >= static_cast<int>(devices.size())) return CUDA_ERROR_INVALID_DEVICE;
  *device = number;
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  std::memset(uuid, 0, sizeof *uuid);
  uuid->bytes[0] = 0x53;
  uuid->bytes[15] = static_cast<char>(devices[static_cast<std::size_t>(device)]);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  if (lists(text_of("STANDIN_LACKS", ""), attribute)) {
    *value = 0;
    return CUDA_SUCCESS;
  }
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 2;
      break;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
      *value = 1;
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
  *can = text_of("STANDIN_NO_PEERS", "").empty();
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute, CUdevice, CUdevice) {
  *value = text_of("STANDIN_NO_ATOMICS", "").empty();
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (device < 0 || device >= static_cast<int>(devices.size())) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard lock(mutex());
  retained.insert(device);
  *context = primary(device);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* is_active) {
  const std::lock_guard lock(mutex());
  *flags = 0;
  *is_active = retained.contains(device);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuCtxPushCurrent(CUcontext context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  contexts.push_back(context);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuCtxPopCurrent(CUcontext* context) {
  if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr) *context = contexts.back();
  contexts.pop_back();
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return CUDA_SUCCESS;
}

/// Replaces this thread's current context; null removes it.
STANDIN_API CUresult cuCtxSetCurrent(CUcontext context) {
  if (!contexts.empty()) contexts.pop_back();
  if (context != nullptr) contexts.push_back(context);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuCtxGetDevice(CUdevice* device) {
  if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *device = device_of(contexts.back());
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuGetErrorName(CUresult code, const char** name) {
  switch (code) {
    case CUDA_SUCCESS:
      *name = "CUDA_SUCCESS";
      break;
    case CUDA_ERROR_INVALID_VALUE:
      *name = "CUDA_ERROR_INVALID_VALUE";
      break;
    case CUDA_ERROR_OUT_OF_MEMORY:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      break;
    case CUDA_ERROR_NO_DEVICE:
      *name = "CUDA_ERROR_NO_DEVICE";
      break;
    case CUDA_ERROR_INVALID_DEVICE:
      *name = "CUDA_ERROR_INVALID_DEVICE";
      break;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
      break;
    case CUDA_ERROR_NOT_SUPPORTED:
      *name = "CUDA_ERROR_NOT_SUPPORTED";
      break;
    default:
      *name = "CUDA_ERROR_UNKNOWN";
  }
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuGetErrorString(CUresult code, const char** text) {
  cuGetErrorName(code, text);
  *text = code == CUDA_ERROR_NO_DEVICE ? "no CUDA-capable device is detected" : *text;
  return CUDA_SUCCESS;
}

/// Finds a function of this library, by its newest version's name.
STANDIN_API CUresult cuGetProcAddress(const char* name, void** function, int, cuuint64_t,
                                      CUdriverProcAddressQueryResult* result) {
  static void* const self = [] {
    Dl_info found;
    dladdr(reinterpret_cast<void*>(&mutex), &found);
    return dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  *function = nullptr;
  for (const char* version : {"_v2", ""})
    if (*function == nullptr) *function = dlsym(self, (std::string(name) + version).c_str());
  const bool is_found = *function != nullptr;
  if (result != nullptr) *result = is_found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return is_found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
