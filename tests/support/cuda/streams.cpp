// SPDX-License-Identifier: BSD-3-Clause
// The stand-in's streams and events, and what runs on them.

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <set>
#include <utility>

#include "standin.hpp"

namespace standin {
namespace {

/// Operations in their order; they run when something waits.
struct stream {
  std::deque<operation> waiting;
  long added = 0, done = 0;

  void add(operation one) {
    waiting.push_back(std::move(one));
    ++added;
  }
  void run_until(long count) {
    while (done < count && !waiting.empty()) {
      const operation next = std::move(waiting.front());
      waiting.pop_front();
      next();
      ++done;
    }
  }
};

struct event {
  stream* of = nullptr;
  long at = 0;

  bool is_over() const { return of == nullptr || of->done >= at; }
};

stream default_stream;
std::set<stream*> streams;

stream& stream_of(CUstream handle) {
  const bool is_default = handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
  return is_default ? default_stream : *reinterpret_cast<stream*>(handle);
}

event& event_of(CUevent handle) { return *reinterpret_cast<event*>(handle); }

bool is_known(CUstream handle) {
  return &stream_of(handle) == &default_stream || streams.contains(reinterpret_cast<stream*>(handle));
}

/// Runs the oldest operation of an unfinished stream, as a device does meanwhile.
CUresult advance(stream& of) {
  of.run_until(of.done + 1);
  return CUDA_ERROR_NOT_READY;
}

void copy_bytes(void* target, const void* source, std::size_t bytes) {
  if (is_accessible(target, bytes, rights::write) && is_accessible(source, bytes, rights::read))
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

void run_all_streams() {
  default_stream.run_until(default_stream.added);
  for (stream* const each : streams) each->run_until(each->added);
}

CUresult add_to_stream(CUstream on, operation what) {
  if (!is_known(on)) return CUDA_ERROR_INVALID_HANDLE;
  stream_of(on).add(std::move(what));
  return CUDA_SUCCESS;
}

}  // namespace standin

using namespace standin;

STANDIN_API CUresult cuStreamCreate(CUstream* handle, unsigned) {
  const std::lock_guard lock(mutex());
  if (const CUresult code = failure_now("cuStreamCreate"); code != CUDA_SUCCESS) return code;
  auto* const made = new stream;
  streams.insert(made);
  *handle = reinterpret_cast<CUstream>(made);
  return CUDA_SUCCESS;
}

/// The stream's operations still run.
STANDIN_API CUresult cuStreamDestroy(CUstream handle) {
  const std::lock_guard lock(mutex());
  if (!is_known(handle)) return CUDA_ERROR_INVALID_HANDLE;
  stream& of = stream_of(handle);
  of.run_until(of.added);
  streams.erase(&of);
  return CUDA_SUCCESS;
}

STANDIN_API CUresult cuStreamSynchronize(CUstream handle) {
  const std::lock_guard lock(mutex());
  if (!is_known(handle)) return CUDA_ERROR_INVALID_HANDLE;
  stream& of = stream_of(handle);
  of.run_until(of.added);
  return sticky();
}

STANDIN_API CUresult cuStreamQuery(CUstream handle) {
  const std::lock_guard lock(mutex());
  if (!is_known(handle)) return CUDA_ERROR_INVALID_HANDLE;
  if (sticky() != CUDA_SUCCESS) return sticky();
  stream& of = stream_of(handle);
  return of.waiting.empty() ? CUDA_SUCCESS : advance(of);
}

STANDIN_API CUresult cuStreamWaitEvent(CUstream handle, CUevent on, unsigned) {
  const std::lock_guard lock(mutex());
  const event waited = event_of(on);
  stream_of(handle).add([waited] {
    if (waited.of != nullptr) waited.of->run_until(waited.at);
  });
  return sticky();
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
  stream& of = stream_of(on);
  event_of(handle) = {&of, of.added};
  return sticky();
}

STANDIN_API CUresult cuEventQuery(CUevent handle) {
  const std::lock_guard lock(mutex());
  if (const CUresult code = failure_now("cuEventQuery"); code != CUDA_SUCCESS) return code;
  if (sticky() != CUDA_SUCCESS) return sticky();
  const event& of = event_of(handle);
  return of.is_over() ? CUDA_SUCCESS : advance(*of.of);
}

STANDIN_API CUresult cuEventSynchronize(CUevent handle) {
  const std::lock_guard lock(mutex());
  const event& of = event_of(handle);
  if (of.of != nullptr) of.of->run_until(of.at);
  return sticky();
}

/// Waits for the streams of all devices, which is more than the driver does.
STANDIN_API CUresult cuCtxSynchronize() {
  const std::lock_guard lock(mutex());
  run_all_streams();
  return sticky();
}

/// Host memory that is not pinned is read at once, as the driver copies it elsewhere first, or written at once.
STANDIN_API CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, std::size_t bytes, CUstream on) {
  const std::lock_guard lock(mutex());
  if (!is_known(on)) return CUDA_ERROR_INVALID_HANDLE;
  if (sticky() != CUDA_SUCCESS) return sticky();
  auto* const to = reinterpret_cast<void*>(target);
  const auto* const from = reinterpret_cast<const std::byte*>(source);
  stream& of = stream_of(on);
  if (is_pinned(from))
    of.add([=] { copy_bytes(to, from, bytes); });
  else
    of.add([=, kept = std::vector(from, from + bytes)] { copy_bytes(to, kept.data(), bytes); });
  if (!is_pinned(to)) of.run_until(of.added);
  return sticky();
}

STANDIN_API CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, std::size_t bytes, CUstream on) {
  const std::lock_guard lock(mutex());
  if (sticky() != CUDA_SUCCESS) return sticky();
  auto* const to = reinterpret_cast<void*>(target);
  return add_to_stream(on, [=] {
    if (is_accessible(to, bytes, rights::write))
      set_bytes(own_address(to), value, bytes);
    else
      sticky() = CUDA_ERROR_ILLEGAL_ADDRESS;
  });
}
