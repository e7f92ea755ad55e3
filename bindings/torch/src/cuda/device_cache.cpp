// SPDX-License-Identifier: BSD-3-Clause
// CUDA tensors of a stream that has a slice of a shared cache lie in it.

#include <c10/core/Allocator.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>
#include <torch/csrc/api/include/torch/version.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "cuda/forwarding_allocator.hpp"
#include "syncyte/cache.h"

namespace syncyte::torch_binding {
namespace {

/// A block of a stream's slice: the context of its DataPtr.
struct cached_block {
  void* data;
  void* stream;
  std::int32_t device;
};

void free_block(void* context) {
  auto* const block = static_cast<cached_block*>(context);
  static_cast<void>(syncyte_cache_free_on_stream(block->device, block->stream, block->data));
  delete block;
}

void check(syncyte_status_t status) {
  if (status == SYNCYTE_ERR_MEMORY) TORCH_CHECK_WITH(OutOfMemoryError, false, syncyte_last_error());
  TORCH_CHECK(status == SYNCYTE_SUCCESS, syncyte_last_error());
}

bool is_in_slice(const void* data) {
  std::int32_t holds = 0;
  check(syncyte_cache_holds(data, &holds));
  return holds != 0;
}

/// Torch's own allocator, but for streams that have a slice. Memory that raw_alloc() asks for, scratch of libraries, is
/// torch's own on all streams.
class cache_allocator final : public forwarding_allocator<api::CUDAAllocator> {
 public:
  using forwarding_allocator::forwarding_allocator;
  using forwarding_allocator::recordStream;

  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return own()->allocate(bytes);
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
    const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
    const auto number = stream.device_index();
    void* data = nullptr;
    check(syncyte_cache_allocate_on_stream(number, stream.stream(), static_cast<std::int64_t>(std::min(bytes, most)),
                                           &data));
    if (data == nullptr) return own()->allocate(bytes);
    auto* const block = new cached_block{data, stream.stream(), number};
    c10::DataPtr result(data, block, &free_block, c10::Device(c10::kCUDA, number));
    refuse_graphs(c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None);
    return result;
  }

  void recordStream(const c10::DataPtr& data, c10::cuda::CUDAStream by) override {
    if (data.get_deleter() != &free_block) return own()->recordStream(data, by);
    const auto* const block = static_cast<const cached_block*>(data.get_context());
    check(syncyte_cache_record_stream(block->device, block->stream, block->data, by.stream()));
  }

  /// The begin of a capture, or of the use of a memory pool, on the current stream.
  void beginAllocateToPool(device of, pool id, std::function<bool(cudaStream_t)> takes) override {
    std::int32_t has = 0;
    check(syncyte_cache_stream_has_slice(of, c10::cuda::getCurrentCUDAStream(of).stream(), &has));
    refuse_graphs(has != 0);
    own()->beginAllocateToPool(of, id, std::move(takes));
  }

  void* getBaseAllocation(void* data, std::size_t* bytes) override {
    refuse_sharing(data);
    return own()->getBaseAllocation(data, bytes);
  }

  api::ShareableHandle shareIpcHandle(void* data) override {
    refuse_sharing(data);
    return own()->shareIpcHandle(data);
  }

 private:
  static void refuse_graphs(bool is_refused) {
    TORCH_CHECK_NOT_IMPLEMENTED(!is_refused,
                                "the current stream has a slice of a shared cache, whose memory other processes use: "
                                "no CUDA graph can be captured and no memory pool used on it; clear it first");
  }
  static void refuse_sharing(const void* data) {
    TORCH_CHECK_NOT_IMPLEMENTED(!is_in_slice(data),
                                "a tensor in a slice of a shared cache cannot be passed by torch.multiprocessing: send "
                                "the cache, or a clone of the tensor from another stream");
  }
};

}  // namespace
}  // namespace syncyte::torch_binding

/// Puts the allocator in front of torch's, or takes it away again, which is for a time without slices. It is never
/// destroyed: storages that it has made grow by it. Calls are one after another.
extern "C" SYNCYTE_EXPORT void syncyte_torch_cuda_serve_from_cache(std::int32_t serves) {
  using namespace syncyte::torch_binding;
  static api::CUDAAllocator* const own = api::get();
  static auto* const made = new cache_allocator(own);
  api::CUDAAllocator* const wanted = serves != 0 ? made : own;
  if (api::get() == wanted) return;
  c10::SetAllocator(c10::kCUDA, wanted, 100);  // for storages; a priority that others do not have
  api::allocator.store(wanted);
}

/// Returns the version of the torch that the library was compiled with: its classes must be those of the torch that
/// loads it.
extern "C" SYNCYTE_EXPORT const char* syncyte_torch_cuda_built_for() { return TORCH_VERSION; }
