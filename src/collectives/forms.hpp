// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "collectives/checks.hpp"
#include "collectives/mover.hpp"
#include "collectives/started_collective.hpp"
#include "comm/collective_call.hpp"

namespace syncyte::collectives {

/// A collective is described once, by a class, and has two forms, blocking and started. The class is a data_operation
/// with the constructor
///
///     some_collective(comm::agreement& terms, form how, <what the caller gives>);
///
/// which does everything that can fail on this rank alone, and adds the facts that all ranks must share.

/// The blocking form.
template <class Collective, class... Given>
void run(comm::communicator& comm, const char* operation, const caller_facts& caller, Given&&... given) {
  comm::collective_call call(comm, operation);
  std::optional<Collective> made;
  call.attempt([&] {
    if (caller.error) throw *caller.error;
    made.emplace(call, form::blocking, std::forward<Given>(given)...);
    add_facts(call, caller);
  });
  comm::small_reduction* const carried = made ? made->carried() : nullptr;
  call.agree(carried);
  if (carried == nullptr) {
    if (!comm.bypasses_mpi()) made->compare(call);
    mover by(comm, form::blocking);
    made->move(by);
  }
  made->finish();
}

/// The started form.
template <class Collective, class... Given>
started_t start(const std::shared_ptr<comm::communicator>& comm, const char* operation, const caller_facts& caller,
                Given&&... given) {
  static_assert(std::is_same_v<decltype(&Collective::compare), decltype(&data_operation::compare)>,
                "only the blocking form calls compare()");
  return start_collective(comm, operation, [&](comm::agreement& terms) {
    if (caller.error) throw *caller.error;
    auto made = std::make_unique<Collective>(terms, form::started, std::forward<Given>(given)...);
    add_facts(terms, caller);
    return made;
  });
}

}  // namespace syncyte::collectives
