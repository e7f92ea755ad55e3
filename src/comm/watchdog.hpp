#pragma once

#include <cstdint>
#include <string>

namespace syncyte::comm {

class communicator;

/// The end of every hang that no agreement can see (SYNCYTE_WATCHDOG=seconds): a thread looks whether this rank has
/// been inside one operation for longer than the limit; then it prints what every rank of the node is doing, and aborts
/// the job. Where ranks are is kept on a board in memory that the node shares, which a rank blocked inside MPI cannot
/// withhold.
///
/// Collective over the world communicator; does nothing where no rank asks for it.
void start_watchdog(communicator& world);
void stop_watchdog();

/// Marks this thread as inside an operation for its lifetime. Costs a test of a flag when no watchdog runs.
class watchdog_scope {
 public:
  watchdog_scope(const char* operation, const std::string& comm, std::uint64_t sequence);
  ~watchdog_scope();
  watchdog_scope(const watchdog_scope&) = delete;
  watchdog_scope& operator=(const watchdog_scope&) = delete;

 private:
  int lane_;  // -1: not watched
};

}  // namespace syncyte::comm
