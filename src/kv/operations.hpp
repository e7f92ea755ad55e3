// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kv/held_keys.hpp"
#include "kv/table.hpp"

namespace syncyte::kv {

/// An operation on the values of keys: the differences between operations, here and at other nodes.
struct operation {
  std::uint16_t number;  ///< in requests to table_target
  const char* name;      ///< for messages
  bool reads;            ///< writes values of the caller; otherwise it reads them and changes the store
  bool replaces;         ///< makes keys anew whose last values are lost

  /// Run the operation on all keys of a list, or on some; `shared` gets the slots with copies elsewhere that changed.
  void (*run)(table& at, std::span<const std::int64_t> keys, float* values);
  void (*run_some)(table& at, std::span<const listed_key> keys, float* values, absent_keys& absent,
                   std::vector<std::int64_t>& shared);
  /// Runs the operation on keys of other nodes that are here.
  void (*run_held)(held_keys& at, std::span<const held_keys::held_key> keys, held_keys::grant_number newest,
                   float* values, absent_keys& absent);

  /// Runs the operation for another rank without waiting; returns the number of keys done or absent. Reads the values
  /// `given`, or writes `result`.
  std::size_t (*attempt)(table& at, std::span<const std::int64_t> keys, const std::byte* given, std::byte* result,
                         absent_keys& absent);
  /// The same for one shared key. Null: the operation is done only when no other node has a copy.
  access_result (*attempt_shared)(table& at, std::int64_t slot, std::byte* values);
  /// Runs the operation on one key of another node that may be here, without waiting.
  access_result (*attempt_held)(held_keys& at, std::int64_t slot, const std::byte* given, std::byte* result);

  /// Changes a copy of one key's values as the operation changes the store. Null: a worker that starts the operation
  /// drops its prefetches of these keys.
  void (*change)(std::span<float> values, const float* given) = nullptr;
};

extern const operation pull, push, set;

/// Numbers of operations are 1 to this.
inline constexpr std::size_t most_operations = 3;

/// Throws SYNCYTE_ERR_INTERNAL for an unknown number.
const operation& find_operation(std::uint16_t number);

}  // namespace syncyte::kv
