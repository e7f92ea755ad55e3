// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "mpi/progress.hpp"
#include "watchdog/scope.hpp"

namespace syncyte::watchdog {

/// A wait that does extra work once it has lasted a millisecond. About a hundred times a second it publishes this
/// rank's operation to the watchdog and checks whether the awaited event can still happen; it looks for ranks that have
/// died (mpi/deaths.hpp), and ten times a second it calls the interrupt function (interrupts.hpp). A short wait only
/// looks at a flag in addition: is a death known?
class long_wait {
 public:
  /// Rounds of polling between two calls of poll(). On a loaded machine each round may yield a time slice.
  static constexpr unsigned often = 8;

  /// Reads the clock and does the extra work that is due; true if some was: then MPI should make progress too. Throws
  /// what examine() throws, or interrupted.
  bool poll();

  /// Calls on_death() if a rank of the job is known to have died.
  void examine_deaths() {
    if (mpi::knows_death()) [[unlikely]]
      on_death();
  }

  /// Whether this wait has lasted long enough for `bytes` sent before it to arrive at 100 MB/s.
  bool has_lasted(std::size_t bytes = 0) const;

  /// Restricts the wait to ranks for which the function, which gets their number in the communicator, returns true.
  virtual void set_awaited(std::function<bool(int)>) {}

 protected:
  ~long_wait() = default;
  /// Describes the wait in `scope`, unless it is described already; throws if the wait cannot end.
  virtual void examine(std::optional<scope>& scope) = 0;
  /// Throws SYNCYTE_ERR_PEER_DIED, naming the ranks that have died, if the wait cannot end without them: all waits that
  /// need MPI. Others go on.
  virtual void on_death() {}

 private:
  std::int64_t begin_ns_ = 0;
  std::int64_t next_ns_ = 0;
  unsigned polls_ = 0;
  std::optional<scope> scope_;
};

/// A wait that calls a function, which may throw, once it has lasted long enough for messages sent before it to arrive.
template <class Check>
class checked_wait final : public long_wait {
 public:
  explicit checked_wait(Check check) : check_(std::move(check)) {}

 private:
  void examine(std::optional<scope>&) override {
    if (has_lasted()) check_();
  }
  void on_death() override { mpi::fail_by_death(); }

  Check check_;
};

/// A wait that is known only by its names, which are string literals.
class plain_wait final : public long_wait {
 public:
  plain_wait(const char* operation, const char* title) : operation_(operation), title_(title) {}

 private:
  void examine(std::optional<scope>& scope) override;
  void on_death() override { mpi::fail_by_death(); }

  const char* operation_;
  const char* title_;
};

/// Polls until the condition holds, and calls wait.poll() every few rounds. Ends with SYNCYTE_ERR_PEER_DIED once a
/// death is known. A wait by mpi::poll_until() is neither reported nor interrupted; callers write the namespace,
/// because argument-dependent lookup would find either function.
template <class Condition>
void poll_until(Condition&& is_done, long_wait& wait, void (*let_progress)() = mpi::let_progress) {
  for (unsigned round = 1;; ++round) {
    wait.examine_deaths();
    if (is_done()) return;
    if (mpi::needs_progress()) mpi::progress_all();
    if (round % long_wait::often == 0 && (wait.poll() || round % (8 * long_wait::often) == 0)) let_progress();
    mpi::pause_polling();
  }
}

/// Polls a condition that calls MPI itself, as often as a blocking MPI call would: MPI yields the processor if it is
/// configured to.
template <class Condition>
void poll_mpi_until(Condition&& is_done, long_wait& wait) {
  for (unsigned round = 1;; ++round) {
    wait.examine_deaths();
    if (is_done()) return;
    if (round % long_wait::often != 0) continue;
    if (mpi::needs_progress()) mpi::progress_all();
    wait.poll();
  }
}

}  // namespace syncyte::watchdog
