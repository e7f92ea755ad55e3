// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include <c10/util/Exception.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "streams.hpp"

namespace pretend {
namespace {

std::mutex mutex;
std::map<const char*, std::size_t>& pinned_blocks() {
  static auto* const all = new std::map<const char*, std::size_t>;
  return *all;
}
std::atomic<std::int64_t> pinned_until_failure{0};
std::atomic<std::int64_t> device_until_failure{0};

void count_down(std::atomic<std::int64_t>& until_failure, const char* memory) {
  if (until_failure > 0) TORCH_CHECK(--until_failure > 0, "pretend: could not allocate ", memory, " memory");
}

std::atomic<std::int64_t> blocks{0};

void* poisoned(std::size_t bytes) {
  ++blocks;
  void* const data = std::malloc(bytes == 0 ? 1 : bytes);
  std::memset(data, 0xFF, bytes);
  return data;
}

void free_device(void* data) {
  --blocks;
  std::free(data);
}

void free_pinned(void* data) {
  {
    const std::lock_guard lock(mutex);
    pinned_blocks().erase(static_cast<const char*>(data));
  }
  free_device(data);
}

class device_allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    count_down(device_until_failure, "device");
    void* const data = poisoned(bytes);
    return {data, data, &free_device, c10::Device(type, current_device())};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_device; }
  void copy_data(void* target, const void* source, std::size_t bytes) const override {
    std::memcpy(target, source, bytes);
  }
};

class pinned_allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    count_down(pinned_until_failure, "pinned");
    void* const data = poisoned(bytes);
    const std::lock_guard lock(mutex);
    pinned_blocks()[static_cast<const char*>(data)] = bytes == 0 ? 1 : bytes;
    return {data, data, &free_pinned, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_pinned; }
  void copy_data(void* target, const void* source, std::size_t bytes) const override {
    std::memcpy(target, source, bytes);
  }
};

}  // namespace

c10::Allocator& device_memory() {
  static auto* const allocator = new device_allocator;
  return *allocator;
}

c10::Allocator& pinned_memory() {
  static auto* const allocator = new pinned_allocator;
  return *allocator;
}

bool is_pinned(const void* data) {
  const std::lock_guard lock(mutex);
  const auto* const place = static_cast<const char*>(data);
  auto block = pinned_blocks().upper_bound(place);
  if (block == pinned_blocks().begin()) return false;
  --block;
  return place < block->first + block->second;
}

std::int64_t allocated() { return blocks; }

void fail_pinned(std::int64_t n) { pinned_until_failure = n; }

void fail_device(std::int64_t n) { device_until_failure = n; }

}  // namespace pretend
