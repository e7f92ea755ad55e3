#include "kv/table.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "rows/row_index.hpp"

// Values are loaded and stored two at a time, by atomic operations that are plain moves on x86. A reader may read while
// a writer writes; it detects that afterwards. Loads acquire, so that the reader's second load of the key's word comes
// after them; stores release, so that they come after the writer's mark.

namespace syncyte::kv {
namespace {

using pair = std::array<float, 2>;
constexpr std::size_t prefetch_distance = 16;
constexpr std::int64_t line_pairs = 8,
                       most_lines = 8;  // of 64 bytes; the hardware prefetcher fetches the rest of longer vectors

pair load(const std::uint64_t& from) {
  return std::bit_cast<pair>(std::atomic_ref(const_cast<std::uint64_t&>(from)).load(std::memory_order_acquire));
}

void store(std::uint64_t& to, pair values) {
  std::atomic_ref(to).store(std::bit_cast<std::uint64_t>(values), std::memory_order_release);
}

pair read_pair(const float* from) {
  pair result;
  std::memcpy(result.data(), from, sizeof result);
  return result;
}

/// Prefetches a vector. Inlined, because GCC drops calls of functions that only prefetch.
template <bool ForWriting>
[[gnu::always_inline]] inline void prefetch(const std::uint64_t* vector, std::int64_t length) {
  const std::int64_t pairs = (length + 1) / 2;
  const std::int64_t end = pairs < line_pairs * most_lines ? pairs : line_pairs * most_lines;
  for (std::int64_t at = 0; at < end; at += line_pairs) __builtin_prefetch(vector + at, ForWriting);
}

/// Calls change(element pair, values) for each pair of elements of a vector; pads the last one with a zero if the
/// length is odd.
template <class Change>
void for_each_pair(std::uint64_t* to, const float* values, std::int64_t length, Change&& change) {
  for (std::int64_t i = 0; i < length / 2; ++i) change(to[i], read_pair(values + 2 * i));
  if (length % 2 != 0) change(to[length / 2], {values[length - 1], 0});
}

}  // namespace

table::table(key_layout layout, std::uint64_t* words, std::uint64_t* values, key_locks::process self)
    : layout_(std::move(layout)), words_(words, std::move(self)), values_(values) {}

std::int64_t table::check(std::span<const std::int64_t> keys) const {
  rows::row_index(keys).require_inside(layout_.keys(), "keys");
  return layout_.visit([&](auto vectors) {
    std::int64_t sum = 0;
    for (const std::int64_t key : keys) sum += vectors.length(key);
    return sum;
  });
}

/// Calls visit(key, place of its vector, values, length) for each key, and prefetches the keys ahead.
template <bool ForWriting, class Values, class Visitor>
void table::for_each(std::span<const std::int64_t> keys, Values* values, Visitor&& visitor) const {
  layout_.visit([&, values](auto vectors) mutable {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i + prefetch_distance < keys.size()) {
        const std::int64_t later = keys[i + prefetch_distance];
        words_.prefetch(later);
        prefetch<ForWriting>(values_ + vectors.first(later), vectors.length(later));
      }
      const std::int64_t length = vectors.length(keys[i]);
      visitor(keys[i], values_ + vectors.first(keys[i]), values, length);
      values += length;
    }
  });
}

void table::pull(std::span<const std::int64_t> keys, float* values) const {
  for_each<false>(keys, values, [&](std::int64_t key, const std::uint64_t* from, float* result, std::int64_t length) {
    while (true) {
      const std::uint64_t seen = words_.begin_read(key);
      for (std::int64_t i = 0; i < length / 2; ++i) {
        const pair both = load(from[i]);
        std::memcpy(result + 2 * i, both.data(), sizeof both);
      }
      if (length % 2 != 0) result[length - 1] = load(from[length / 2])[0];
      if (words_.is_unchanged(key, seen)) return;
    }
  });
}

void table::push(std::span<const std::int64_t> keys, const float* values) {
  for_each<true>(keys, values, [&](std::int64_t key, std::uint64_t* to, const float* given, std::int64_t length) {
    words_.begin_write(key, key_locks::damage::is_refused);
    for_each_pair(to, given, length, [](std::uint64_t& place, pair more) {
      const pair before = load(place);
      store(place, {before[0] + more[0], before[1] + more[1]});
    });
    words_.end_write(key);
  });
}

void table::set(std::span<const std::int64_t> keys, const float* values) {
  for_each<true>(keys, values, [&](std::int64_t key, std::uint64_t* to, const float* given, std::int64_t length) {
    words_.begin_write(key, key_locks::damage::is_mended);
    for_each_pair(to, given, length, store);
    words_.end_write(key);
  });
}

}  // namespace syncyte::kv
