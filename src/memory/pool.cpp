// SPDX-License-Identifier: BSD-3-Clause
#include "memory/pool.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "memory/capacity.hpp"
#include "memory/huge_pages.hpp"

namespace syncyte::memory {

namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t large_bytes = huge_page_bytes;          // buffers of this size or more come from mmap
constexpr std::size_t checked_bytes = std::size_t{64} << 20;  // from this size on, available memory is checked first
constexpr std::size_t most_bytes = std::size_t{1} << 62;

// A large buffer begins 17 cache lines into its page. Other libraries' large buffers, MPI's temporary ones among them,
// begin within the first lines of a page. If ours did too, loads and recent stores of a loop over both would have the
// same low twelve address bits, which x86-64 processors treat as a conflict ("4K aliasing", Intel's optimization
// manual). A sum took a third longer.
constexpr std::size_t large_offset = 17 * alignment;

void* map_large(std::size_t bytes) {
  mapping memory = map_anonymous(large_offset + bytes);
  if (huge_pages_wanted()) madvise(memory.get(), bytes, MADV_HUGEPAGE);
  return memory.release() + large_offset;
}

void* allocate_host(std::size_t bytes) {
  if (bytes >= checked_bytes) require_available(bytes, "a buffer of the pool");
  if (bytes >= large_bytes) return map_large(bytes);
  void* data = std::aligned_alloc(alignment, bytes);
  base::require(data != nullptr, SYNCYTE_ERR_MEMORY, "cannot allocate {} bytes of host memory", bytes);
  return data;
}

void free_host(void* data, std::size_t bytes) {
  if (bytes >= large_bytes)
    munmap(static_cast<std::byte*>(data) - large_offset, large_offset + bytes);
  else
    std::free(data);
}

}  // namespace

pool::pool(std::size_t limit, pool_memory* memory) : memory_(memory) { statistics_.limit = limit; }

pool::~pool() { trim(); }

std::size_t pool::class_bytes(std::size_t bytes) {
  const std::size_t power = std::bit_floor(std::max(bytes, alignment));
  // A quarter of the power of two, but at least the alignment, and at least a page for mapped buffers.
  const std::size_t step = std::max(power / 4, bytes >= large_bytes ? small_page_bytes() : alignment);
  return round_up(std::max(bytes, alignment), step);
}

std::size_t pool::shelf_of(std::size_t bytes) {
  const int exponent = std::bit_width(bytes) - 1;  // at least 6
  return static_cast<std::size_t>(4 * exponent) + ((bytes >> (exponent - 2)) & 3u);
}

void* pool::acquire(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  base::require(bytes <= most_bytes, SYNCYTE_ERR_MEMORY, "cannot allocate {} bytes", bytes);
  const std::size_t rounded = class_bytes(bytes);
  {
    const std::lock_guard lock(mutex_);
    if (const block* found = take_cached(rounded)) return found->data;
  }
  return allocate(rounded);
}

pool::block* pool::take_cached(std::size_t bytes) {
  shelf& from = shelves_[shelf_of(bytes)];
  if (from.empty()) return nullptr;
  block* found = from.back();  // the last one released: most likely in the processor's cache
  from.pop_back();
  found->released_at = 0;
  statistics_.cached -= bytes;
  statistics_.in_use += bytes;
  ++statistics_.hits;
  return found;
}

void* pool::allocate_fresh(std::size_t bytes) {
  return memory_ == nullptr ? allocate_host(bytes) : memory_->allocate(bytes);
}

void* pool::allocate(std::size_t bytes) {
  void* data = nullptr;
  try {
    data = allocate_fresh(bytes);
  } catch (const base::error&) {
    if (trim() == 0) throw;  // cached buffers may use the memory that is missing
    data = allocate_fresh(bytes);
  }
  const std::lock_guard lock(mutex_);
  blocks_.emplace(data, block{data, bytes, 0});
  statistics_.in_use += bytes;
  ++statistics_.misses;
  return data;
}

bool pool::release(void* data) {
  if (data == nullptr) return true;
  std::unique_lock lock(mutex_);
  const auto found = blocks_.find(data);
  if (found == blocks_.end()) return false;
  block& returned = found->second;
  base::expect(returned.released_at == 0, SYNCYTE_ERR_ARGUMENT, "data", fmt::ptr(data),
               "a buffer that was not released");
  returned.released_at = ++releases_;
  statistics_.in_use -= returned.bytes;
  bool is_unused = true;
  if (memory_ != nullptr) {  // other threads may acquire buffers meanwhile: what is enqueued may depend on them
    lock.unlock();
    is_unused = memory_->finish();
    lock.lock();
  }
  make_room(returned.bytes);
  if (!is_unused || statistics_.cached + returned.bytes > statistics_.limit) {
    forget(&returned);
    return true;
  }
  statistics_.cached += returned.bytes;
  shelves_[shelf_of(returned.bytes)].push_back(&returned);
  return true;
}

void pool::forget(block* freed) {
  if (memory_ == nullptr)
    free_host(freed->data, freed->bytes);
  else
    memory_->free(freed->data);
  blocks_.erase(freed->data);
}

void pool::make_room(std::size_t bytes) {
  if (bytes > statistics_.limit) return;
  while (statistics_.cached + bytes > statistics_.limit) {
    shelf* from = oldest();
    statistics_.cached -= from->front()->bytes;
    forget(from->front());
    from->pop_front();
  }
}

/// The shelf that holds the least recently released buffer. There must be a cached buffer.
pool::shelf* pool::oldest() {
  shelf* result = nullptr;
  for (shelf& candidate : shelves_) {
    if (candidate.empty()) continue;
    if (result == nullptr || candidate.front()->released_at < result->front()->released_at) result = &candidate;
  }
  return result;
}

std::size_t pool::trim() {
  const std::lock_guard lock(mutex_);
  for (shelf& each : shelves_) {
    for (block* cached : each) forget(cached);
    each.clear();
  }
  return std::exchange(statistics_.cached, 0);
}

pool_statistics pool::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

pool& process_pool(std::size_t limit, pool_memory* memory) {
  static std::mutex mutex;
  static auto* const pools = new std::vector<pool*>;
  static const int is_registered = [] {
    constexpr auto unlock = [] {
      for (pool* const each : *pools) each->mutex_.unlock();
      mutex.unlock();
    };
    constexpr auto lock = [] {
      mutex.lock();
      for (pool* const each : *pools) each->mutex_.lock();
    };
    return ::pthread_atfork(lock, unlock, unlock);  // a child lacks the threads that hold the locks
  }();
  static_cast<void>(is_registered);
  auto* const made = new pool(limit, memory);
  const std::lock_guard lock(mutex);
  pools->push_back(made);
  return *made;
}

std::size_t pool_limit(std::size_t total_bytes) {
  return base::environment_bytes(base::settings::pool_limit).value_or(total_bytes / base::settings::pool_part);
}

pool& host_pool() {
  static pool& instance = process_pool(pool_limit(total_bytes()));
  return instance;
}

}  // namespace syncyte::memory
