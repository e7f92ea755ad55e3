#pragma once

#include <cstdint>
#include <span>

#include "kv/key_layout.hpp"
#include "kv/key_words.hpp"

namespace syncyte::kv {

/// Keys' values in memory that a node's processes share. What is done to one key is done at once: a pull sees all of a
/// push or nothing of it, and pushes and sets follow one another; a list of keys is gone through in its order, and
/// others may come between. Any number of threads and processes may call at once. Keys may repeat.
///
/// Where a process has died while it wrote a key's values, a pull or a push of that key throws SYNCYTE_ERR_PEER_DIED,
/// after what came before it in the list was done; a set makes it whole again.
class table {
 public:
  /// `words`: one for each key, `values`: layout.first(layout.keys()) times 8 bytes; both zero at first.
  table(key_layout layout, std::uint64_t* words, std::uint64_t* values, key_words::process self);

  const key_layout& layout() const { return layout_; }

  /// The sum of the keys' lengths. Throws SYNCYTE_ERR_INDEX for the first key that is not there, with its position; the
  /// following functions expect that it has not.
  std::int64_t check(std::span<const std::int64_t> keys) const;

  void pull(std::span<const std::int64_t> keys, float* values) const;
  /// Adds; for a key that repeats several times.
  void push(std::span<const std::int64_t> keys, const float* values);
  void set(std::span<const std::int64_t> keys, const float* values);

 private:
  template <bool ForWriting, class Values, class Visitor>
  void for_each(std::span<const std::int64_t> keys, Values* values, Visitor&& visitor) const;

  key_layout layout_;
  key_words words_;
  std::uint64_t* values_;
};

}  // namespace syncyte::kv
