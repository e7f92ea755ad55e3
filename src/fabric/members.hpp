// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "fabric/engine.hpp"
#include "fabric/process_table.hpp"

namespace syncyte::fabric {

/// The processes of a communicator's ranks, for requests among them. Thread-safe.
class members {
 public:
  /// `through`: this process's engine, which knows the processes (known_peers). `communicator`: its name, for messages.
  members(engine& through, std::shared_ptr<const process_table> processes, std::string communicator)
      : members(&through, std::move(processes), std::move(communicator)) {}
  virtual ~members() = default;
  members(const members&) = delete;
  members& operator=(const members&) = delete;

  engine& through() const { return *engine_; }
  peer& at(int rank) const { return engine_->peers().at(*processes_, static_cast<std::size_t>(rank)); }

  /// "rank 3 of world".
  std::string rank_name(int rank) const;

  /// An operation, in a stream of through() unless that is null: add() its requests, then wait() for it, or drive() and
  /// test() it. Throws in a forked child. Memory accesses of this thread before and after the operation are not
  /// reordered with it.
  exchange begin(stream* in = nullptr) const;
  /// Waits until all requests are answered, and throws the first owner's error. Does not call MPI, except for progress
  /// of started operations.
  void wait(const char* operation, exchange& running) const;

  /// A blocking operation: add(exchange) adds its requests.
  template <class Add>
  void run(const char* operation, Add&& add) const {
    exchange running = begin();
    std::forward<Add>(add)(running);
    wait(operation, running);
  }

 protected:
  /// Without an engine the functions above must not be called.
  members(engine* through, std::shared_ptr<const process_table> processes, std::string communicator)
      : engine_(through), processes_(std::move(processes)), communicator_(std::move(communicator)) {}

  bool has_engine() const { return engine_ != nullptr; }
  const std::shared_ptr<const process_table>& processes() const { return processes_; }

 private:
  engine* const engine_;
  const std::shared_ptr<const process_table> processes_;
  const std::string communicator_;
};

}  // namespace syncyte::fabric
