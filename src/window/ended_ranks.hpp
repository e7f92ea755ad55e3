// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "comm/communicator.hpp"
#include "window/remote.hpp"

namespace syncyte::window {

/// Ranks that have come to finalize and change no memory any more: for waits that only another rank can end. A rank of
/// another node is asked by the fabric, after a second and then ten times a second until it answers yes; without the
/// fabric it is not known to have ended.
class ended_ranks {
 public:
  /// `elsewhere` reaches the ranks of other nodes; null: there are none.
  ended_ranks(const comm::communicator& comm, remote* elsewhere) : comm_(comm), elsewhere_(elsewhere) {}

  bool contains(int rank);
  /// True if all other ranks have ended, of which there must be one. Remembers the ranks that have.
  bool contains_all_others();

  /// Throws SYNCYTE_ERR_PEER_DIED: a rank has ended. "`rank 1 of world` has come to finalize, `and ...`".
  [[noreturn]] void fail(int rank, const std::string& object, const std::string& consequence) const;
  /// As fail(): all other ranks have ended.
  [[noreturn]] void fail_by_all_others(const std::string& object, const std::string& consequence) const;

 private:
  const comm::communicator& comm_;
  remote* elsewhere_;
  /// Whether a rank of another node has answered yes; false until it can be asked. Throws SYNCYTE_ERR_PEER_DIED.
  bool ask(int rank);

  int first_unknown_ = 1;  // ranks at distances 1 to first_unknown_ - 1 above this one, modulo their number, have ended
  std::unique_ptr<fabric::departure_question> question_;
  int asked_ = -1;  // the rank that question_ asks
  std::chrono::steady_clock::time_point next_question_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

}  // namespace syncyte::window
