// SPDX-License-Identifier: BSD-3-Clause
// The stand-in's kernels: host code of the same bodies, from libstandin-kernels.so beside this library. It has, for
// each kernel, the argument's size and a function that runs the kernel's threads; and the version of CUDA that has
// compiled the kernels for devices.

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "standin.hpp"

namespace standin {
namespace {

using run_threads = void (*)(void* argument, void* (*own)(const void*), std::int64_t threads);

struct kernel {
  std::size_t argument_bytes;
  run_threads run;
};

/// The library of kernels; null if there is none.
void* host_kernels() {
  static void* const library = [] {
    Dl_info found;
    dladdr(reinterpret_cast<void*>(&mutex), &found);
    const std::string here = found.dli_fname;
    return dlopen((here.substr(0, here.rfind('/') + 1) + "libstandin-kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  return library;
}

CUdevice running_on = 0;  // the device of the kernel that runs: one at a time

/// The stand-in's own address of what a kernel accesses; null, with an error, for host memory that is not pinned and
/// memory that the kernel's device may not read.
void* kernels_address(const void* address) {
  const bool is_legal = is_pinned(address) && is_accessible(running_on, address, 1, rights::read);
  if (address == nullptr || is_legal) return own_address(address);
  sticky() = CUDA_ERROR_ILLEGAL_ADDRESS;
  return nullptr;
}

template <class T>
const T* symbol(const std::string& name) {
  return host_kernels() == nullptr ? nullptr : static_cast<const T*>(dlsym(host_kernels(), name.c_str()));
}

}  // namespace
}  // namespace standin

using namespace standin;

/// Drivers run kernels of their own major version of CUDA, and of older ones.
STANDIN_API CUresult cuLibraryLoadData(CUlibrary* library, const void* binary, CUjit_option*, void**, unsigned,
                                       CUlibraryOption*, void**, unsigned) {
  const std::lock_guard lock(mutex());
  if (const CUresult code = failure_now("cuLibraryLoadData"); code != CUDA_SUCCESS) return code;
  if (const CUresult code = refuse_in_capture(); code != CUDA_SUCCESS) return code;
  const auto* const toolkit = symbol<int>("standin_toolkit");
  int version = 0;
  cuDriverGetVersion(&version);
  if (toolkit == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  if (version / 1000 < *toolkit / 1000) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  *library = static_cast<CUlibrary>(const_cast<void*>(binary));
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuLibraryGetKernel(CUkernel* found, CUlibrary, const char* name) {
  const std::lock_guard lock(mutex());
  const auto* const bytes = symbol<std::size_t>(std::string("standin_bytes_") + name);
  const auto* const run = symbol<run_threads>(std::string("standin_run_") + name);
  if (bytes == nullptr || run == nullptr) return CUDA_ERROR_NOT_FOUND;
  *found = reinterpret_cast<CUkernel>(new kernel{*bytes, *run});
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuLaunchKernel(CUfunction function, unsigned grid, unsigned, unsigned, unsigned block, unsigned,
                                    unsigned, unsigned, CUstream on, void** arguments, void**) {
  const std::lock_guard lock(mutex());
  if (const CUresult code = failure_now("cuLaunchKernel"); code != CUDA_SUCCESS) return code;
  if (sticky() != CUDA_SUCCESS) return sticky();
  const kernel what = *reinterpret_cast<const kernel*>(function);
  const auto* const given = static_cast<const std::byte*>(arguments[0]);
  const auto argument = std::make_shared<std::vector<std::byte>>(given, given + what.argument_bytes);
  return add_to_stream(on, [=](CUdevice device) {
    running_on = device;
    what.run(argument->data(), kernels_address, std::int64_t{grid} * block);
  });
}
