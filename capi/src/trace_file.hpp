#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "memory/descriptor.hpp"
#include "syncyte/base.h"

namespace syncyte::capi {

/// Events of one rank in Chrome's trace format (the JSON array of complete events, ph "X"), for chrome://tracing and
/// Perfetto: the process is the rank, times are microseconds of the system's clock. The file is complete JSON after
/// every write: each replaces the closing bracket. A rank that is killed loses the events of the last tenth of a
/// second; where the file cannot grow, a warning says so and the trace ends.
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
class trace_file {
 public:
  /// Makes the folder if need be. Throws SYNCYTE_ERR_IO.
  trace_file(const std::string& folder, int rank);
  ~trace_file();
  trace_file(const trace_file&) = delete;
  trace_file& operator=(const trace_file&) = delete;

  void write(const syncyte_trace_event_t& event);
  /// Writes what is held back; gives up where another thread is at it for a second.
  void flush() noexcept;

  /// Around a fork: no other thread is inside it then. The child forgets the file.
  void hold_for_fork();
  void go_on_after_fork();

 private:
  void flush_locked();
  void end_here(int code);
  int write_at_end(std::string_view text) const;

  std::timed_mutex mutex_;
  std::string path_;
  memory::descriptor file_;
  std::string pending_;
  std::int64_t end_ = 0;  // of the events in the file, before the closing bracket
  bool is_cut_ = false;
  int rank_;
  std::int64_t to_system_ns_;  // from CLOCK_MONOTONIC to CLOCK_REALTIME
  std::int64_t flushed_ns_ = 0;
};

}  // namespace syncyte::capi
