// SPDX-License-Identifier: BSD-3-Clause
#include "memory/driver/library.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <mutex>
#include <optional>

#include "base/error.hpp"

namespace syncyte::memory::driver {
namespace {

constexpr int oldest_version = 12000;
constexpr const char* in_forked_child = "a process that is forked after its parent has used CUDA cannot use it";

/// Result of starting the driver.
struct start_result {
  functions found;
  CUresult code = CUDA_SUCCESS;
  std::string reason;  // why the driver cannot be used; "" if it can
};

std::atomic<bool> has_started{false};
std::atomic<bool> is_forked{false};
std::atomic<const functions*> for_messages{nullptr};

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string text_of(CUresult code) {
  const char *name = nullptr, *text = nullptr;
  const functions* const library = for_messages.load();
  if (library == nullptr || library->cuGetErrorName(code, &name) != CUDA_SUCCESS ||
      library->cuGetErrorString(code, &text) != CUDA_SUCCESS)
    return fmt::format("error {}", static_cast<int>(code));
  return fmt::format("{} ({})", text, name);
}

/// Looks up all functions. Returns the reason if that fails, or "".
std::string find(functions& result) {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fmt::format("the machine has no NVIDIA driver: {}", ::dlerror());
  const auto search = reinterpret_cast<decltype(&::cuGetProcAddress)>(::dlsym(library, "cuGetProcAddress_v2"));
  if (search == nullptr) return "its NVIDIA driver is older than CUDA 12.0";
  const auto find_one = [&](const char* name) -> void* {
    void* address = nullptr;
    const CUresult code = search(name, &address, oldest_version, CU_GET_PROC_ADDRESS_DEFAULT, nullptr);
    return code == CUDA_SUCCESS ? address : nullptr;
  };
#define SYNCYTE_FIND(name)                                            \
  result.name = reinterpret_cast<decltype(&::name)>(find_one(#name)); \
  if (result.name == nullptr) return "the NVIDIA driver has no " #name;
  SYNCYTE_DRIVER_FUNCTIONS(SYNCYTE_FIND)
#undef SYNCYTE_FIND
  return {};
}

start_result start() {
  start_result result;
  result.reason = find(result.found);
  if (!result.reason.empty()) return result;
  static const functions kept = result.found;
  for_messages = &kept;
  int version = 0;
  if (kept.cuDriverGetVersion(&version) == CUDA_SUCCESS && version < oldest_version) {
    result.reason = fmt::format("the NVIDIA driver is of CUDA {}; expected {} or later", version_text(version),
                                version_text(oldest_version));
    return result;
  }
  ::pthread_atfork(nullptr, nullptr, [] {
    if (has_started) is_forked = true;
  });
  has_started = true;
  result.code = kept.cuInit(0);
  if (result.code != CUDA_SUCCESS) result.reason = text_of(result.code);
  return result;
}

const start_result& start_once() {
  static const start_result result = start();
  return result;
}

/// Errors after which a context can do nothing any more.
bool stays(CUresult code) {
  return code == CUDA_ERROR_ILLEGAL_ADDRESS || code == CUDA_ERROR_LAUNCH_FAILED ||
         code == CUDA_ERROR_ILLEGAL_INSTRUCTION || code == CUDA_ERROR_MISALIGNED_ADDRESS ||
         code == CUDA_ERROR_HARDWARE_STACK_ERROR || code == CUDA_ERROR_ECC_UNCORRECTABLE;
}

syncyte_status_t status_of(CUresult code) {
  switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return SYNCYTE_ERR_MEMORY;
    case CUDA_ERROR_INVALID_DEVICE:
      return SYNCYTE_ERR_ARGUMENT;
    case CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED:
      return SYNCYTE_ERR_BUSY;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
      return SYNCYTE_ERR_UNSUPPORTED;
    default:
      return SYNCYTE_ERR_INTERNAL;
  }
}

}  // namespace

const functions& started() {
  base::require(!is_forked, SYNCYTE_ERR_UNSUPPORTED, "{}", in_forked_child);
  const start_result& result = start_once();
  base::require(result.reason.empty(), SYNCYTE_ERR_UNSUPPORTED, "CUDA: {}", result.reason);
  return result.found;
}

void check(CUresult code, const char* step) {
  static std::atomic<const char*> first{nullptr};  // function that has met an error that stays
  if (code == CUDA_SUCCESS) return;
  const char* none = nullptr;
  if (stays(code)) first.compare_exchange_strong(none, step);
  const char* const met = first;
  const std::string after = met != nullptr && met != step ? fmt::format(" (first met by {})", met) : "";
  base::fail(status_of(code), "CUDA: {} failed: {}{}", step, text_of(code), after);
}

void check_access(CUresult code, const char* step) {
  base::require(code != CUDA_ERROR_INVALID_DEVICE, SYNCYTE_ERR_UNSUPPORTED,
                "CUDA: {} failed: {}: the devices cannot access each other's memory, or belong to different containers",
                step, text_of(code));
  check(code, step);
}

void refuse_kernels(const char* toolkit) {
  int version = 0;
  check(started().cuDriverGetVersion(&version), "cuDriverGetVersion");
  base::fail(
      SYNCYTE_ERR_UNSUPPORTED,
      "the NVIDIA driver of CUDA {} cannot run kernels that CUDA {} has compiled; use a newer driver, or compile "
      "Syncyte with an older toolkit",
      version_text(version), toolkit);
}

int count_devices() noexcept {
  try {
    if (is_forked) return 0;
    static const int visible = count_visible_devices();  // asking takes milliseconds; the driver's answer stays too
    if (!has_started && visible >= 0) return visible;
    int count = 0;
    return started().cuDeviceGetCount(&count) == CUDA_SUCCESS ? count : 0;
  } catch (const base::error&) {
    return 0;
  }
}

std::string why_no_device() {
  if (is_forked) return in_forked_child;
  const std::string reason = start_once().reason;
  return reason.empty() ? text_of(CUDA_ERROR_NO_DEVICE) : reason;
}

}  // namespace syncyte::memory::driver
