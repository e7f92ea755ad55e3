#include "kv/table.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.hpp"

// Values are loaded and stored two at a time, by atomic operations that are plain moves on x86: a reader may look while
// a writer writes, and finds out afterwards. Loads acquire, so that the reader's second look at the key's word comes
// after them; stores release, so that they come after the writer's mark.

namespace syncyte::kv {
namespace {

using pair = std::array<float, 2>;
constexpr std::size_t prefetch_distance = 16;
constexpr std::int64_t line_pairs = 8,
                       most_lines = 8;  // of 64 bytes; the processor's own prefetcher follows longer ones

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

[[noreturn]] void refuse_key(std::size_t position, std::int64_t key, std::int64_t keys) {
  base::refuse(SYNCYTE_ERR_INDEX, {.argument = "keys",
                                   .axis = static_cast<std::int64_t>(position),
                                   .value = fmt::format("{}", key),
                                   .expected = fmt::format("0 to {}", keys - 1)});
}

/// change(place, values) for each whole pair of a vector, and then with a zero beside the last element where the length
/// is odd.
template <class Change>
void for_each_pair(std::uint64_t* to, const float* values, std::int64_t length, Change&& change) {
  for (std::int64_t i = 0; i < length / 2; ++i) change(to[i], read_pair(values + 2 * i));
  if (length % 2 != 0) change(to[length / 2], {values[length - 1], 0});
}

}  // namespace

table::table(key_layout layout, std::uint64_t* words, std::uint64_t* values, key_words::process self)
    : layout_(std::move(layout)), words_(words, std::move(self)), values_(values) {}

std::int64_t table::check(std::span<const std::int64_t> keys) const {
  std::int64_t expected = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] < 0 || keys[i] >= layout_.keys()) [[unlikely]]
      refuse_key(i, keys[i], layout_.keys());
    expected += layout_.length(keys[i]);
  }
  return expected;
}

template <bool ForWriting>
inline void table::prefetch(std::span<const std::int64_t> keys, std::size_t position) const {
  if (position >= keys.size()) return;
  const std::int64_t key = keys[position];
  words_.prefetch(key);
  const std::uint64_t* const first = values_ + layout_.first(key);
  const std::int64_t pairs = (layout_.length(key) + 1) / 2;
  const std::int64_t end = pairs < line_pairs * most_lines ? pairs : line_pairs * most_lines;
  for (std::int64_t at = 0; at < end; at += line_pairs) __builtin_prefetch(first + at, ForWriting);
}

void table::read(std::int64_t key, float* values, std::int64_t length) const {
  const std::uint64_t* const from = values_ + layout_.first(key);
  while (true) {
    const std::uint64_t seen = words_.begin_read(key);
    for (std::int64_t i = 0; i < length / 2; ++i) {
      const pair both = load(from[i]);
      std::memcpy(values + 2 * i, both.data(), sizeof both);
    }
    if (length % 2 != 0) values[length - 1] = load(from[length / 2])[0];
    if (words_.is_unchanged(key, seen)) return;
  }
}

void table::pull(std::span<const std::int64_t> keys, float* values) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    prefetch<false>(keys, i + prefetch_distance);
    const std::int64_t length = layout_.length(keys[i]);
    read(keys[i], values, length);
    values += length;
  }
}

void table::push(std::span<const std::int64_t> keys, const float* values) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    prefetch<true>(keys, i + prefetch_distance);
    const std::int64_t length = layout_.length(keys[i]);
    std::uint64_t* const to = values_ + layout_.first(keys[i]);
    words_.begin_write(keys[i], key_words::damage::is_refused);
    for_each_pair(to, values, length, [](std::uint64_t& place, pair more) {
      const pair before = load(place);
      store(place, {before[0] + more[0], before[1] + more[1]});
    });
    words_.end_write(keys[i]);
    values += length;
  }
}

void table::set(std::span<const std::int64_t> keys, const float* values) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    prefetch<true>(keys, i + prefetch_distance);
    const std::int64_t length = layout_.length(keys[i]);
    std::uint64_t* const to = values_ + layout_.first(keys[i]);
    words_.begin_write(keys[i], key_words::damage::is_mended);
    for_each_pair(to, values, length, store);
    words_.end_write(keys[i]);
    values += length;
  }
}

}  // namespace syncyte::kv
