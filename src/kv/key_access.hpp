// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kv/copy_vector.hpp"
#include "kv/key_locks.hpp"
#include "rows/wide_rows.hpp"

namespace syncyte::kv {

/// The result of an access to a key's values. `done_shared`: a write is done, and other nodes have copies of the old
/// values. `busy`: another thread writes them, and this one must not wait.
enum class access_result { done, done_shared, busy, elsewhere };

/// Ways to begin a read or a write. Workers of the node wait for writers; they set no values of a shared key.
struct waiting {
  static constexpr bool reads_shared = true;
  static std::optional<std::uint64_t> begin_read(const key_locks& words, std::int64_t key) {
    return words.begin_read(key);
  }
  static key_locks::attempt begin_write(key_locks& words, std::int64_t key, key_locks::damage what) {
    const auto how =
        what == key_locks::damage::is_mended ? key_locks::sharing::is_refused : key_locks::sharing::is_allowed;
    return words.begin_write(key, what, how) ? key_locks::attempt::locked : key_locks::attempt::elsewhere;
  }
};

/// The serving thread does not wait. Shared keys are elsewhere for it, or not.
template <key_locks::sharing How>
struct trying_with {
  static constexpr bool reads_shared = How == key_locks::sharing::is_allowed;
  static std::optional<std::uint64_t> begin_read(const key_locks& words, std::int64_t key) {
    return words.try_begin_read(key);
  }
  static key_locks::attempt begin_write(key_locks& words, std::int64_t key, key_locks::damage what) {
    return words.try_begin_write(key, what, How);
  }
};
using trying = trying_with<key_locks::sharing::is_refused>;
using trying_shared = trying_with<key_locks::sharing::is_allowed>;

/// The is_right() of the functions below where a place always has the same key's values.
inline constexpr auto any_key = [] { return true; };

/// Reads `length` values of a key. is_right() is asked between begin and end: false, the values are another key's.
template <class Access, class IsRight>
access_result read_values(const key_locks& words, std::int64_t key, const std::byte* from, std::byte* to,
                          std::int64_t length, IsRight&& is_right) {
  while (true) {
    const auto seen = Access::begin_read(words, key);
    if (!seen) return access_result::busy;
    if (key_locks::is_elsewhere(*seen) || (!Access::reads_shared && key_locks::is_shared(*seen)))
      return access_result::elsewhere;
    const bool was_right = is_right();
    if (was_right) copy_vector(to, from, length);
    if (words.is_unchanged(key, *seen)) return was_right ? access_result::done : access_result::elsewhere;
  }
}

/// Writes values of a key by write(), which must not throw; is_right() as above.
template <class Access, class IsRight, class Write>
access_result write_values(key_locks& words, std::int64_t key, key_locks::damage what, IsRight&& is_right,
                           Write&& write) {
  const key_locks::attempt begun = Access::begin_write(words, key, what);
  if (begun == key_locks::attempt::busy) return access_result::busy;
  if (begun == key_locks::attempt::elsewhere) return access_result::elsewhere;
  const bool was_right = is_right();
  if (was_right) write();
  const bool is_shared = words.end_write(key);
  if (!was_right) return access_result::elsewhere;
  return is_shared ? access_result::done_shared : access_result::done;
}

template <class Access, class IsRight>
access_result add_values(key_locks& words, std::int64_t key, rows::add_function add, const std::byte* given,
                         std::byte* to, std::int64_t length, IsRight&& is_right) {
  return write_values<Access>(words, key, key_locks::damage::is_refused, is_right,
                              [&] { add(to, given, static_cast<std::size_t>(length)); });
}

template <class Access, class IsRight>
access_result set_values(key_locks& words, std::int64_t key, const std::byte* given, std::byte* to, std::int64_t length,
                         IsRight&& is_right) {
  return write_values<Access>(words, key, key_locks::damage::is_mended, is_right,
                              [&] { copy_vector(to, given, length); });
}

}  // namespace syncyte::kv
