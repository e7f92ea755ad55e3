// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kv/key_access.hpp"
#include "kv/key_layout.hpp"
#include "kv/key_locks.hpp"
#include "rows/wide_rows.hpp"

namespace syncyte::kv {

/// A key of a list, by its slot, and the place of its values among the values of the list.
struct listed_key {
  std::int64_t slot;
  std::int64_t place;  // in elements
};

/// Places in a list of keys whose values are elsewhere now: the operation has done nothing with them.
using absent_keys = std::vector<std::size_t>;

/// Values of keys in memory that a node's processes share. Operations on one key are atomic: a pull sees all of a push
/// or none of it, and concurrent pushes and sets are serialized. A list of keys is processed in order and is not atomic
/// as a whole. Any number of threads and processes may call at once. Keys may repeat.
///
/// Keys are given by their slots (key_homes); on one node a key is its own slot.
///
/// If a process has died while it wrote a key's values, a pull or push of that key throws SYNCYTE_ERR_PEER_DIED, after
/// the keys before it in the list were processed; a set repairs the key.
class table {
 public:
  /// `words` has one for each key, and `values` their vectors as the layout places them, both for the layout's keys
  /// from `first` to any end. Both are zeroed before first use.
  table(key_layout layout, std::uint64_t* words, std::uint64_t* values, key_locks::process self,
        std::int64_t first = 0);

  const key_layout& layout() const { return layout_; }

  /// Throws SYNCYTE_ERR_INDEX for the first key that is not in the layout, with its position. The functions below
  /// require keys that are in it, and whose values are here.
  void require_inside(std::span<const std::int64_t> keys) const;
  /// Sum of the keys' lengths.
  std::int64_t count_values(std::span<const std::int64_t> keys) const;

  void pull(std::span<const std::int64_t> keys, float* values) const;
  /// Adds; a key that repeats is added to several times.
  void push(std::span<const std::int64_t> keys, const float* values);
  void set(std::span<const std::int64_t> keys, const float* values);

  /// Pulls, pushes or sets the values of some keys of a list; the whole list's values begin at `values`. Adds to
  /// `absent`. All keys that follow an absent one in a set are absent too, so that the last values of a repeated key
  /// stay. A push adds the slots to `shared` of which other nodes have copies; a set treats them as absent.
  void pull(std::span<const listed_key> keys, float* values, absent_keys& absent) const;
  void push(std::span<const listed_key> keys, const float* values, absent_keys& absent,
            std::vector<std::int64_t>& shared);
  void set(std::span<const listed_key> keys, const float* values, absent_keys& absent);

  /// As pull, push and set, for the thread that moves keys, which must not wait: returns the number of keys done or
  /// absent, which is less than all if another thread is writing the next key. The bytes of the values have any
  /// alignment. Shared keys are absent.
  std::size_t try_pull(std::span<const std::int64_t> keys, std::byte* values, absent_keys& absent) const;
  std::size_t try_push(std::span<const std::int64_t> keys, const std::byte* values, absent_keys& absent);
  std::size_t try_set(std::span<const std::int64_t> keys, const std::byte* values, absent_keys& absent);

  /// The same for one key, which may be shared.
  access_result try_pull_shared(std::int64_t key, std::byte* values) const;
  access_result try_push_shared(std::int64_t key, const std::byte* values);

  /// The values of a key that is going elsewhere; locks() tells when they may be read or written.
  std::span<std::byte> values_of(std::int64_t key) const;
  key_locks& locks() { return words_; }
  bool is_elsewhere(std::int64_t key) const { return words_.is_elsewhere(key); }
  [[gnu::always_inline]] void prefetch_lock(std::int64_t key) const { words_.prefetch<false>(key); }

 private:
  template <bool ForWriting, class List, class Visitor>
  std::size_t for_each(List list, absent_keys* absent, Visitor&& visitor) const;
  template <class Access, class List>
  std::size_t pull_each(List list, absent_keys* absent) const;
  template <class Access, class List>
  std::size_t push_each(List list, absent_keys* absent, std::vector<std::int64_t>* shared = nullptr);
  template <class Access, class List>
  std::size_t set_each(List list, absent_keys* absent);

  key_layout layout_;
  key_locks words_;
  std::uint64_t* values_;  // where key 0's vector would be
  rows::add_function add_;
};

}  // namespace syncyte::kv
