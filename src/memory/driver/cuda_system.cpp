// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "memory/device.hpp"
#include "memory/device_system.hpp"
#include "memory/driver/context.hpp"

namespace syncyte::memory {
namespace {

using driver::check;
using driver::check_access;
using driver::device_scope;
using driver::driver_number;
using driver::started;

int attribute(CUdevice_attribute which, int device) {
  int value = 0;
  check(started().cuDeviceGetAttribute(&value, which, driver_number(device)), "cuDeviceGetAttribute");
  return value;
}

void require_attribute(CUdevice_attribute which, const char* what, int device) {
  base::require(attribute(which, device) != 0, SYNCYTE_ERR_UNSUPPORTED,
                "device {} cannot share memory between processes: it has no {} (attribute {} is 0)", device, what,
                static_cast<int>(which));
}

CUmemLocation location_of(int device) {
  CUmemLocation result{};
  result.type = CU_MEM_LOCATION_TYPE_DEVICE;
  result.id = driver_number(device);
  return result;
}

CUmemAllocationProp memory_on(int device) {
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = location_of(device);
  wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  wanted.allocFlags.gpuDirectRDMACapable =
      attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, device) != 0;
  return wanted;
}

/// Owns a reference to physical memory.
class physical_memory {
 public:
  physical_memory(CUmemGenericAllocationHandle handle, const driver::functions& by) : handle_(handle), by_(by) {}
  ~physical_memory() { by_.cuMemRelease(handle_); }
  physical_memory(const physical_memory&) = delete;
  physical_memory& operator=(const physical_memory&) = delete;

  CUmemGenericAllocationHandle get() const { return handle_; }

 private:
  CUmemGenericAllocationHandle handle_;
  const driver::functions& by_;
};

class cuda_range final : public device_range {
 public:
  cuda_range(int device, std::size_t bytes) : device_(device), bytes_(bytes), users_{device} {
    const device_scope on(device);
    check(on->cuMemAddressReserve(&begin_, bytes, 0, 0, 0), "cuMemAddressReserve");
  }

  ~cuda_range() override {
    try {
      const device_scope on(device_);
      if (std::ranges::all_of(users_, [](int device) { return cuda_backend().finish(device); }))
        unmap(on);
      else
        log_kept();
    } catch (const base::error&) {
      // a forked child does not own the range; at the process' end the driver frees it
    }
  }

  std::byte* data() const override { return reinterpret_cast<std::byte*>(begin_); }

  descriptor create(std::size_t offset, std::size_t bytes) override {
    const device_scope on(device_);
    const CUmemAllocationProp wanted = memory_on(device_);
    CUmemGenericAllocationHandle handle = 0;
    check(on->cuMemCreate(&handle, bytes, &wanted, 0), "cuMemCreate");
    const physical_memory made(handle, *on.operator->());
    map_at(on, offset, bytes, handle, device_access::write);
    check(on->cuMemsetD8Async(begin_ + offset, 0, bytes, nullptr), "cuMemsetD8Async");
    check(on->cuStreamSynchronize(nullptr), "cuStreamSynchronize");
    int file = -1;
    constexpr const char* step = "cuMemExportToShareableHandle";
    errno = 0;
    const CUresult code = on->cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (code != CUDA_SUCCESS) check_open_files(step, errno);
    check(code, step);
    return descriptor(file);
  }

  void map(std::size_t offset, std::size_t bytes, const descriptor& file, device_access access) override {
    const device_scope on(device_);
    CUmemGenericAllocationHandle handle = 0;
    auto* const given = reinterpret_cast<void*>(static_cast<std::intptr_t>(file.number()));
    check_access(on->cuMemImportFromShareableHandle(&handle, given, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                 "cuMemImportFromShareableHandle");
    const physical_memory imported(handle, *on.operator->());
    map_at(on, offset, bytes, handle, access);
  }

  void allow(int device) override {
    const std::lock_guard lock(mutex_);
    const device_scope on(device_);
    users_.insert(device);
    for (const auto& [offset, bytes] : mapped_) set_access(on, offset, bytes, device, device_access::write);
  }

 private:
  void map_at(const device_scope& on, std::size_t offset, std::size_t bytes, CUmemGenericAllocationHandle of,
              device_access access) {
    check_access(on->cuMemMap(begin_ + offset, bytes, 0, of, 0), "cuMemMap");
    mapped_.emplace_back(offset, bytes);
    set_access(on, offset, bytes, device_, access);
  }

  void set_access(const device_scope& on, std::size_t offset, std::size_t bytes, int device,
                  device_access wanted) const {
    const CUmemAccessDesc access{location_of(device), wanted == device_access::write
                                                          ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                          : CU_MEM_ACCESS_FLAGS_PROT_READ};
    check_access(on->cuMemSetAccess(begin_ + offset, bytes, &access, 1), "cuMemSetAccess");
  }

  void unmap(const device_scope& on) const {
    for (const auto& [offset, bytes] : mapped_) on->cuMemUnmap(begin_ + offset, bytes);
    on->cuMemAddressFree(begin_, bytes_);
  }

  void log_kept() const {
    base::log(SYNCYTE_LOG_WARN,
              "{} bytes of device {} are not freed: it has failed, or cannot be waited for while one of its "
              "streams is captured into a CUDA graph",
              bytes_, device_);
  }

  int device_;
  std::size_t bytes_;
  CUdeviceptr begin_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> mapped_;  // offsets and bytes
  std::mutex mutex_;                                         // guards the member below
  std::set<int> users_;                                      // devices that may access the range
};

class cuda_event final : public device_event {
 public:
  explicit cuda_event(int device) : device_(device) {
    const device_scope on(device);
    check(on->cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  }
  ~cuda_event() override {
    try {
      const device_scope on(device_);
      on->cuEventDestroy(event_);
    } catch (const base::error&) {
      // in a forked child
    }
  }

  void record(void* stream) override {
    const device_scope on(device_);
    check(on->cuEventRecord(event_, static_cast<CUstream>(stream)), "cuEventRecord");
  }
  bool is_done() override {
    const device_scope on(device_);
    const CUresult code = on->cuEventQuery(event_);
    if (code == CUDA_ERROR_NOT_READY) return false;
    check(code, "cuEventQuery");
    return true;
  }
  void wait() override {
    const device_scope on(device_);
    check(on->cuEventSynchronize(event_), "cuEventSynchronize");
  }

 private:
  int device_;
  CUevent event_ = nullptr;
};

/// A kernel of an image that the driver has loaded, or loads now.
CUkernel find_kernel(const device_scope& on, const kernel_image& image, const char* name, bool is_captured) {
  static std::mutex mutex;
  static std::map<const void*, CUlibrary> libraries;
  static std::map<std::pair<const void*, std::string>, CUkernel> kernels;
  const std::lock_guard lock(mutex);
  CUkernel& kernel = kernels[{image.binary, name}];
  if (kernel != nullptr) return kernel;
  base::require(!is_captured, SYNCYTE_ERR_UNSUPPORTED,
                "kernel {} is not loaded yet, and nothing can be loaded while a CUDA graph is captured: run the "
                "operation once before the capture",
                name);
  CUlibrary& library = libraries[image.binary];
  if (library == nullptr) {
    const CUresult code = on->cuLibraryLoadData(&library, image.binary, nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (code == CUDA_ERROR_NO_BINARY_FOR_GPU || code == CUDA_ERROR_INVALID_PTX ||
        code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
      driver::refuse_kernels(image.toolkit);
    check(code, "cuLibraryLoadData");
  }
  check(on->cuLibraryGetKernel(&kernel, library, name), "cuLibraryGetKernel");
  return kernel;
}

class cuda final : public device_system {
 public:
  int current() override {
    CUcontext context = nullptr;
    CUdevice number = 0;
    check(started().cuCtxGetCurrent(&context), "cuCtxGetCurrent");
    if (context != nullptr) check(started().cuCtxGetDevice(&number), "cuCtxGetDevice");
    return number;  // the driver numbers a process's devices as the process does
  }

  device_id id(int device) override {
    CUuuid found{};
    check(started().cuDeviceGetUuid(&found, driver_number(device)), "cuDeviceGetUuid");
    device_id result{};
    std::memcpy(result.data(), found.bytes, result.size());
    return result;
  }

  int find(const device_id& wanted) override {
    int count = 0;
    check(started().cuDeviceGetCount(&count), "cuDeviceGetCount");
    for (int device = 0; device < count; ++device)
      if (id(device) == wanted) return device;
    return -1;
  }

  bool is_peer(int device, int other) override {
    int can = 1;
    if (device != other)
      check(started().cuDeviceCanAccessPeer(&can, driver_number(device), driver_number(other)),
            "cuDeviceCanAccessPeer");
    return can != 0;
  }

  bool has_atomics(int device, int other) override {
    int has = 1;
    if (device != other)
      check(started().cuDeviceGetP2PAttribute(&has, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
                                              driver_number(device), driver_number(other)),
            "cuDeviceGetP2PAttribute");
    return has != 0;
  }

  std::size_t page_bytes(int device) override {
    require_attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, "virtual memory management", device);
    require_attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, "file descriptors of memory",
                      device);
    const device_scope on(device);
    const CUmemAllocationProp wanted = memory_on(device);
    std::size_t bytes = 0;
    check(on->cuMemGetAllocationGranularity(&bytes, &wanted, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
          "cuMemGetAllocationGranularity");
    return bytes;
  }

  std::unique_ptr<device_range> reserve(int device, std::size_t bytes) override {
    return std::make_unique<cuda_range>(device, bytes);
  }

  std::unique_ptr<device_event> make_event(int device) override { return std::make_unique<cuda_event>(device); }

  pinned_memory allocate_pinned(int device, std::size_t bytes) override {
    const device_scope on(device);
    void* made = nullptr;
    check(on->cuMemHostAlloc(&made, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP), "cuMemHostAlloc");
    std::memset(made, 0, bytes);
    return pinned_memory(static_cast<std::byte*>(made), {device});
  }

  void free_pinned(int device, std::byte* data) noexcept override {
    try {
      const device_scope on(device);
      on->cuMemFreeHost(data);
    } catch (const base::error&) {
      // in a forked child
    }
  }

  void require_host_addresses(int device) override {
    constexpr CUdevice_attribute wanted = CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM;
    base::require(attribute(wanted, device) != 0, SYNCYTE_ERR_UNSUPPORTED,
                  "device {} cannot access host memory at the host's addresses (attribute {} is 0)", device,
                  static_cast<int>(wanted));
  }

  void register_host(int device, std::span<std::byte> memory) override {
    const device_scope on(device);
    constexpr unsigned flags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
    check(on->cuMemHostRegister(memory.data(), memory.size(), flags), "cuMemHostRegister");
  }

  void unregister_host(int device, std::byte* data) noexcept override {
    try {
      const device_scope on(device);
      on->cuMemHostUnregister(data);
    } catch (const base::error&) {
      // in a forked child
    }
  }

  bool is_captured(int device, void* stream) override {
    if (stream == nullptr) return false;  // the default stream cannot be captured
    const device_scope on(device);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    check(on->cuStreamIsCapturing(static_cast<CUstream>(stream), &status), "cuStreamIsCapturing");
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
  }

  void launch(int device, const kernel_image& image, const char* name, const void* argument, std::int64_t threads,
              void* stream) override {
    constexpr std::int64_t block = 256, blocks_per_processor = 8;
    const device_scope on(device);
    const CUkernel kernel = find_kernel(on, image, name, is_captured(device, stream));
    const std::int64_t most = blocks_per_processor * attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>((threads + block - 1) / block, 1, most));
    void* arguments[] = {const_cast<void*>(argument)};
    check(on->cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), blocks, 1, 1, block, 1, 1, 0,
                             static_cast<CUstream>(stream), arguments, nullptr),
          "cuLaunchKernel");
  }
};

}  // namespace

device_system& cuda_system() {
  static cuda system;
  return system;
}

}  // namespace syncyte::memory
