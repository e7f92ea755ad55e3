// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/target.hpp"
#include "kv/key_homes.hpp"

namespace syncyte::kv {

/// Writes a line to the log for each message about keys of SYNCYTE_STORE_TRACE that this process sends or handles:
/// those between homes and agents, and those of workers to either.
class move_trace {
 public:
  /// Follows no key.
  move_trace() = default;
  /// `store`: its name, for the lines. Keys that it does not have are ignored.
  move_trace(std::string store, const key_homes& homes, std::int64_t keys);

  bool is_on() const { return !keys_.empty(); }
  bool follows(std::int64_t slot) const { return is_on() && keys_.contains(slot); }

  /// Writes that `who` sends a message to `other`. `state`: of the key now.
  void sends(std::int64_t slot, const std::string& who, const std::string& what, const std::string& other,
             const std::string& state) const;

  /// A message that `who` handles. `verb`: "gets", or "answers" if it may have to wait for other messages.
  struct received {
    std::string who, verb, what, from;
    std::vector<std::int64_t> slots;
  };
  /// Returns handle(), which does what the message says for the keys from request.done on. Writes a line for each key
  /// that is done then, with state_of(slot) before and after it.
  template <class StateOf, class Handle>
  bool handles(const received& message, const fabric::served_request& request, StateOf&& state_of,
               Handle&& handle) const {
    const std::size_t first = request.done;
    std::map<std::int64_t, std::string> before;
    for (const std::int64_t slot : message.slots)
      if (follows(slot)) before.emplace(slot, state_of(slot));
    const bool is_done = std::forward<Handle>(handle)();
    const std::size_t end = is_done ? message.slots.size() : request.done;
    for (std::size_t i = first; i < end; ++i)
      if (const auto found = before.find(message.slots[i]); found != before.end())
        write_handled(found->first, message, found->second, state_of(found->first));
    return is_done;
  }

 private:
  void write_handled(std::int64_t slot, const received& message, const std::string& before,
                     const std::string& after) const;
  void write(std::int64_t slot, const std::string& text) const;

  std::string store_;
  std::map<std::int64_t, std::int64_t> keys_;  // by slot
};

}  // namespace syncyte::kv
