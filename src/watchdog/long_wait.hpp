#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "mpi/progress.hpp"
#include "watchdog/scope.hpp"

namespace syncyte::watchdog {

/// A wait that, once it has lasted a millisecond, does more about a hundred times a second: it shows the watchdog where
/// this rank is, and looks whether what it waits for can still come; ten times a second it asks the application whether
/// to go on (interrupts.hpp). A short wait pays for none of this.
class long_wait {
 public:
  /// Rounds of polling from one look() to the next. On a loaded machine each may give away a time slice.
  static constexpr unsigned often = 8;

  long_wait() = default;
  long_wait(const long_wait&) = delete;
  long_wait& operator=(const long_wait&) = delete;

  /// Reads the clock, and does what is due, if anything. Throws what examine() throws, or interrupted.
  bool look();

  /// The wait is for this rank alone now, by its number in the communicator.
  virtual void set_awaited(int) {}

 protected:
  ~long_wait() = default;
  /// Enters into the scope what is waited for, where that is not there yet; throws where the wait cannot end.
  virtual void examine(std::optional<scope>& scope) = 0;

  /// Whether what others had sent before this wait began must have come, at 100 MB/s at least.
  bool has_lasted(std::size_t bytes = 0) const;

 private:
  std::int64_t begin_ns_ = 0;
  std::int64_t next_ns_ = 0;
  unsigned looks_ = 0;
  std::optional<scope> scope_;
};

/// A wait of which only the name is known; both are string literals.
class plain_wait final : public long_wait {
 public:
  plain_wait(const char* operation, const char* title) : operation_(operation), title_(title) {}

 private:
  void examine(std::optional<scope>& scope) override;

  const char* operation_;
  const char* title_;
};

/// As poll_until(), with what a long wait does.
template <class Condition>
void poll_until(Condition&& is_done, long_wait& wait, void (*let_progress)() = mpi::let_progress) {
  for (unsigned round = 1; !is_done(); ++round) {
    if (mpi::needs_progress()) mpi::progress_all();
    if (round % long_wait::often == 0 && (wait.look() || round % (8 * long_wait::often) == 0)) let_progress();
    mpi::pause_polling();
  }
}

/// Polls what calls MPI itself, as closely as a blocking call of MPI's would: MPI gives the processor away where it was
/// told to.
template <class Condition>
void poll_mpi_until(Condition&& is_done, long_wait& wait) {
  for (unsigned round = 1; !is_done(); ++round) {
    if (round % long_wait::often != 0) continue;
    if (mpi::needs_progress()) mpi::progress_all();
    wait.look();
  }
}

}  // namespace syncyte::watchdog
