#pragma once

#include <cstdint>
#include <span>

#include "kv/key_layout.hpp"
#include "kv/key_locks.hpp"

namespace syncyte::kv {

/// Values of keys in memory that a node's processes share. Operations on one key are atomic: a pull sees all of a push
/// or none of it, and concurrent pushes and sets are serialized. A list of keys is processed in order and is not atomic
/// as a whole. Any number of threads and processes may call at once. Keys may repeat.
///
/// If a process has died while it wrote a key's values, a pull or push of that key throws SYNCYTE_ERR_PEER_DIED, after
/// the keys before it in the list were processed; a set repairs the key.
class table {
 public:
  /// `words`: one for each key; `values`: layout.first(layout.keys()) times 8 bytes. Both are zeroed before first use.
  table(key_layout layout, std::uint64_t* words, std::uint64_t* values, key_locks::process self);

  const key_layout& layout() const { return layout_; }

  /// Returns the sum of the keys' lengths. Throws SYNCYTE_ERR_INDEX for the first key that does not exist, with its
  /// position. The following functions require keys that pass this check.
  std::int64_t check(std::span<const std::int64_t> keys) const;

  void pull(std::span<const std::int64_t> keys, float* values) const;
  /// Adds; a key that repeats is added to several times.
  void push(std::span<const std::int64_t> keys, const float* values);
  void set(std::span<const std::int64_t> keys, const float* values);

 private:
  template <bool ForWriting, class Values, class Visitor>
  void for_each(std::span<const std::int64_t> keys, Values* values, Visitor&& visitor) const;

  key_layout layout_;
  key_locks words_;
  std::uint64_t* values_;
};

}  // namespace syncyte::kv
