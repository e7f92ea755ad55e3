// SPDX-License-Identifier: BSD-3-Clause
#include "kv/table.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "kv/key_access.hpp"
#include "rows/add_rows.hpp"
#include "rows/row_index.hpp"

namespace syncyte::kv {
namespace {

constexpr std::int64_t element_bytes = sizeof(float);
constexpr std::size_t prefetch_distance = 16;
constexpr std::int64_t line_pairs = 8,
                       most_lines = 8;  // of 64 bytes; the hardware prefetcher fetches the rest of longer vectors

/// Prefetches a vector. Inlined, because GCC drops calls of functions that only prefetch.
template <bool ForWriting>
[[gnu::always_inline]] inline void prefetch(const std::uint64_t* vector, std::int64_t length) {
  const std::int64_t pairs = (length + 1) / 2;
  const std::int64_t end = pairs < line_pairs * most_lines ? pairs : line_pairs * most_lines;
  for (std::int64_t at = 0; at < end; at += line_pairs) __builtin_prefetch(vector + at, ForWriting);
}

/// A list of keys whose values follow each other. `Byte` may be const.
template <class Byte>
class whole_list {
 public:
  whole_list(std::span<const std::int64_t> keys, Byte* values) : keys_(keys), next_(values) {}
  std::size_t size() const { return keys_.size(); }
  std::int64_t key(std::size_t i) const { return keys_[i]; }
  /// The values of key i; called once for each key, in order.
  Byte* take(std::size_t, std::int64_t length) { return std::exchange(next_, next_ + length * element_bytes); }

 private:
  std::span<const std::int64_t> keys_;
  Byte* next_;
};

/// Some keys of a list.
template <class Byte>
class partial_list {
 public:
  partial_list(std::span<const listed_key> keys, Byte* values) : keys_(keys), values_(values) {}
  std::size_t size() const { return keys_.size(); }
  std::int64_t key(std::size_t i) const { return keys_[i].slot; }
  Byte* take(std::size_t i, std::int64_t) const { return values_ + keys_[i].place * element_bytes; }

 private:
  std::span<const listed_key> keys_;
  Byte* values_;
};

std::byte* bytes_of(float* values) { return reinterpret_cast<std::byte*>(values); }
const std::byte* bytes_of(const float* values) { return reinterpret_cast<const std::byte*>(values); }

}  // namespace

table::table(key_layout layout, std::uint64_t* words, std::uint64_t* values, key_locks::process self,
             std::int64_t first)
    : layout_(layout),
      words_(words, std::move(self), first),
      values_(origin(values, layout_.first(first))),
      add_(rows::find_add(SYNCYTE_FLOAT32)) {}

void table::require_inside(std::span<const std::int64_t> keys) const {
  rows::row_index(keys).require_inside(layout_.keys(), "keys");
}

std::int64_t table::count_values(std::span<const std::int64_t> keys) const {
  return layout_.visit([&](auto vectors) {
    std::int64_t sum = 0;
    for (const std::int64_t key : keys) sum += vectors.length(key);
    return sum;
  });
}

/// Calls visit(key, place of its vector, values, length) for each key until it answers `busy`, and prefetches the keys
/// ahead. Adds the places in the list of keys that are elsewhere to `absent`. Returns the number of keys up to the busy
/// one.
template <bool ForWriting, class List, class Visitor>
std::size_t table::for_each(List list, absent_keys* absent, Visitor&& visitor) const {
  return layout_.visit([&, list](auto vectors) mutable {
    const std::size_t count = list.size();
    const auto place = [vectors, values = values_](std::int64_t key) { return values + vectors.first(key); };
    const auto prefetch_key = [&](std::size_t i) __attribute__((always_inline)) {
      const std::int64_t key = list.key(i);
      words_.template prefetch<ForWriting>(key);
      prefetch<ForWriting>(place(key), vectors.length(key));
    };
    for (std::size_t i = 0; i < std::min(count, prefetch_distance); ++i) prefetch_key(i);
    for (std::size_t i = 0; i < count; ++i) {
      if (i + prefetch_distance < count) prefetch_key(i + prefetch_distance);
      const std::int64_t key = list.key(i), length = vectors.length(key);
      const access_result result = visitor(key, reinterpret_cast<std::byte*>(place(key)), list.take(i, length), length);
      if (result == access_result::busy) return i;
      if (result == access_result::elsewhere) [[unlikely]]
        absent->push_back(i);
    }
    return count;
  });
}

template <class Access, class List>
std::size_t table::pull_each(List list, absent_keys* absent) const {
  return for_each<false>(list, absent,
                         [&](std::int64_t key, const std::byte* from, std::byte* result, std::int64_t length) {
                           return read_values<Access>(words_, key, from, result, length, any_key);
                         });
}

template <class Access, class List>
std::size_t table::push_each(List list, absent_keys* absent, std::vector<std::int64_t>* shared) {
  return for_each<true>(
      list, absent, [&](std::int64_t key, std::byte* to, const std::byte* given, std::int64_t length) {
        const access_result result = add_values<Access>(words_, key, add_, given, to, length, any_key);
        if (result == access_result::done_shared && shared != nullptr) [[unlikely]]
          shared->push_back(key);
        return result;
      });
}

template <class Access, class List>
std::size_t table::set_each(List list, absent_keys* absent) {
  return for_each<true>(list, absent,
                        [&](std::int64_t key, std::byte* to, const std::byte* given, std::int64_t length) {
                          if (std::is_same_v<Access, waiting> && absent != nullptr && !absent->empty())
                            return access_result::elsewhere;
                          return set_values<Access>(words_, key, given, to, length, any_key);
                        });
}

std::span<std::byte> table::values_of(std::int64_t key) const {
  return {reinterpret_cast<std::byte*>(values_ + layout_.first(key)),
          static_cast<std::size_t>(layout_.length(key)) * element_bytes};
}

void table::pull(std::span<const std::int64_t> keys, float* values) const {
  pull_each<waiting>(whole_list(keys, bytes_of(values)), nullptr);
}
void table::push(std::span<const std::int64_t> keys, const float* values) {
  push_each<waiting>(whole_list(keys, bytes_of(values)), nullptr);
}
void table::set(std::span<const std::int64_t> keys, const float* values) {
  set_each<waiting>(whole_list(keys, bytes_of(values)), nullptr);
}

void table::pull(std::span<const listed_key> keys, float* values, absent_keys& absent) const {
  pull_each<waiting>(partial_list(keys, bytes_of(values)), &absent);
}
void table::push(std::span<const listed_key> keys, const float* values, absent_keys& absent,
                 std::vector<std::int64_t>& shared) {
  push_each<waiting>(partial_list(keys, bytes_of(values)), &absent, &shared);
}
void table::set(std::span<const listed_key> keys, const float* values, absent_keys& absent) {
  set_each<waiting>(partial_list(keys, bytes_of(values)), &absent);
}

access_result table::try_pull_shared(std::int64_t key, std::byte* values) const {
  return read_values<trying_shared>(words_, key, values_of(key).data(), values, layout_.length(key), any_key);
}
access_result table::try_push_shared(std::int64_t key, const std::byte* values) {
  return add_values<trying_shared>(words_, key, add_, values, values_of(key).data(), layout_.length(key), any_key);
}

std::size_t table::try_pull(std::span<const std::int64_t> keys, std::byte* values, absent_keys& absent) const {
  return pull_each<trying>(whole_list(keys, values), &absent);
}
std::size_t table::try_push(std::span<const std::int64_t> keys, const std::byte* values, absent_keys& absent) {
  return push_each<trying>(whole_list(keys, values), &absent);
}
std::size_t table::try_set(std::span<const std::int64_t> keys, const std::byte* values, absent_keys& absent) {
  return set_each<trying>(whole_list(keys, values), &absent);
}

}  // namespace syncyte::kv
