// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "memory/descriptor.hpp"
#include "syncyte/base.h"

namespace syncyte::capi {

/// Writes the events of one rank in Chrome's trace format (a JSON array of complete events, ph "X"), for
/// chrome://tracing and Perfetto. The process is the rank; times are microseconds of the system's clock. The file is
/// valid JSON after every write: each write replaces the closing bracket. A killed rank loses the events of the last
/// tenth of a second. If the file cannot grow, the trace ends with a warning. One thread at a time may use it.
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
class trace_file {
 public:
  /// Makes the folder if need be. Throws SYNCYTE_ERR_IO.
  trace_file(const std::string& folder, int rank);
  ~trace_file();
  trace_file(const trace_file&) = delete;
  trace_file& operator=(const trace_file&) = delete;

  void write(const syncyte_trace_event_t& event);
  /// Writes the buffered events.
  void flush() noexcept;

 private:
  void end_here(int code);
  int write_at_end(std::string_view text) const;

  std::string path_;
  memory::descriptor file_;
  std::string pending_;
  std::int64_t end_ = 0;  // end of the events in the file, before the closing bracket
  bool is_cut_ = false;
  int rank_;
  std::int64_t to_system_ns_;  // offset from CLOCK_MONOTONIC to CLOCK_REALTIME
  std::int64_t flushed_ns_ = 0;
};

}  // namespace syncyte::capi
