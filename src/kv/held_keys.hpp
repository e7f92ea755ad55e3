// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "kv/key_access.hpp"
#include "kv/table.hpp"

namespace syncyte::kv {

/// Other nodes' keys that are at this node now, in memory that the node's ranks share: an index, and records. A record
/// is the main copy of a key's values, or another copy. All ranks read and write the values of records; one thread, the
/// agent's, adds and removes them.
///
/// The index may miss a key that is just being added: it is then asked for at its home, which is slower and as right. A
/// record that is found may have been removed, and may be another key's now: it says whose it is, under its lock.
///
/// A block has four words, and values behind. That of a main copy: its lock (key_locks), its key's slot + 1, the number
/// of its grant, and 0. A copy has two blocks more, for pushes of this node that were not sent to the home, and for
/// those that were sent and are perhaps not in the home's last value; its values are the home's and both. A push makes
/// a copy dirty: it puts it in a list for the agent. Blocks are used again for keys with as many values, so the first
/// word of each is a lock for ever: an operation that has found a record may lock it after it has become another one.
class held_keys {
 public:
  /// Grants are counted. An operation uses records up to a number only: those of grants that came while an earlier
  /// operation of its worker was on its way to the home are not for it.
  using grant_number = std::uint64_t;

  /// A key of a list, and its record.
  struct held_key {
    std::int64_t record;
    listed_key key;
  };

  /// Bytes of shared memory for records of at most `budget` bytes, which are for keys of this layout.
  static std::size_t memory_bytes(std::size_t budget, const key_layout& layout);

  /// `memory` is that of memory_bytes(budget, layout), zeroed before the first use and aligned to 64 bytes.
  held_keys(key_layout layout, std::byte* memory, std::size_t budget, key_locks::process self);

  /// The number of the last grant, of either kind.
  grant_number grants() const;
  std::size_t size() const;
  /// The time in which nearly all keys come after they were asked for, as the agent says.
  std::chrono::nanoseconds coming_time() const;
  bool is_empty() const { return size() == 0; }

  /// Loads the part of the index ahead in which a key may be.
  void prefetch(std::int64_t slot) const;
  bool holds(std::int64_t slot, grant_number newest) const;
  bool holds_main(std::int64_t slot) const;
  /// Whether the agent has to be told that there are dirty copies; true for one caller.
  bool must_tell_agent();
  /// Whether this node has copies, or had some whose last pushes are perhaps not at home, or the agent has asked for
  /// keys.
  bool may_have_copies() const;
  /// Sorts keys into those that are in the index and others.
  void find(std::span<const listed_key> keys, std::vector<held_key>& found, std::vector<listed_key>& others) const;

  /// Pull, push or set values, as those of table; `newest` limits the grants. A set treats all keys after an absent one
  /// as absent, and copies.
  void pull(std::span<const held_key> keys, grant_number newest, float* values, absent_keys& absent) const;
  void push(std::span<const held_key> keys, grant_number newest, const float* values, absent_keys& absent);
  void set(std::span<const held_key> keys, grant_number newest, const float* values, absent_keys& absent);

  /// The same for one main copy, without waiting, of any grant.
  access_result try_pull(std::int64_t slot, std::byte* values) const;
  access_result try_push(std::int64_t slot, const std::byte* values);
  access_result try_set(std::int64_t slot, const std::byte* values);

  // ---- for the agent's thread

  /// Takes memory for a key's record; 0: the budget is used up.
  std::int64_t reserve(std::int64_t slot);
  /// Makes a reserved record one for a copy; false: the budget is used up.
  bool reserve_copy(std::int64_t slot, std::int64_t record);
  /// Whether a record is one for a copy.
  bool is_copy_record(std::int64_t record) const { return unsent_of(record) != 0; }
  void release(std::int64_t slot, std::int64_t record);

  /// Makes a reserved record the key's. `busy`: try again later. `elsewhere`: the index has no place for the key.
  access_result add(std::int64_t slot, std::int64_t record, std::span<const std::byte> values);
  /// Ends a record and releases its memory; `values` gets the last values, or the pushes to a copy that were not sent.
  /// Throws for a damaged key.
  access_result remove(std::int64_t slot, std::byte* values);
  /// Ends the record of a damaged key.
  void drop(std::int64_t slot);
  /// The number of a key's grant; 0: it is not here.
  grant_number granted(std::int64_t slot) const;

  /// Set the numbers of keys asked for and of copies, for may_have_copies(). A copy that is added counts at once; one
  /// that ends counts until the next call.
  void set_asked(std::size_t keys);
  void set_copies(std::size_t copies);

  /// Whether take_dirty() returns any.
  bool has_dirty() const;
  /// The slots of copies that have become dirty since the last call.
  std::vector<std::int64_t> take_dirty();
  /// The pushes to a dirty copy, to be sent to the home, and their number, which grows by 1. `done_shared`: those
  /// before are not in the home's last value; the copy stays dirty. `elsewhere`: there is no dirty copy.
  access_result take_pushes(std::int64_t slot, std::byte* values, std::uint8_t& number);
  /// The home's value, which has the pushes up to a number. `done_shared`: now all pushes that were sent are in it.
  access_result refresh(std::int64_t slot, std::span<const std::byte> values, std::uint8_t number);

  void set_coming_time(std::chrono::nanoseconds time);

  const key_layout& layout() const { return layout_; }
  /// Bytes of a key's values.
  std::size_t value_bytes(std::int64_t slot) const {
    return static_cast<std::size_t>(layout_.length(slot)) * sizeof(float);
  }

 private:
  std::uint64_t* cells_of(std::int64_t slot) const;
  std::uint64_t* find_cell(std::int64_t slot) const;
  std::int64_t find_record(std::int64_t slot) const;
  bool is_of(std::int64_t record, std::int64_t slot, grant_number newest) const;
  std::uint64_t load(std::int64_t unit) const;
  void store(std::int64_t unit, std::uint64_t value);
  std::byte* values_at(std::int64_t record) const;
  std::int64_t unsent_of(std::int64_t record) const;
  std::int64_t sent_of(std::int64_t record) const;
  void add_to(std::int64_t record, const std::byte* given, std::int64_t length);
  void make_dirty(std::int64_t record);
  void collect_dirty();
  void forget(std::int64_t slot, std::uint64_t* cell);
  template <bool ForWriting, class Visitor>
  void for_each(std::span<const held_key> keys, absent_keys& absent, Visitor&& visitor) const;

  key_layout layout_;
  std::uint64_t* memory_;
  std::uint64_t buckets_;      // a power of two
  std::int64_t first_record_;  // records begin here; offsets count units of 8 bytes
  std::int64_t end_;
  key_locks locks_;
  rows::add_function add_;

  // Only the agent's thread uses these.
  std::int64_t next_record_;                                // memory from here on has never been used
  std::map<std::int64_t, std::vector<std::int64_t>> free_;  // records by their size
  std::vector<std::int64_t> dirty_;                         // slots of dirty copies, taken out of the shared list
};

}  // namespace syncyte::kv
