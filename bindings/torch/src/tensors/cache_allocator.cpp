// SPDX-License-Identifier: BSD-3-Clause
// torch.ops.syncyte.serve_from_cache: CPU tensors of a thread that has inserted a slice of a shared cache lie in it.

#include "syncyte/cache.hpp"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {
namespace {

void free_cached(void* data) { syncyte_cache_free(data); }

c10::Allocator* own = nullptr;  // torch's, for all other threads

/// Frees memory that was allocated without a deleter, in a cache or by torch's allocator.
void give_back_anything(void* data) {
  if (cache::holds(data))
    free_cached(data);
  else
    own->raw_deallocate(data);
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
    if (data == nullptr) return own->allocate(bytes);
    return {data, data, &free_cached, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &give_back_anything; }

  void copy_data(void* target, const void* source, std::size_t bytes) const override {
    own->copy_data(target, source, bytes);
  }
};

/// The allocator's address. It is never destroyed: tensors refer to it. Further calls change nothing.
std::int64_t serve_from_cache() {
  static auto* const the_allocator = [] {
    own = c10::GetCPUAllocator();
    auto* const made = new cache_allocator;
    c10::SetCPUAllocator(made, 100);  // a priority that others do not have, so that none replaces it
    return made;
  }();
  return reinterpret_cast<std::int64_t>(static_cast<c10::Allocator*>(the_allocator));
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) { library.impl("serve_from_cache", serve_from_cache); }

}  // namespace syncyte::torch_binding
