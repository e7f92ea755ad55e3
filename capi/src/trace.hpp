#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "syncyte/base.h"

namespace syncyte::capi {

/// What has been called so far of one operation. Each is a static object, which stays in a list of all.
class operation_counter {
 public:
  explicit operation_counter(const char* operation);
  operation_counter(const operation_counter&) = delete;
  operation_counter& operator=(const operation_counter&) = delete;

  void add(std::size_t bytes, syncyte_status_t status, std::int64_t nanoseconds);
  const char* operation() const { return operation_; }
  void read(syncyte_operation_stats_t* stats) const;

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

/// A call of an operation: counted, and told to the trace file and the trace hook if there are any.
class call_scope {
 public:
  explicit call_scope(operation_counter& counter);
  void end(syncyte_status_t status) noexcept;

 private:
  operation_counter& counter_;
  std::int64_t begin_ns_;  // 0: nobody listens
};

/// Of the operation in progress on this thread: the bytes it moves, the rank it talks to.
void trace_bytes(std::size_t bytes);
void trace_peer(std::int32_t rank);
/// Bytes of a buffer that has perhaps not been checked yet; 0 of one that is wrong.
void trace_buffer(const syncyte_buffer_t* buffer) noexcept;

/// From now on events go to a file in the folder of SYNCYTE_TRACE, if that is set; after MPI has started.
void open_trace_file();
void close_trace_file() noexcept;

}  // namespace syncyte::capi
