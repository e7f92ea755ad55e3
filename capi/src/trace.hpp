// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "syncyte/base.h"

namespace syncyte::capi {

/// Counts calls of one operation. Counters are static objects in a linked list.
class operation_counter {
 public:
  explicit operation_counter(const char* operation);
  operation_counter(const operation_counter&) = delete;
  operation_counter& operator=(const operation_counter&) = delete;

  void add(std::size_t bytes, syncyte_status_t status, std::int64_t nanoseconds);
  const char* operation() const { return operation_; }
  syncyte_operation_stats_t read() const;

  /// The counters from the newest to the oldest.
  static const operation_counter* newest();
  const operation_counter* next() const { return next_; }

 private:
  const char* operation_;
  std::atomic<std::int64_t> calls_{0};
  std::atomic<std::int64_t> errors_{0};
  std::atomic<std::int64_t> bytes_{0};
  std::atomic<std::int64_t> nanoseconds_{0};
  const operation_counter* next_;
};

/// The operation in progress on this thread: the bytes that it moves, their element type, the peer, and its
/// communicator's name, which is never freed.
struct traced_part {
  std::size_t bytes = 0;
  std::int32_t peer = -1;  // -1: none, or several
  syncyte_dtype_t dtype = 0;
  const char* comm = nullptr;
};
traced_part& traced();
void trace_bytes(std::size_t bytes, syncyte_dtype_t dtype = 0);
void trace_peer(std::int32_t rank);

/// Whether there is a trace file or a trace hook.
extern std::atomic<bool> is_traced;
/// A copy of the name that is never freed, for requests, the watchdog and agreements, which outlive its owner.
const char* kept(const std::string& name);
inline void trace_comm(const std::string& name) {
  if (is_traced.load(std::memory_order_relaxed)) traced().comm = kept(name);
}

/// A call of an operation. end() counts it, and passes it to the trace file and the trace hook if there are any. Calls
/// may nest: the destructor restores the outer call's traced_part.
class call_scope {
 public:
  call_scope();
  ~call_scope() { traced() = outer_; }
  call_scope(const call_scope&) = delete;
  call_scope& operator=(const call_scope&) = delete;
  void end(operation_counter& counter, syncyte_status_t status) noexcept;

 private:
  traced_part outer_;
  std::int64_t begin_ns_;  // 0: not traced
};
/// Records the bytes of a buffer, which may be unchecked; 0 for an invalid one.
void trace_buffer(const syncyte_buffer_t* buffer) noexcept;

/// Counts and traces a call of a library on top.
void record_call(const syncyte_trace_event_t& event);

/// Replaces the trace hook; null removes it.
void set_trace_hook(syncyte_trace_fn_t hook, void* context);

/// Opens the trace file in the folder of SYNCYTE_TRACE, if that is set. Call it after MPI has started.
void open_trace_file();
void close_trace_file() noexcept;
/// Writes the buffered events; called before the job is aborted. Gives up if another thread writes for a second.
void flush_trace_file() noexcept;

}  // namespace syncyte::capi
