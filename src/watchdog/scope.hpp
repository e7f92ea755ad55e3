#pragma once

#include <cstdint>
#include <string>

namespace syncyte::watchdog {

/// Marks this thread as inside an operation for its lifetime. Costs a test of a flag when no watchdog runs.
/// `sequence` is the operation's number on its communicator, 0 if it has none; `ranks` how many enter the operation, 0
/// where it does not wait for all of a communicator. A `patient` operation may last as long as it likes: it is shown to
/// others, but never ends the job. Nor does an `open_ended` one, which may be a hang: the first of a node that outlasts
/// the limit is reported.
class scope {
 public:
  enum kind { limited, patient, open_ended };

  scope(const char* operation, const std::string& comm, std::uint64_t sequence, int ranks = 0, kind how = limited);
  ~scope();
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

 private:
  int lane_;  // -1: not watched
};

/// Lists an operation that was started and has not ended, for its lifetime; that alone never ends the job. Costs a test
/// of a flag when no watchdog runs.
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
