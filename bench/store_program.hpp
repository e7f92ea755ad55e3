// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Helpers for programs that measure stores between hosts.

#include <cstdint>
#include <cstdio>
#include <exception>

#include "hosts.hpp"
#include "syncyte/syncyte.hpp"

namespace syncyte::bench {

/// Whether stores can be made between these hosts; otherwise says why not. Collective.
inline bool has_stores(const syncyte::communicator& world) {
  try {
    const syncyte::store store(world, 2, 1);
    return true;
  } catch (const syncyte::error& problem) {
    if (problem.code() != syncyte::status::unsupported) throw;
    if (works()) std::fprintf(stderr, "SKIPPED: %s\n", problem.what());
    return false;
  }
}

/// Runs measurements, if stores can be made: run(world). An error ends the job.
template <class Run>
void run_with_stores(Run&& run) {
  try {
    const syncyte::environment environment;
    const auto world = syncyte::communicator::world();
    if (has_stores(world)) run(world);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    syncyte::abort(1);
  }
}

}  // namespace syncyte::bench
