// SPDX-License-Identifier: BSD-3-Clause
// The stand-in's memory: ranges of addresses, memory files, and what maps one to the other.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>

#include "standin.hpp"

namespace standin {
namespace {

using handle = CUmemGenericAllocationHandle;

/// A memory file; mappings and handles refer to it.
struct allocation {
  int file;
  std::size_t bytes;
  int physical;  // device
  bool is_exportable;
  int references;
};

struct mapping {
  std::size_t bytes;
  handle of;
  std::map<CUdevice, rights> allowed{};

  rights of_device(CUdevice number) const {
    const auto found = allowed.find(number);
    return found == allowed.end() ? rights::none : found->second;
  }
};

std::byte* arena = nullptr;  // device addresses; the stand-in's own are arena_bytes higher
std::byte* next_range = nullptr;
std::map<std::byte*, std::size_t> ranges;  // reserved addresses
std::map<handle, allocation> allocations;
std::map<std::byte*, mapping> mappings;
std::map<std::byte*, std::size_t> blocks;      // of cuMemAlloc
std::map<std::byte*, std::size_t> pinned;      // of cuMemHostAlloc
std::map<std::byte*, std::size_t> registered;  // of cuMemHostRegister
std::map<int, std::size_t> used;               // by physical device
handle last_handle = 0;

/// Lifts this process's limit of open files during its lifetime: the driver's own memory has no files.
class unlimited_files {
 public:
  unlimited_files() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit most{before_.rlim_max, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &most);
  }
  ~unlimited_files() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  unlimited_files(const unlimited_files&) = delete;
  unlimited_files& operator=(const unlimited_files&) = delete;

 private:
  rlimit before_{};
};

std::byte* pointer(CUdeviceptr address) { return reinterpret_cast<std::byte*>(address); }

template <class Value>
auto entry_before(std::map<std::byte*, Value>& of, std::byte* address) {
  auto found = of.upper_bound(address);
  return found == of.begin() ? of.end() : std::prev(found);
}

bool overlaps(const std::map<std::byte*, std::size_t>& of, std::byte* first, std::size_t bytes) {
  for (const auto& [begin, length] : of)
    if (first < begin + length && begin < first + bytes) return true;
  return false;
}

void drop(handle of) {
  allocation& its = allocations.at(of);
  if (--its.references > 0) return;
  used[its.physical] -= its.bytes;
  ::close(its.file);
  allocations.erase(of);
}

std::size_t rounded(std::size_t bytes) { return (bytes + granularity - 1) / granularity * granularity; }

/// Protection of the stand-in's own mapping, by which it does what any of the devices may do.
int protection_of(const mapping& its) {
  rights most = rights::none;
  for (const auto& [device, allowed] : its.allowed) most = std::max(most, allowed);
  return most == rights::write ? PROT_READ | PROT_WRITE : most == rights::read ? PROT_READ : PROT_NONE;
}

/// Whether a device can access the memory of an allocation.
bool can_access(CUdevice device, const allocation& of) {
  int is_peer = 0;
  cuDeviceCanAccessPeer(&is_peer, device, number_of(of.physical));
  return is_peer != 0 || number_of(of.physical) == device;
}

rights rights_of(CUmemAccess_flags flags) {
  if (flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return rights::write;
  return flags == CU_MEM_ACCESS_FLAGS_PROT_READ ? rights::read : rights::none;
}

}  // namespace

bool open_arena() {
  void* const made = ::mmap(nullptr, 2 * arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return false;
  arena = static_cast<std::byte*>(made);
  next_range = arena + (granularity - reinterpret_cast<std::uintptr_t>(arena) % granularity) % granularity;
  return true;
}

bool is_device_address(const void* address) { return address >= arena && address < arena + arena_bytes; }

void* own_address(const void* address) {
  auto* const at = static_cast<std::byte*>(const_cast<void*>(address));
  return is_device_address(address) ? at + arena_bytes : at;
}

bool is_accessible(CUdevice by, const void* address, std::size_t bytes, rights wanted) {
  if (!is_device_address(address)) return true;
  auto* at = static_cast<std::byte*>(const_cast<void*>(address));
  const std::byte* const end = at + bytes;
  while (at < end) {
    const auto found = entry_before(mappings, at);
    if (found == mappings.end() || at >= found->first + found->second.bytes) return false;
    if (found->second.of_device(by) < wanted) return false;
    at = found->first + found->second.bytes;
  }
  return true;
}

bool is_pinned(const void* address) {
  if (is_device_address(address)) return true;
  auto* const at = static_cast<std::byte*>(const_cast<void*>(address));
  return overlaps(pinned, at, 1) || overlaps(registered, at, 1);
}

}  // namespace standin

using namespace standin;

/// What the program has not given back: ranges of addresses, memory, mappings. For tests.
STANDIN_API void standin_count(std::size_t* reserved, std::size_t* allocated, std::size_t* mapped) {
  const std::lock_guard lock(mutex());
  *reserved = ranges.size();
  *allocated = allocations.size();
  *mapped = mappings.size();
}

/// Ranges of host memory that are registered. For tests.
STANDIN_API std::size_t standin_registered() {
  const std::lock_guard lock(mutex());
  return registered.size();
}

STANDIN_API CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*,
                                                   CUmemAllocationGranularity_flags) {
  *bytes = granularity;
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuMemCreate(handle* made, std::size_t bytes, const CUmemAllocationProp* wanted,
                                 unsigned long long) {
  const std::lock_guard lock(mutex());
  if (const CUresult code = failure_now("cuMemCreate"); code != CUDA_SUCCESS) return code;
  if (bytes == 0 || bytes % granularity != 0 || wanted->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
      wanted->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_INVALID_VALUE;
  const int number = wanted->location.id;
  if (number < 0 || number >= static_cast<int>(visible().size())) return CUDA_ERROR_INVALID_DEVICE;
  const int physical = visible()[static_cast<std::size_t>(number)];
  if (used[physical] + bytes > bytes_per_device()) return CUDA_ERROR_OUT_OF_MEMORY;
  const unlimited_files own;
  const int file = ::memfd_create(("standin-gpu-" + std::to_string(physical)).c_str(), MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  used[physical] += bytes;
  *made = ++last_handle;
  const bool is_exportable = (wanted->requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0;
  allocations[*made] = {file, bytes, physical, is_exportable, 1};
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuMemRelease(handle of) {
  const std::lock_guard lock(mutex());
  if (!allocations.contains(of)) return CUDA_ERROR_INVALID_VALUE;
  drop(of);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuMemExportToShareableHandle(void* file, handle of, CUmemAllocationHandleType type,
                                                  unsigned long long) {
  const std::lock_guard lock(mutex());
  if (const CUresult code = failure_now("cuMemExportToShareableHandle"); code != CUDA_SUCCESS) return code;
  const auto found = allocations.find(of);
  if (found == allocations.end() || !found->second.is_exportable || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return CUDA_ERROR_INVALID_VALUE;
  const int given = ::dup(found->second.file);
  *static_cast<int*>(file) = given;
  return given < 0 || ::fcntl(given, F_SETFD, FD_CLOEXEC) != 0 ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

STANDIN_API CUresult cuMemImportFromShareableHandle(handle* made, void* file, CUmemAllocationHandleType type) {
  const std::lock_guard lock(mutex());
  if (const CUresult code = failure_now("cuMemImportFromShareableHandle"); code != CUDA_SUCCESS) return code;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  const int given = static_cast<int>(reinterpret_cast<std::intptr_t>(file));
  char name[128] = "";
  struct stat status{};
  int physical = 0;
  const std::string link = "/proc/self/fd/" + std::to_string(given);
  if (::readlink(link.c_str(), name, sizeof name - 1) < 0 || ::fstat(given, &status) != 0 ||
      std::sscanf(name, "/memfd:standin-gpu-%d", &physical) != 1)
    return CUDA_ERROR_INVALID_VALUE;
  const unlimited_files own;
  *made = ++last_handle;
  allocations[*made] = {::fcntl(given, F_DUPFD_CLOEXEC, 3), static_cast<std::size_t>(status.st_size), physical, true,
                        1};
  used[physical] += static_cast<std::size_t>(status.st_size);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuMemAddressReserve(CUdeviceptr* range, std::size_t bytes, std::size_t alignment, CUdeviceptr hint,
                                         unsigned long long) {
  const std::lock_guard lock(mutex());
  if (const CUresult code = failure_now("cuMemAddressReserve"); code != CUDA_SUCCESS) return code;
  if (arena == nullptr || bytes == 0 || bytes % granularity != 0) return CUDA_ERROR_INVALID_VALUE;
  std::byte* at = pointer(hint);
  if (at == nullptr || !is_device_address(at) || hint % granularity != 0 || overlaps(ranges, at, bytes)) {
    const std::size_t wanted = std::max(alignment, granularity);
    at = next_range + (wanted - reinterpret_cast<std::uintptr_t>(next_range) % wanted) % wanted;
    if (bytes > static_cast<std::size_t>(arena + arena_bytes - at)) return CUDA_ERROR_OUT_OF_MEMORY;
    next_range = at + bytes;
  }
  ranges[at] = bytes;
  *range = reinterpret_cast<CUdeviceptr>(at);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuMemAddressFree(CUdeviceptr range, std::size_t bytes) {
  const std::lock_guard lock(mutex());
  const auto found = ranges.find(pointer(range));
  if (found == ranges.end() || found->second != bytes) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& [begin, its] : mappings)
    if (begin >= found->first && begin < found->first + bytes) return CUDA_ERROR_INVALID_VALUE;
  ranges.erase(found);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset, handle of,
                              unsigned long long) {
  const std::lock_guard lock(mutex());
  if (const CUresult code = failure_now("cuMemMap"); code != CUDA_SUCCESS) return code;
  std::byte* const at = pointer(address);
  const auto found = allocations.find(of);
  if (found == allocations.end() || offset != 0 || bytes != found->second.bytes || address % granularity != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const auto range = entry_before(ranges, at);
  if (range == ranges.end() || at + bytes > range->first + range->second) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& [begin, its] : mappings)
    if (at < begin + its.bytes && begin < at + bytes) return CUDA_ERROR_INVALID_VALUE;
  void* const own = ::mmap(at + arena_bytes, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, found->second.file, 0);
  if (own == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  ++found->second.references;
  mappings[at] = {bytes, of};
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  const std::lock_guard lock(mutex());
  std::byte* const end = pointer(address) + bytes;
  auto next = mappings.find(pointer(address));
  if (next == mappings.end()) return CUDA_ERROR_INVALID_VALUE;
  while (next != mappings.end() && next->first < end) {
    const auto [at, its] = *next;
    if (at + its.bytes > end) return CUDA_ERROR_INVALID_VALUE;
    ::mmap(at + arena_bytes, its.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    next = mappings.erase(next);
    drop(its.of);
  }
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* given,
                                    std::size_t count) {
  const std::lock_guard lock(mutex());
  if (const CUresult code = failure_now("cuMemSetAccess"); code != CUDA_SUCCESS) return code;
  bool is_any = false;
  for (auto& [at, its] : mappings) {
    if (at < pointer(address) || at >= pointer(address) + bytes) continue;
    for (const CUmemAccessDesc& each : std::span(given, count)) {
      if (!can_access(each.location.id, allocations.at(its.of))) return CUDA_ERROR_INVALID_DEVICE;
      its.allowed[each.location.id] = rights_of(each.flags);
    }
    ::mprotect(at + arena_bytes, its.bytes, protection_of(its));
    is_any = true;
  }
  return is_any ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// All devices that can may access the memory, as if the program had enabled their access to each other's.
STANDIN_API CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  const std::lock_guard lock(mutex());
  CUdevice device = 0;
  if (const CUresult code = failure_now("cuMemAlloc"); code != CUDA_SUCCESS) return code;
  if (const CUresult code = refuse_in_capture(); code != CUDA_SUCCESS) return code;
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult code = cuCtxGetDevice(&device); code != CUDA_SUCCESS) return code;
  if (sticky() != CUDA_SUCCESS) return sticky();
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wanted.location.id = device;
  handle of = 0;
  if (const CUresult code = cuMemCreate(&of, rounded(bytes), &wanted, 0); code != CUDA_SUCCESS) return code;
  cuMemAddressReserve(address, rounded(bytes), 0, 0, 0);
  cuMemMap(*address, rounded(bytes), 0, of, 0);
  cuMemRelease(of);
  CUmemAccessDesc access{wanted.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  for (access.location.id = 0; access.location.id < static_cast<int>(visible().size()); ++access.location.id)
    cuMemSetAccess(*address, rounded(bytes), &access, 1);
  blocks[pointer(*address)] = rounded(bytes);
  return CUDA_SUCCESS;
}

/// Waits for the streams of the context's device.
STANDIN_API CUresult cuMemFree(CUdeviceptr address) {
  const std::lock_guard lock(mutex());
  if (address == 0) return CUDA_SUCCESS;
  const auto found = blocks.find(pointer(address));
  if (found == blocks.end()) return CUDA_ERROR_INVALID_VALUE;
  cuCtxSynchronize();
  cuMemUnmap(address, found->second);
  cuMemAddressFree(address, found->second);
  blocks.erase(found);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  const std::lock_guard lock(mutex());
  CUdevice device = 0;
  if (const CUresult code = cuCtxGetDevice(&device); code != CUDA_SUCCESS) return code;
  *total = bytes_per_device();
  *free = *total - used[visible()[static_cast<std::size_t>(device)]];
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  const std::lock_guard lock(mutex());
  if (const CUresult code = failure_now("cuMemHostAlloc"); code != CUDA_SUCCESS) return code;
  if (const CUresult code = refuse_in_capture(); code != CUDA_SUCCESS) return code;
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  *address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (*address == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  pinned[static_cast<std::byte*>(*address)] = bytes;
  return CUDA_SUCCESS;
}

/// Waits for the streams of the context's device.
STANDIN_API CUresult cuMemFreeHost(void* address) {
  const std::lock_guard lock(mutex());
  const auto found = pinned.find(static_cast<std::byte*>(address));
  if (found == pinned.end()) return CUDA_ERROR_INVALID_VALUE;
  cuCtxSynchronize();
  ::munmap(address, found->second);
  pinned.erase(found);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuMemHostRegister(void* address, std::size_t bytes, unsigned) {
  const std::lock_guard lock(mutex());
  auto* const at = static_cast<std::byte*>(address);
  if (const CUresult code = failure_now("cuMemHostRegister"); code != CUDA_SUCCESS) return code;
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (overlaps(registered, at, bytes) || overlaps(pinned, at, bytes)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  registered[at] = bytes;
  return CUDA_SUCCESS;
}

/// Does not wait for streams.
STANDIN_API CUresult cuMemHostUnregister(void* address) {
  const std::lock_guard lock(mutex());
  return registered.erase(static_cast<std::byte*>(address)) == 0 ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED : CUDA_SUCCESS;
}

STANDIN_API CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  const std::lock_guard lock(mutex());
  std::byte* const at = pointer(address);
  const bool is_host = !is_device_address(at);
  if (is_host && !is_pinned(at)) return CUDA_ERROR_INVALID_VALUE;
  const auto found = is_host ? mappings.end() : entry_before(mappings, at);
  if (!is_host && (found == mappings.end() || at >= found->first + found->second.bytes))
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = is_host ? 0 : number_of(allocations.at(found->second.of).physical);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(value) = is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(value) = address;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

/// Bytes that this process holds of a physical device, for tests that look for leaks.
STANDIN_API std::size_t standin_used(int physical) {
  const std::lock_guard lock(mutex());
  return used[physical];
}
