#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include "syncyte/base.h"

namespace syncyte::capi {

/// Events of one rank in Chrome's trace format (the JSON array of complete events, ph "X"), for chrome://tracing and
/// Perfetto: the process is the rank, times are microseconds of the system's clock. The format allows that the closing
/// bracket is missing: what a killed rank has written can be read.
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
class trace_file {
 public:
  /// Makes the folder if need be. Throws SYNCYTE_ERR_IO.
  trace_file(const std::string& folder, int rank);
  ~trace_file();
  trace_file(const trace_file&) = delete;
  trace_file& operator=(const trace_file&) = delete;

  void write(const syncyte_trace_event_t& event);

  /// Around a fork: nothing is buffered in it that a child would write again at its exit.
  void hold_for_fork();
  void go_on_after_fork();

 private:
  struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::mutex mutex_;
  std::unique_ptr<std::FILE, closer> file_;
  int rank_;
  std::int64_t to_system_ns_;  // from CLOCK_MONOTONIC to CLOCK_REALTIME
  std::int64_t flushed_ns_ = 0;
};

}  // namespace syncyte::capi
