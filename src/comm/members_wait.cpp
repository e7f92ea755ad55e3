// SPDX-License-Identifier: BSD-3-Clause
#include "comm/members_wait.hpp"

#include "comm/dead_ranks.hpp"
#include "comm/departures.hpp"

namespace syncyte::comm {

void members_wait::examine(std::optional<watchdog::scope>& scope) {
  if (!scope)
    scope.emplace(operation_, comm_.name(), sequence_, kind_ == transfer ? 0 : comm_.size(),
                  comm_.is_unlimited() ? watchdog::scope::unlimited : watchdog::scope::limited);
  if (!has_lasted()) return;
  if (kind_ != members) return;
  if (const int rank = first_departed(comm_, is_awaited_); rank >= 0) throw departed_error(comm_, rank, operation_);
}

void members_wait::on_death() { comm::fail_by_death(comm_); }

}  // namespace syncyte::comm
