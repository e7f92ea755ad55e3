// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "fabric/message.hpp"

namespace syncyte::fabric {

/// This process's key, and the check of messages that arrive: other users of the machine can connect to its workers.
/// Thread-safe.
class key_check {
 public:
  /// Draws the key. Throws SYNCYTE_ERR_INTERNAL.
  key_check();

  const process_key& key() const { return key_; }

  /// Whether a message carries the key; nothing else of it is looked at before. Counts those that do not, and logs a
  /// warning at the first one.
  bool admits(const message_header& header);

  /// Number of messages with another key.
  std::int64_t refused() const { return refused_; }

 private:
  process_key key_{};
  std::atomic<std::int64_t> refused_{0};
};

}  // namespace syncyte::fabric
