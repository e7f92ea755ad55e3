#include "memory/device.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "base/error.hpp"
#include "memory/mapping.hpp"

namespace syncyte::memory {

namespace {

constexpr std::size_t alignment = 64;

class host final : public device_backend {
 public:
  int count() const noexcept override { return 1; }
  void* allocate(int, std::size_t bytes) override {
    void* data = std::aligned_alloc(alignment, round_up(bytes, alignment));
    base::require(data != nullptr, SYNCYTE_ERR_MEMORY, "cannot allocate {} bytes of host memory", bytes);
    return data;
  }
  void free(int, void* data) noexcept override { std::free(data); }
  void copy(const place& target, const place& source, std::size_t bytes, void*) override {
    if (bytes > 0) std::memcpy(target.data, source.data, bytes);
  }
  void fill(const place& target, unsigned char value, std::size_t bytes, void*) override {
    if (bytes > 0) std::memset(target.data, value, bytes);
  }
  void* create_stream(int) override { return nullptr; }
  void destroy_stream(int, void*) noexcept override {}
  void synchronise(int, void*) override {}
};

}  // namespace

device_backend& host_backend() {
  static host backend;
  return backend;
}

device_backend& backend_of(syncyte_memory_t memory, const char* argument) {
  switch (memory) {
    case SYNCYTE_MEMORY_HOST:
      return host_backend();
    case SYNCYTE_MEMORY_CUDA:
      return cuda_backend();
    default:
      base::fail(SYNCYTE_ERR_ARGUMENT, "{} is {}; expected SYNCYTE_MEMORY_HOST (0) or SYNCYTE_MEMORY_CUDA (1)",
                 argument, memory);
  }
}

namespace {

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
  backend.synchronise(decisive.device, stream);
}

void require_device(syncyte_memory_t memory, int device) {
  const int count = backend_of(memory).count();
  base::require(
      count > 0, SYNCYTE_ERR_UNSUPPORTED,
      "there is no CUDA device: the machine has none, its driver is missing, or this is a build without CUDA");
  base::expect(device >= 0 && device < count, SYNCYTE_ERR_ARGUMENT, "device", device, "0 to {}", count - 1);
}

}  // namespace syncyte::memory
