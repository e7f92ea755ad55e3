// SPDX-License-Identifier: BSD-3-Clause
#include "memory/mapping.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/error.hpp"

namespace syncyte::memory {

namespace {

/// Reserves address space aligned to a huge page: reserves more than `bytes` and unmaps the edges.
std::byte* reserve_aligned(std::size_t bytes) {
  const std::size_t wide = bytes + huge_page_bytes;
  void* raw =
      wide < bytes ? MAP_FAILED : mmap(nullptr, wide, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED)
    base::fail(SYNCYTE_ERR_MEMORY, "cannot reserve {} bytes of address space: {}", wide, base::errno_text(errno));
  const auto begin = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = round_up(begin, huge_page_bytes);
  if (aligned > begin) munmap(raw, aligned - begin);
  const std::size_t tail = begin + wide - (aligned + bytes);
  if (tail > 0) munmap(reinterpret_cast<void*>(aligned + bytes), tail);
  return reinterpret_cast<std::byte*>(aligned);
}

mapping map(int descriptor, std::size_t bytes, int flags, int access = PROT_READ | PROT_WRITE) {
  const std::size_t rounded = round_up(bytes, small_page_bytes());
  base::require(rounded >= bytes && bytes > 0, SYNCYTE_ERR_MEMORY, "cannot map {} bytes", bytes);
  mapping result(reserve_aligned(rounded), unmapper{rounded});
  if (mmap(result.get(), rounded, access, flags | MAP_FIXED, descriptor, 0) == MAP_FAILED)
    base::fail(SYNCYTE_ERR_MEMORY, "cannot map {} bytes: {}", rounded, base::errno_text(errno));
  return result;
}

}  // namespace

std::size_t small_page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

void unmapper::operator()(std::byte* data) const { munmap(data, bytes); }

mapping map_shared(int descriptor, std::size_t bytes) { return map(descriptor, bytes, MAP_SHARED); }

mapping map_anonymous(std::size_t bytes) { return map(-1, bytes, MAP_PRIVATE | MAP_ANONYMOUS); }

// Without MAP_NORESERVE the system counts all of the file as memory that may be written.
mapping map_private(int descriptor, std::size_t bytes) {
  return map(descriptor, bytes, MAP_PRIVATE | MAP_NORESERVE, PROT_NONE);
}

}  // namespace syncyte::memory
