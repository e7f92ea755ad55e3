// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "fabric/transport.hpp"

namespace syncyte::fabric {

/// Counts of all that a process has sent since its engine was made, heartbeats included.
struct traffic {
  std::atomic<std::int64_t> links{0};  ///< made to other processes
  std::atomic<std::int64_t> messages{0};
  std::atomic<std::int64_t> bytes{0};  ///< headers and payloads
};

/// A transport that counts what goes over another one. `counts` outlives it.
std::unique_ptr<transport> counted(std::unique_ptr<transport> way, traffic& counts);

}  // namespace syncyte::fabric
