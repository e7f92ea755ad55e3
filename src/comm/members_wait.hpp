// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "comm/communicator.hpp"
#include "watchdog/long_wait.hpp"

namespace syncyte::comm {

/// A wait for all ranks of a communicator, or for some of them: none of them may have departed.
class members_wait final : public watchdog::long_wait {
 public:
  enum kind {
    members,   // all ranks have to take part, and a departed one does not
    everyone,  // departed ranks take part too: in collectives of the world, and in finalize
    transfer   // all ranks have taken part: data is in flight
  };

  /// `operation` is a string literal; sequence as in watchdog::scope.
  members_wait(const char* operation, const communicator& comm, std::uint64_t sequence, kind what = members)
      : operation_(operation), comm_(comm), sequence_(sequence), kind_(what) {}

  void set_awaited(std::function<bool(int)> is_awaited) override { is_awaited_ = std::move(is_awaited); }

 private:
  void examine(std::optional<watchdog::scope>& scope) override;
  void on_death() override;

  const char* operation_;
  const communicator& comm_;
  std::uint64_t sequence_;
  kind kind_;
  std::function<bool(int)> is_awaited_;  // empty: all are
};

}  // namespace syncyte::comm
