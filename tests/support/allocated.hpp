// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Counts the bytes that a thread allocates in C++; MPI allocates in C. For one source of a program: it replaces the
// operators new and delete.

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace syncyte::test {

/// Bytes that this thread has allocated, less those that it has freed.
inline thread_local std::int64_t allocated = 0;
/// The most that `allocated` has been; a test may set it back.
inline thread_local std::int64_t most_allocated = 0;

}  // namespace syncyte::test

void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  syncyte::test::allocated += static_cast<std::int64_t>(::malloc_usable_size(memory));
  syncyte::test::most_allocated = std::max(syncyte::test::most_allocated, syncyte::test::allocated);
  return memory;
}
void operator delete(void* memory) noexcept {
  syncyte::test::allocated -= static_cast<std::int64_t>(::malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
