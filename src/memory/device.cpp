// SPDX-License-Identifier: BSD-3-Clause
#include "memory/device.hpp"

#include <cstring>

#include "base/error.hpp"
#include "memory/capacity.hpp"
#include "memory/per_device.hpp"
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
  std::size_t total_bytes(int) override { return memory::total_bytes(); }
  std::size_t free_bytes(int) override { return memory::available_bytes(); }
  void copy(const place& target, const place& source, std::size_t bytes, void*) override {
    if (bytes > 0) std::memcpy(target.data, source.data, bytes);
  }
  void* create_stream(int) override { return nullptr; }
  void synchronize(int, void*) override {}
  bool finish(int) noexcept override { return true; }
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

/// A device's memory, for its pool.
class device_memory final : public pool_memory {
 public:
  explicit device_memory(int device) : device_(device) {}
  void* allocate(std::size_t bytes) override { return cuda_backend().allocate(device_, bytes); }
  void free(void* data) noexcept override { cuda_backend().free(device_, data); }
  bool finish() noexcept override { return cuda_backend().finish(device_); }

 private:
  int device_;
};

per_device<pool> pools;

pool& pool_of(int device) {
  return *pools.get(device, [](int number) {
    return &process_pool(pool_limit(cuda_backend().total_bytes(number)), new device_memory(number));
  });
}

const place& decisive_of(const place& target, const place& source) {
  return target.memory == SYNCYTE_MEMORY_HOST ? source : target;
}

}  // namespace

// It is never destroyed: the driver's shutdown destroys it.
void* own_stream(int device) {
  static per_device<void> streams;
  return streams.get(device, [](int number) { return cuda_backend().create_stream(number); });
}

void copy(const place& target, const place& source, std::size_t bytes, void* stream) {
  backend_of(decisive_of(target, source).memory).copy(target, source, bytes, stream);
}

void copy_now(const place& target, const place& source, std::size_t bytes) {
  const place& decisive = decisive_of(target, source);
  device_backend& backend = backend_of(decisive.memory);
  if (decisive.memory == SYNCYTE_MEMORY_HOST) return backend.copy(target, source, bytes, nullptr);
  void* const stream = own_stream(decisive.device);
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
  return memory == SYNCYTE_MEMORY_HOST ? host_pool().acquire(bytes) : pool_of(device).acquire(bytes);
}

void release(void* data) {
  bool is_known = host_pool().release(data);
  if (!is_known) pools.for_each([&](pool& each) { is_known = is_known || each.release(data); });
  base::expect(is_known, SYNCYTE_ERR_ARGUMENT, "data", fmt::ptr(data), "a buffer that memory_allocate() returned");
}

void trim() {
  host_pool().trim();
  pools.for_each([](pool& each) { each.trim(); });
}

pool_statistics device_statistics() {
  pool_statistics sum{};
  pools.for_each([&](const pool& each) {
    const pool_statistics its = each.statistics();
    sum.in_use += its.in_use;
    sum.cached += its.cached;
    sum.limit += its.limit;
    sum.hits += its.hits;
    sum.misses += its.misses;
  });
  return sum;
}

}  // namespace syncyte::memory
