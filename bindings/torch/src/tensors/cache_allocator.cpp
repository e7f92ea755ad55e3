// SPDX-License-Identifier: BSD-3-Clause
// CPU tensors of a thread that has inserted a slice of a shared cache lie in it.

#include "syncyte/cache.hpp"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {
namespace {

void free_cached(void* data) { syncyte_cache_free(data); }

std::atomic<c10::Allocator*> own{nullptr};  // torch's, for all other threads

/// Frees memory that was allocated without a deleter, in a cache or by torch's allocator.
void give_back_anything(void* data) {
  if (cache::holds(data))
    free_cached(data);
  else
    own.load()->raw_deallocate(data);
}

/// Torch's own allocator, but for threads that have inserted a slice.
class cache_allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
    void* data = nullptr;
    if (bytes > 0) {
      const auto status = syncyte_cache_allocate(static_cast<std::int64_t>(std::min(bytes, most)), &data);
      if (status == SYNCYTE_ERR_MEMORY) TORCH_CHECK_WITH(OutOfMemoryError, false, syncyte_last_error());
      check(status);
    }
    if (data == nullptr) return own.load()->allocate(bytes);
    return {data, data, &free_cached, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &give_back_anything; }

  void copy_data(void* target, const void* source, std::size_t bytes) const override {
    own.load()->copy_data(target, source, bytes);
  }
};

}  // namespace
}  // namespace syncyte::torch_binding

/// Puts the allocator in front of torch's, or takes it away again, which is for a time without slices; returns its
/// address. It is never destroyed: storages that it has made grow by it. Memory frees itself, whichever allocator is in
/// front. Calls are one after another.
extern "C" SYNCYTE_EXPORT std::int64_t syncyte_torch_serve_from_cache(std::int32_t serves) {
  using namespace syncyte::torch_binding;
  static c10::Allocator* const made = new cache_allocator;
  c10::Allocator* const current = c10::GetCPUAllocator();
  constexpr std::uint8_t priority = 100;  // one that others do not have, so that none replaces it
  if (serves != 0 && current != made) {
    own = current;
    c10::SetCPUAllocator(made, priority);
  } else if (serves == 0 && current == made) {
    c10::SetCPUAllocator(own, priority);
  }
  return reinterpret_cast<std::int64_t>(made);
}
