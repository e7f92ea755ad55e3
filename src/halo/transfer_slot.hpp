// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>

#include "mpi/progress.hpp"

namespace syncyte::halo {

/// The place of a halo's one transfer in flight.
class transfer_slot final : public mpi::progressing {
 public:
  /// `noun` names the halo in messages: a string literal.
  explicit transfer_slot(const char* noun) : noun_(noun) {}

  /// Takes the place. Throws SYNCYTE_ERR_BUSY if another transfer has it, or has failed half-way.
  void take();
  /// Takes the place for a change of the halo, not for a transfer.
  void hold();
  /// Frees the place, unless the halo is broken.
  void give_back();

  /// MPI has failed and may still use the halo's memory: the place stays taken.
  void set_broken(bool is_broken) { is_broken_ = is_broken; }

  /// Transfers begun on this rank.
  std::uint64_t count() const { return count_; }
  /// Held while the transfer makes progress.
  std::mutex& mutex() { return mutex_; }

  /// Sets the step by which waits for other operations make progress on the transfer; null: they make none. Called with
  /// the mutex held. Returns whether a step was set before.
  bool set_step(std::function<void()> step);
  void progress() override;

 private:
  const char* noun_;
  std::atomic_flag busy_;
  std::uint64_t count_ = 0;
  std::atomic<bool> is_broken_{false};
  std::mutex mutex_;  // guards step_ and the state of the transfer in flight
  std::function<void()> step_;
};

}  // namespace syncyte::halo
