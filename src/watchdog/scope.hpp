// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace syncyte::watchdog {

/// Marks this thread as inside an operation for its lifetime. Costs a test of a flag when no watchdog runs.
/// `sequence` is the operation's number on its communicator, 0 if it has none. `ranks` is the number of ranks that
/// enter the operation, 0 if it does not wait for all of a communicator. An `unlimited` operation may last any time: it
/// appears in reports, but never causes one. A `reported_once` operation may be a hang: the first on a node that
/// exceeds the limit is reported, and the job goes on.
class scope {
 public:
  enum kind { limited, unlimited, reported_once };

  scope(const char* operation, const std::string& comm, std::uint64_t sequence, int ranks = 0, kind how = limited);
  ~scope();
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  /// The wait has come to its end: the next one is another wait, however soon it begins.
  void complete() { is_complete_ = true; }

 private:
  int record_;  // -1: not watched
  bool is_complete_ = false;
};

/// Lists an operation that was started and is not complete, for its lifetime. It appears in reports, but never causes
/// one. Costs a test of a flag when no watchdog runs.
class started_scope {
 public:
  started_scope(const char* operation, const std::string& comm, std::uint64_t sequence);
  ~started_scope();
  started_scope(const started_scope&) = delete;
  started_scope& operator=(const started_scope&) = delete;

 private:
  static constexpr int none = -1;
  static constexpr int unnamed = -2;  // only counted
  int slot_;
};

}  // namespace syncyte::watchdog
