// SPDX-License-Identifier: BSD-3-Clause
#include "tensors/thread_stream.hpp"

#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "syncyte/memory.hpp"
#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {
namespace {

/// The driver's handle of a stream. Older versions of torch do not tell it: the stream is waited for, and null, with
/// which operations are complete on return, stands for it.
template <class Stream>
void* handle_of(const Stream& stream) {
  if constexpr (requires { stream.native_handle(); }) {
    void* const handle = stream.native_handle();
    return handle != nullptr ? handle
                             : reinterpret_cast<void*>(1);  // CU_STREAM_LEGACY, the default stream's other name
  } else {
    stream.synchronize();
    return nullptr;
  }
}

}  // namespace

on_current_stream::on_current_stream(c10::Device device) : is_set_(!device.is_cpu()) {
  if (!is_set_) return;
  void* const stream = handle_of(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
  checked([&] { syncyte::set_stream(stream); });
}

on_current_stream::~on_current_stream() {
  if (is_set_) static_cast<void>(syncyte_memory_set_stream(SYNCYTE_MEMORY_CUDA, nullptr));
}

}  // namespace syncyte::torch_binding
