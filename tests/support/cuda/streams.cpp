// SPDX-License-Identifier: BSD-3-Clause
// The stand-in's streams and events, and what runs on them.

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "standin.hpp"

namespace standin {
namespace {

/// Operations that a stream was given while it was captured.
struct graph {
  std::vector<operation> operations{};
  bool is_valid = true;
};

/// Operations in their order; they run when something waits.
struct stream {
  CUdevice device;
  std::deque<operation> waiting{};
  long added = 0, done = 0;
  std::unique_ptr<graph> captured{};

  void add(operation one) {
    if (captured) return captured->operations.push_back(std::move(one));
    waiting.push_back(std::move(one));
    ++added;
  }
  void run_until(long count) {
    while (done < count && !waiting.empty()) {
      const operation next = std::move(waiting.front());
      waiting.pop_front();
      next(device);
      ++done;
    }
  }
};

struct event {
  stream* of = nullptr;
  long at = 0;
  bool is_captured = false;

  bool is_over() const { return of == nullptr || of->done >= at; }
};

std::map<CUdevice, stream> default_streams;
std::set<stream*> streams;

/// Null for a handle that is not a stream's, and for the default stream without a context.
stream* find_stream(CUstream handle) {
  if (handle != nullptr && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
    auto* const given = reinterpret_cast<stream*>(handle);
    return streams.contains(given) ? given : nullptr;
  }
  CUdevice device = 0;
  if (cuCtxGetDevice(&device) != CUDA_SUCCESS) return nullptr;
  return &default_streams.try_emplace(device, stream{device}).first->second;
}

event& event_of(CUevent handle) { return *reinterpret_cast<event*>(handle); }

/// Refuses to wait for a stream that is captured, which spoils the capture.
CUresult refuse_captured(stream& of) {
  if (!of.captured) return CUDA_SUCCESS;
  of.captured->is_valid = false;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

thread_local CUstreamCaptureMode mode_of_thread = CU_STREAM_CAPTURE_MODE_GLOBAL;

/// Runs the oldest operation of an unfinished stream, as a device does meanwhile.
CUresult advance(stream& of) {
  of.run_until(of.done + 1);
  return CUDA_ERROR_NOT_READY;
}

/// Copies bytes by one device that writes and one that reads.
void copy_bytes(CUdevice writer, void* target, CUdevice reader, const void* source, std::size_t bytes) {
  if (is_accessible(writer, target, bytes, rights::write) && is_accessible(reader, source, bytes, rights::read))
    std::memmove(own_address(target), own_address(source), bytes);
  else
    sticky() = CUDA_ERROR_ILLEGAL_ADDRESS;
}

/// Sets bytes. Zeroed pages become holes of their memory file: they take no memory.
void set_bytes(void* target, int value, std::size_t bytes) {
  const bool is_whole_pages = reinterpret_cast<std::uintptr_t>(target) % granularity == 0 && bytes % granularity == 0;
  if (value == 0 && is_whole_pages && ::madvise(target, bytes, MADV_REMOVE) == 0) return;
  std::memset(target, value, bytes);
}

}  // namespace

CUresult refuse_in_capture() {
  CUresult result = CUDA_SUCCESS;
  if (mode_of_thread == CU_STREAM_CAPTURE_MODE_RELAXED) return result;
  for (stream* const each : streams)
    if (refuse_captured(*each) != CUDA_SUCCESS) result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return result;
}

CUresult add_to_stream(CUstream on, operation what) {
  stream* const of = find_stream(on);
  if (of == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  of->add(std::move(what));
  return CUDA_SUCCESS;
}

}  // namespace standin

using namespace standin;

STANDIN_API CUresult cuStreamCreate(CUstream* handle, unsigned) {
  const std::lock_guard lock(mutex());
  if (const CUresult code = failure_now("cuStreamCreate"); code != CUDA_SUCCESS) return code;
  CUdevice device = 0;
  if (const CUresult code = cuCtxGetDevice(&device); code != CUDA_SUCCESS) return code;
  auto* const made = new stream{device};
  streams.insert(made);
  *handle = reinterpret_cast<CUstream>(made);
  return CUDA_SUCCESS;
}

/// The stream's operations still run.
STANDIN_API CUresult cuStreamDestroy(CUstream handle) {
  const std::lock_guard lock(mutex());
  stream* const of = find_stream(handle);
  if (of == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  of->run_until(of->added);
  streams.erase(of);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuStreamSynchronize(CUstream handle) {
  const std::lock_guard lock(mutex());
  stream* const of = find_stream(handle);
  if (of == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult code = refuse_captured(*of); code != CUDA_SUCCESS) return code;
  of->run_until(of->added);
  return sticky();
}

STANDIN_API CUresult cuStreamQuery(CUstream handle) {
  const std::lock_guard lock(mutex());
  stream* const of = find_stream(handle);
  if (of == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult code = refuse_captured(*of); code != CUDA_SUCCESS) return code;
  if (sticky() != CUDA_SUCCESS) return sticky();
  return of->waiting.empty() ? CUDA_SUCCESS : advance(*of);
}

STANDIN_API CUresult cuStreamWaitEvent(CUstream handle, CUevent on, unsigned) {
  const std::lock_guard lock(mutex());
  const event waited = event_of(on);
  if (waited.is_captured) return CUDA_ERROR_NOT_SUPPORTED;  // the stand-in captures one stream at a time
  const CUresult code = add_to_stream(handle, [waited](CUdevice) {
    if (waited.of != nullptr) waited.of->run_until(waited.at);
  });
  return code == CUDA_SUCCESS ? sticky() : code;
}

STANDIN_API CUresult cuEventCreate(CUevent* handle, unsigned) {
  *handle = reinterpret_cast<CUevent>(new event);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuEventDestroy(CUevent handle) {
  delete &event_of(handle);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuEventRecord(CUevent handle, CUstream on) {
  const std::lock_guard lock(mutex());
  if (const CUresult code = failure_now("cuEventRecord"); code != CUDA_SUCCESS) return code;
  stream* const of = find_stream(on);
  if (of == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  event_of(handle) = {of, of->added, of->captured != nullptr};
  return sticky();
}

STANDIN_API CUresult cuEventQuery(CUevent handle) {
  const std::lock_guard lock(mutex());
  if (const CUresult code = failure_now("cuEventQuery"); code != CUDA_SUCCESS) return code;
  if (sticky() != CUDA_SUCCESS) return sticky();
  const event& of = event_of(handle);
  if (of.is_captured) return CUDA_ERROR_CAPTURED_EVENT;
  if (const CUresult code = refuse_in_capture(); code != CUDA_SUCCESS) return code;
  return of.is_over() ? CUDA_SUCCESS : advance(*of.of);
}

STANDIN_API CUresult cuEventSynchronize(CUevent handle) {
  const std::lock_guard lock(mutex());
  const event& of = event_of(handle);
  if (of.is_captured) return CUDA_ERROR_CAPTURED_EVENT;
  if (const CUresult code = refuse_in_capture(); code != CUDA_SUCCESS) return code;
  if (of.of != nullptr) of.of->run_until(of.at);
  return sticky();
}

STANDIN_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  std::swap(mode_of_thread, *mode);
  return CUDA_SUCCESS;
}

/// The modes other than the relaxed one are the same here.
STANDIN_API CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode) {
  const std::lock_guard lock(mutex());
  stream* const of = find_stream(handle);
  if (of == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!streams.contains(of)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;  // a default stream
  if (of->captured) return CUDA_ERROR_ILLEGAL_STATE;
  of->captured = std::make_unique<graph>();
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuStreamEndCapture(CUstream handle, CUgraph* made) {
  const std::lock_guard lock(mutex());
  stream* const of = find_stream(handle);
  if (of == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!of->captured) return CUDA_ERROR_ILLEGAL_STATE;
  const std::unique_ptr<graph> captured = std::move(of->captured);
  *made = nullptr;
  if (!captured->is_valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  *made = reinterpret_cast<CUgraph>(new graph(*captured));
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  const std::lock_guard lock(mutex());
  const stream* const of = find_stream(handle);
  if (of == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *status = !of->captured            ? CU_STREAM_CAPTURE_STATUS_NONE
            : of->captured->is_valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                     : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph of, unsigned long long) {
  *made = reinterpret_cast<CUgraphExec>(new graph(*reinterpret_cast<const graph*>(of)));
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuGraphGetNodes(CUgraph of, CUgraphNode*, std::size_t* count) {
  *count = reinterpret_cast<const graph*>(of)->operations.size();
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuGraphLaunch(CUgraphExec of, CUstream on) {
  const std::lock_guard lock(mutex());
  if (sticky() != CUDA_SUCCESS) return sticky();
  for (const operation& each : reinterpret_cast<const graph*>(of)->operations)
    if (const CUresult code = add_to_stream(on, each); code != CUDA_SUCCESS) return code;
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuGraphDestroy(CUgraph of) {
  delete reinterpret_cast<graph*>(of);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuGraphExecDestroy(CUgraphExec of) {
  delete reinterpret_cast<graph*>(of);
  return CUDA_SUCCESS;
}

/// Waits for the streams of the context's device.
STANDIN_API CUresult cuCtxSynchronize() {
  const std::lock_guard lock(mutex());
  stream* const of = find_stream(nullptr);
  if (of == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  for (stream* const each : streams)
    if (each->device == of->device && refuse_captured(*each) != CUDA_SUCCESS)
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  of->run_until(of->added);
  for (stream* const each : streams)
    if (each->device == of->device) each->run_until(each->added);
  return sticky();
}

/// Host memory that is not pinned is read at once, as the driver copies it elsewhere first, or written at once.
STANDIN_API CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, std::size_t bytes, CUstream on) {
  const std::lock_guard lock(mutex());
  stream* const of = find_stream(on);
  if (of == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (sticky() != CUDA_SUCCESS) return sticky();
  auto* const to = reinterpret_cast<void*>(target);
  const auto* const from = reinterpret_cast<const std::byte*>(source);
  if (is_pinned(from))
    of->add([=](CUdevice by) { copy_bytes(by, to, by, from, bytes); });
  else
    of->add([=, kept = std::vector(from, from + bytes)](CUdevice by) { copy_bytes(by, to, by, kept.data(), bytes); });
  if (!is_pinned(to)) of->run_until(of->added);
  return sticky();
}

/// Between memory of two devices, neither of which needs access to the other's.
STANDIN_API CUresult cuMemcpyPeerAsync(CUdeviceptr target, CUcontext writer, CUdeviceptr source, CUcontext reader,
                                       std::size_t bytes, CUstream on) {
  const std::lock_guard lock(mutex());
  if (sticky() != CUDA_SUCCESS) return sticky();
  auto* const to = reinterpret_cast<void*>(target);
  const auto* const from = reinterpret_cast<const void*>(source);
  return add_to_stream(on, [=](CUdevice) { copy_bytes(device_of(writer), to, device_of(reader), from, bytes); });
}

STANDIN_API CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, std::size_t bytes, CUstream on) {
  const std::lock_guard lock(mutex());
  if (sticky() != CUDA_SUCCESS) return sticky();
  auto* const to = reinterpret_cast<void*>(target);
  return add_to_stream(on, [=](CUdevice by) {
    if (is_accessible(by, to, bytes, rights::write))
      set_bytes(own_address(to), value, bytes);
    else
      sticky() = CUDA_ERROR_ILLEGAL_ADDRESS;
  });
}
