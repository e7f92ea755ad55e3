// SPDX-License-Identifier: BSD-3-Clause
#include "kv/held_keys.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "rows/add_rows.hpp"

namespace syncyte::kv {
namespace {

constexpr std::size_t unit_bytes = sizeof(std::uint64_t);
constexpr std::int64_t header_units = 8;
constexpr std::int64_t block_header = 4;
constexpr std::int64_t slot_word = 1, grant_word = 2, unsent_word = 3;  // of a record; its block of unsent pushes, or 0
constexpr std::int64_t state_word = 2, next_word = 3;                   // of that block
constexpr std::uint64_t bucket_cells = 8, most_cells = 2 * bucket_cells;  // a key may be in two buckets
constexpr std::size_t prefetch_distance = 16;

/// Places in the header.
enum unit : std::int64_t { grants_unit, keys_unit, coming_time_unit, dirty_unit, told_unit, copies_unit, asked_unit };

/// A copy's state: the number of the pushes that were sent last, bits, and its block of sent pushes.
constexpr std::uint64_t sent_bit = 1 << 8, dirty_bit = 1 << 9, pushes_mask = 0xff, block_mask = ~std::uint64_t{0xffff};
constexpr int block_shift = 16;

/// A cell of the index: a part of the key's hash above its record.
constexpr int hash_shift = 40;
constexpr std::uint64_t record_mask = (std::uint64_t{1} << hash_shift) - 1;

/// The finalizer of splitmix64 (Steele, Lea and Flood, 2014).
std::uint64_t hash(std::int64_t slot) {
  auto mixed = static_cast<std::uint64_t>(slot) + 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

std::int64_t units_of(std::int64_t length) { return block_header + length / 2 + length % 2; }

/// Number of buckets of the index: cells for twice as many keys as there can be.
std::uint64_t count_buckets(std::size_t budget, const key_layout& layout) {
  const std::int64_t length = layout.is_uniform() && layout.keys() > 0 ? layout.length(0) : 1;
  const std::uint64_t most = std::min<std::uint64_t>(budget / (static_cast<std::size_t>(units_of(length)) * unit_bytes),
                                                     static_cast<std::uint64_t>(layout.keys()));
  return std::bit_ceil(std::max<std::uint64_t>(2, most * 2 / bucket_cells));
}

std::byte* bytes_of(float* values) { return reinterpret_cast<std::byte*>(values); }
const std::byte* bytes_of(const float* values) { return reinterpret_cast<const std::byte*>(values); }

}  // namespace

std::size_t held_keys::memory_bytes(std::size_t budget, const key_layout& layout) {
  return header_units * unit_bytes + count_buckets(budget, layout) * bucket_cells * unit_bytes + budget;
}

held_keys::held_keys(key_layout layout, std::byte* memory, std::size_t budget, key_locks::process self)
    : layout_(layout),
      memory_(reinterpret_cast<std::uint64_t*>(memory)),
      buckets_(count_buckets(budget, layout)),
      first_record_(header_units + static_cast<std::int64_t>(buckets_ * bucket_cells)),
      end_(first_record_ + static_cast<std::int64_t>(budget / unit_bytes)),
      locks_(memory_, std::move(self)),
      add_(rows::find_add(SYNCYTE_FLOAT32)),
      next_record_(first_record_) {}

std::uint64_t held_keys::load(std::int64_t unit) const {
  return std::atomic_ref(memory_[unit]).load(std::memory_order_acquire);
}
void held_keys::store(std::int64_t unit, std::uint64_t value) {
  std::atomic_ref(memory_[unit]).store(value, std::memory_order_release);
}

held_keys::grant_number held_keys::grants() const { return load(grants_unit); }
std::size_t held_keys::size() const { return load(keys_unit); }
std::chrono::nanoseconds held_keys::coming_time() const {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(load(coming_time_unit)));
}

bool held_keys::may_have_copies() const { return load(copies_unit) + load(asked_unit) != 0; }

bool held_keys::must_tell_agent() {
  return load(dirty_unit) != 0 && std::atomic_ref(memory_[told_unit]).exchange(1, std::memory_order_acq_rel) == 0;
}

std::byte* held_keys::values_at(std::int64_t record) const {
  return reinterpret_cast<std::byte*>(memory_ + record + block_header);
}

/// The first of the most_cells cells that may have the key.
std::uint64_t* held_keys::cells_of(std::int64_t slot) const {
  const std::uint64_t pair = hash(slot) & (buckets_ - 1) & ~std::uint64_t{1};
  return memory_ + header_units + pair * bucket_cells;
}

/// The cell of a key; null if the index has none. For a reader it is a hint.
std::uint64_t* held_keys::find_cell(std::int64_t slot) const {
  std::uint64_t* const cells = cells_of(slot);
  const std::uint64_t wanted = hash(slot) >> hash_shift;
  for (std::uint64_t i = 0; i < most_cells; ++i) {
    const std::uint64_t cell = std::atomic_ref(cells[i]).load(std::memory_order_acquire);
    if (cell == 0 || cell >> hash_shift != wanted) continue;
    const auto record = static_cast<std::int64_t>(cell & record_mask);
    if (load(record + slot_word) == static_cast<std::uint64_t>(slot) + 1) return cells + i;
  }
  return nullptr;
}

/// 0: the index has none.
std::int64_t held_keys::find_record(std::int64_t slot) const {
  std::uint64_t* const cell = find_cell(slot);
  if (cell == nullptr) return 0;
  return static_cast<std::int64_t>(std::atomic_ref(*cell).load(std::memory_order_acquire) & record_mask);
}

void held_keys::prefetch(std::int64_t slot) const {
  const std::uint64_t* const cells = cells_of(slot);
  __builtin_prefetch(cells);
  __builtin_prefetch(cells + bucket_cells);
}

bool held_keys::holds(std::int64_t slot, grant_number newest) const {
  const std::int64_t record = find_record(slot);
  return record != 0 && is_of(record, slot, newest);
}

bool held_keys::is_of(std::int64_t record, std::int64_t slot, grant_number newest) const {
  return load(record + slot_word) == static_cast<std::uint64_t>(slot) + 1 && load(record + grant_word) <= newest;
}

bool held_keys::holds_main(std::int64_t slot) const {
  const std::int64_t record = find_record(slot);
  return record != 0 && !is_copy_record(record);
}

std::int64_t held_keys::unsent_of(std::int64_t record) const {
  return static_cast<std::int64_t>(load(record + unsent_word));
}
std::int64_t held_keys::sent_of(std::int64_t record) const {
  return static_cast<std::int64_t>(load(unsent_of(record) + state_word) >> block_shift);
}

/// With the record's lock held.
void held_keys::add_to(std::int64_t record, const std::byte* given, std::int64_t length) {
  add_(values_at(record), given, static_cast<std::size_t>(length));
  if (!is_copy_record(record)) return;
  add_(values_at(unsent_of(record)), given, static_cast<std::size_t>(length));
  make_dirty(record);
}

/// The list of dirty copies begins in the header: a stack, which the agent takes as a whole.
void held_keys::make_dirty(std::int64_t record) {
  const std::int64_t unsent = unsent_of(record);
  const std::uint64_t state = load(unsent + state_word);
  if ((state & dirty_bit) != 0) return;
  store(unsent + state_word, state | dirty_bit);
  const std::atomic_ref head(memory_[dirty_unit]);
  std::uint64_t next = head.load(std::memory_order_relaxed);
  do store(unsent + next_word, next);
  while (!head.compare_exchange_weak(next, static_cast<std::uint64_t>(record), std::memory_order_acq_rel));
}

void held_keys::find(std::span<const listed_key> keys, std::vector<held_key>& found,
                     std::vector<listed_key>& others) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + prefetch_distance < keys.size()) prefetch(keys[i + prefetch_distance].slot);
    if (const std::int64_t record = find_record(keys[i].slot); record != 0)
      found.push_back({record, keys[i]});
    else
      others.push_back(keys[i]);
  }
}

/// Calls visit(key, record, length) for each key, and adds the places of those that are elsewhere to `absent`.
template <bool ForWriting, class Visitor>
void held_keys::for_each(std::span<const held_key> keys, absent_keys& absent, Visitor&& visitor) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + prefetch_distance < keys.size())
      __builtin_prefetch(values_at(keys[i + prefetch_distance].record), ForWriting);
    const auto& [record, key] = keys[i];
    if (visitor(key, record, layout_.length(key.slot)) == access_result::elsewhere) absent.push_back(i);
  }
}

void held_keys::pull(std::span<const held_key> keys, grant_number newest, float* values, absent_keys& absent) const {
  for_each<false>(keys, absent, [&](const listed_key& key, std::int64_t record, std::int64_t length) {
    const auto is_right = [&] { return is_of(record, key.slot, newest); };
    return read_values<waiting>(locks_, record, values_at(record), bytes_of(values + key.place), length, is_right);
  });
}

void held_keys::push(std::span<const held_key> keys, grant_number newest, const float* values, absent_keys& absent) {
  for_each<true>(keys, absent, [&](const listed_key& key, std::int64_t record, std::int64_t length) {
    const auto is_right = [&] { return is_of(record, key.slot, newest); };
    return write_values<waiting>(locks_, record, key_locks::damage::is_refused, is_right,
                                 [&] { add_to(record, bytes_of(values + key.place), length); });
  });
}

void held_keys::set(std::span<const held_key> keys, grant_number newest, const float* values, absent_keys& absent) {
  for_each<true>(keys, absent, [&](const listed_key& key, std::int64_t record, std::int64_t length) {
    const auto is_right = [&] { return is_of(record, key.slot, newest) && !is_copy_record(record); };
    return absent.empty()
               ? set_values<waiting>(locks_, record, bytes_of(values + key.place), values_at(record), length, is_right)
               : access_result::elsewhere;
  });
}

access_result held_keys::try_pull(std::int64_t slot, std::byte* values) const {
  const std::int64_t record = find_record(slot);
  if (record == 0 || is_copy_record(record)) return access_result::elsewhere;
  return read_values<trying>(locks_, record, values_at(record), values, layout_.length(slot), any_key);
}

access_result held_keys::try_push(std::int64_t slot, const std::byte* values) {
  const std::int64_t record = find_record(slot);
  if (record == 0 || is_copy_record(record)) return access_result::elsewhere;
  return add_values<trying>(locks_, record, add_, values, values_at(record), layout_.length(slot), any_key);
}

access_result held_keys::try_set(std::int64_t slot, const std::byte* values) {
  const std::int64_t record = find_record(slot);
  if (record == 0 || is_copy_record(record)) return access_result::elsewhere;
  return set_values<trying>(locks_, record, values, values_at(record), layout_.length(slot), any_key);
}

// ---- the agent's thread

void held_keys::set_asked(std::size_t keys) { store(asked_unit, keys); }
void held_keys::set_coming_time(std::chrono::nanoseconds time) {
  store(coming_time_unit, static_cast<std::uint64_t>(time.count()));
}

void held_keys::set_copies(std::size_t copies) { store(copies_unit, copies); }

std::int64_t held_keys::reserve(std::int64_t slot) {
  const std::int64_t units = units_of(layout_.length(slot));
  std::vector<std::int64_t>& unused = free_[units];
  if (!unused.empty()) {
    const std::int64_t record = unused.back();
    unused.pop_back();
    return record;
  }
  return units <= end_ - next_record_ ? std::exchange(next_record_, next_record_ + units) : 0;
}

/// Takes the two blocks for pushes to a copy: that of unsent ones, or 0.
std::int64_t held_keys::reserve_pushes(std::int64_t slot) {
  const std::int64_t unsent = reserve(slot), sent = unsent == 0 ? 0 : reserve(slot);
  if (sent == 0) {
    if (unsent != 0) release(slot, unsent);
    return 0;
  }
  store(unsent + state_word, static_cast<std::uint64_t>(sent) << block_shift);
  std::memset(values_at(unsent), 0, value_bytes(slot));
  return unsent;
}

void held_keys::release_pushes(std::int64_t slot, std::int64_t unsent) {
  std::vector<std::int64_t>& unused = free_[units_of(layout_.length(slot))];
  unused.push_back(static_cast<std::int64_t>(load(unsent + state_word) >> block_shift));
  unused.push_back(unsent);
  store(unsent + state_word, 0);
  store(unsent + next_word, 0);
}

bool held_keys::reserve_copy(std::int64_t slot, std::int64_t record) {
  const std::int64_t unsent = reserve_pushes(slot);
  if (unsent != 0) store(record + unsent_word, static_cast<std::uint64_t>(unsent));
  return unsent != 0;
}

void held_keys::release(std::int64_t slot, std::int64_t record) {
  if (const std::int64_t unsent = unsent_of(record); unsent != 0) {
    release_pushes(slot, unsent);
    store(record + unsent_word, 0);
  }
  free_[units_of(layout_.length(slot))].push_back(record);
}

/// The grant is counted once the record can be found: an operation may miss the key only if the number of grants that
/// it has read before is less than the key's.
access_result held_keys::add(std::int64_t slot, std::int64_t record, std::span<const std::byte> values) {
  std::uint64_t* const cells = cells_of(slot);
  std::uint64_t* const unused = std::find(cells, cells + most_cells, 0);
  if (unused == cells + most_cells) return access_result::elsewhere;
  const grant_number number = grants() + 1;
  const auto write = [&] {
    store(record + slot_word, static_cast<std::uint64_t>(slot) + 1);
    store(record + grant_word, number);
    copy_vector(values_at(record), values.data(), layout_.length(slot));
  };
  const access_result result = write_values<trying>(locks_, record, key_locks::damage::is_mended, any_key, write);
  if (result != access_result::done) return result;
  store(keys_unit, load(keys_unit) + 1);
  if (is_copy_record(record)) store(copies_unit, load(copies_unit) + 1);
  std::atomic_ref(*unused).store(hash(slot) >> hash_shift << hash_shift | static_cast<std::uint64_t>(record),
                                 std::memory_order_release);
  store(grants_unit, number);
  return result;
}

access_result held_keys::remove(std::int64_t slot, std::byte* values) {
  std::uint64_t* const cell = find_cell(slot);
  if (cell == nullptr) return access_result::elsewhere;
  const auto record = static_cast<std::int64_t>(*cell & record_mask);
  const access_result result = write_values<trying>(locks_, record, key_locks::damage::is_refused, any_key, [&] {
    const std::int64_t unsent = unsent_of(record);
    copy_vector(values, values_at(unsent == 0 ? record : unsent), layout_.length(slot));
    store(record + slot_word, 0);
  });
  if (result == access_result::done) forget(slot, cell);
  return result;
}

access_result held_keys::keep_as_copy(std::int64_t slot, std::byte* values) {
  const std::int64_t record = find_record(slot);
  const std::int64_t unsent = record == 0 || is_copy_record(record) ? 0 : reserve_pushes(slot);
  if (unsent == 0) return access_result::elsewhere;
  auto result = access_result::elsewhere;
  store(copies_unit, load(copies_unit) + 1);  // before a worker pushes to it
  const auto damage = base::error_of([&] {
    result = write_values<trying>(locks_, record, key_locks::damage::is_refused, any_key, [&] {
      copy_vector(values, values_at(record), layout_.length(slot));
      store(record + unsent_word, static_cast<std::uint64_t>(unsent));
    });
  });
  if (result != access_result::done) {
    store(copies_unit, load(copies_unit) - 1);
    release_pushes(slot, unsent);
  }
  if (damage) throw *damage;
  return result;
}

void held_keys::drop(std::int64_t slot) {
  std::uint64_t* const cell = find_cell(slot);
  if (cell == nullptr) return;
  store(static_cast<std::int64_t>(*cell & record_mask) + slot_word, 0);
  forget(slot, cell);
}

/// Takes a record that says that it is nobody's out of the index. Nobody makes it dirty any more.
void held_keys::forget(std::int64_t slot, std::uint64_t* cell) {
  const auto record = static_cast<std::int64_t>(*cell & record_mask);
  std::atomic_ref(*cell).store(0, std::memory_order_release);
  store(keys_unit, load(keys_unit) - 1);
  if (is_copy_record(record)) collect_dirty();  // its blocks are another key's soon
  release(slot, record);
}

/// Moves the shared list of dirty copies to dirty_.
void held_keys::collect_dirty() {
  store(told_unit, 0);
  std::uint64_t next = std::atomic_ref(memory_[dirty_unit]).exchange(0, std::memory_order_acq_rel);
  while (next != 0) {
    const auto record = static_cast<std::int64_t>(next);
    next = load(unsent_of(record) + next_word);
    if (const std::uint64_t slot = load(record + slot_word); slot != 0)
      dirty_.push_back(static_cast<std::int64_t>(slot) - 1);
  }
}

bool held_keys::has_dirty() const { return !dirty_.empty() || load(dirty_unit) != 0; }

std::vector<std::int64_t> held_keys::take_dirty() {
  if (load(dirty_unit) != 0) collect_dirty();
  return std::exchange(dirty_, {});
}

access_result held_keys::take_pushes(std::int64_t slot, std::byte* values, std::uint8_t& number) {
  const std::int64_t record = find_record(slot);
  if (record == 0 || !is_copy_record(record)) return access_result::elsewhere;
  const std::int64_t unsent = unsent_of(record), length = layout_.length(slot);
  access_result taken = access_result::elsewhere;
  const auto take = [&] {
    const std::uint64_t state = load(unsent + state_word);
    if ((state & sent_bit) != 0) taken = access_result::done_shared;
    if ((state & sent_bit) != 0 || (state & dirty_bit) == 0) return;
    collect_dirty();  // a copy that is not dirty must not stand in the list: a push would put it there once more
    number = static_cast<std::uint8_t>((state + 1) & pushes_mask);
    copy_vector(values, values_at(unsent), length);
    copy_vector(values_at(sent_of(record)), values, length);
    std::memset(values_at(unsent), 0, value_bytes(slot));
    store(unsent + state_word, (state & block_mask) | sent_bit | number);
    taken = access_result::done;
  };
  const auto written = write_values<trying>(locks_, record, key_locks::damage::is_refused, any_key, take);
  return written == access_result::done ? taken : written;
}

access_result held_keys::refresh(std::int64_t slot, std::span<const std::byte> values, std::uint8_t number) {
  const std::int64_t record = find_record(slot);
  if (record == 0 || !is_copy_record(record)) return access_result::elsewhere;
  const std::int64_t unsent = unsent_of(record), length = layout_.length(slot);
  bool has_all = false;
  const auto renew = [&] {
    const std::uint64_t state = load(unsent + state_word);
    has_all = (state & sent_bit) != 0 && (state & pushes_mask) == number;
    if (has_all) store(unsent + state_word, state & ~sent_bit);
    copy_vector(values_at(record), values.data(), length);
    if ((state & sent_bit) != 0 && !has_all)
      add_(values_at(record), values_at(sent_of(record)), static_cast<std::size_t>(length));
    add_(values_at(record), values_at(unsent), static_cast<std::size_t>(length));
  };
  const auto written = write_values<trying>(locks_, record, key_locks::damage::is_refused, any_key, renew);
  return written == access_result::done && has_all ? access_result::done_shared : written;
}

held_keys::grant_number held_keys::granted(std::int64_t slot) const {
  const std::int64_t record = find_record(slot);
  return record == 0 ? 0 : load(record + grant_word);
}

}  // namespace syncyte::kv
