#include "memory/buffers.hpp"

#include <mutex>
#include <unordered_map>

#include "base/error.hpp"
#include "memory/device.hpp"
#include "memory/pool.hpp"

namespace syncyte::memory {

namespace {

/// Device buffers in use, by pointer: release() gets only the pointer and looks its device up here.
struct device_buffers {
  std::mutex mutex;
  std::unordered_map<void*, place> places;
};

device_buffers& handed_out() {
  static device_buffers* const instance = new device_buffers;  // never destroyed, like the pool
  return *instance;
}

}  // namespace

void* acquire(std::size_t bytes, syncyte_memory_t memory, int device) {
  require_device(memory, device);
  if (memory == SYNCYTE_MEMORY_HOST) return host_pool().acquire(bytes);
  if (bytes == 0) return nullptr;
  void* data = backend_of(memory).allocate(device, bytes);
  device_buffers& table = handed_out();
  const std::lock_guard lock(table.mutex);
  table.places.emplace(data, place{data, memory, device});
  return data;
}

void release(void* data) {
  if (host_pool().release(data)) return;
  device_buffers& table = handed_out();
  std::unique_lock lock(table.mutex);
  const auto node = table.places.extract(data);
  lock.unlock();
  base::expect(!node.empty(), SYNCYTE_ERR_ARGUMENT, "data", fmt::ptr(data), "a buffer that memory_acquire() returned");
  backend_of(node.mapped().memory).free(node.mapped().device, data);
}

}  // namespace syncyte::memory
