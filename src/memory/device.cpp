// SPDX-License-Identifier: BSD-3-Clause
#include "memory/device.hpp"

#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "memory/pool.hpp"

namespace syncyte::memory {

namespace {

/// Host memory; its operations are complete on return.
class host final : public device_backend {
 public:
  int count() const noexcept override { return 1; }
  std::string why_none() const override { return {}; }
  void* allocate(int, std::size_t bytes) override { return host_pool().acquire(bytes); }
  void free(int, void* data) noexcept override { host_pool().release(data); }
  void copy(const place& target, const place& source, std::size_t bytes, void*) override {
    if (bytes > 0) std::memcpy(target.data, source.data, bytes);
  }
  void* create_stream(int) override { return nullptr; }
  void synchronize(int, void*) override {}
} the_host;

}  // namespace

device_backend& backend_of(syncyte_memory_t memory, const char* argument) {
  switch (memory) {
    case SYNCYTE_MEMORY_HOST:
      return the_host;
    case SYNCYTE_MEMORY_CUDA:
      return cuda_backend();
    default:
      base::refuse(SYNCYTE_ERR_ARGUMENT,
                   {.argument = argument, .value = fmt::to_string(memory), .expected = base::known::memory::text});
  }
}

namespace {

/// Device buffers in use, by pointer: release() gets only the pointer.
struct device_buffers {
  std::mutex mutex;
  std::unordered_map<void*, place> places;
};

device_buffers& in_use = *new device_buffers;  // leaked: buffers may be released while the process ends

const place& decisive_of(const place& target, const place& source) {
  return target.memory == SYNCYTE_MEMORY_HOST ? source : target;
}

/// This library's own stream of a device. It is never destroyed: the driver's shutdown destroys it.
void* own_stream(device_backend& backend, int device) {
  static std::mutex mutex;
  static auto* const streams = new std::map<std::pair<device_backend*, int>, void*>;  // leaked: late messages use it
  const std::lock_guard lock(mutex);
  const std::pair key(&backend, device);
  const auto known = streams->find(key);
  return known != streams->end() ? known->second : (*streams)[key] = backend.create_stream(device);
}

}  // namespace

void copy(const place& target, const place& source, std::size_t bytes, void* stream) {
  backend_of(decisive_of(target, source).memory).copy(target, source, bytes, stream);
}

void copy_now(const place& target, const place& source, std::size_t bytes) {
  const place& decisive = decisive_of(target, source);
  device_backend& backend = backend_of(decisive.memory);
  void* const stream = own_stream(backend, decisive.device);
  backend.copy(target, source, bytes, stream);
  backend.synchronize(decisive.device, stream);
}

void require_device(syncyte_memory_t memory, int device) {
  const device_backend& backend = backend_of(memory);
  const int count = backend.count();
  if (count == 0) base::fail(SYNCYTE_ERR_UNSUPPORTED, "there is no CUDA device: {}", backend.why_none());
  base::expect(device >= 0 && device < count, SYNCYTE_ERR_ARGUMENT, "device", device, "0 to {}", count - 1);
}

void* acquire(std::size_t bytes, syncyte_memory_t memory, int device) {
  require_device(memory, device);
  if (bytes == 0) return nullptr;
  void* data = backend_of(memory).allocate(device, bytes);
  if (memory == SYNCYTE_MEMORY_HOST) return data;
  const std::lock_guard lock(in_use.mutex);
  in_use.places.emplace(data, place{data, memory, device});
  return data;
}

void release(void* data) {
  if (host_pool().release(data)) return;
  std::unique_lock lock(in_use.mutex);
  const auto node = in_use.places.extract(data);
  lock.unlock();
  base::expect(!node.empty(), SYNCYTE_ERR_ARGUMENT, "data", fmt::ptr(data), "a buffer that memory_allocate() returned");
  backend_of(node.mapped().memory).free(node.mapped().device, data);
}

}  // namespace syncyte::memory
