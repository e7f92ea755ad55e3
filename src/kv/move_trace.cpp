// SPDX-License-Identifier: BSD-3-Clause
#include "kv/move_trace.hpp"

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/log.hpp"

namespace syncyte::kv {

move_trace::move_trace(std::string store, const key_homes& homes, std::int64_t keys) : store_(std::move(store)) {
  for (const std::int64_t key : base::environment_numbers(base::settings::store_trace))
    if (key < keys) keys_.emplace(homes.slot(key), key);
}

void move_trace::sends(std::int64_t slot, const std::string& who, const std::string& what, const std::string& other,
                       const std::string& state) const {
  write(slot, fmt::format("{} sends {} to {}; {}", who, what, other, state));
}

void move_trace::write_handled(std::int64_t slot, const received& message, const std::string& before,
                               const std::string& after) const {
  const std::string change = before == after ? before : fmt::format("{} -> {}", before, after);
  write(slot, fmt::format("{} {} {} from {}: {}", message.who, message.verb, message.what, message.from, change));
}

/// The variable asks for these lines, whatever SYNCYTE_LOG is.
void move_trace::write(std::int64_t slot, const std::string& text) const {
  base::log_line(SYNCYTE_LOG_INFO, fmt::format("{}, key {}: {}", store_, keys_.at(slot), text));
}

}  // namespace syncyte::kv
