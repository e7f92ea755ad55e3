// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file checkpoint.hpp Checkpoints in C++; syncyte/checkpoint.h explains them. Library libsyncyte_hdf5.

#include <deque>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "syncyte/bundle.hpp"
#include "syncyte/checkpoint.h"
#include "syncyte/comm.hpp"

namespace syncyte {

/// Options of a save.
struct checkpoint_options {
  std::int64_t step = 0;         ///< a number to store in the file
  std::int64_t block_bytes = 0;  ///< bytes per checksum; 0: 4 MiB
  std::string attributes = {};   ///< text to store beside the arrays, in JSON by convention
};

/// Named arrays to save or load, in the same order on all ranks. It refers to their memory, which must stay. Move-only.
class checkpoint_entries {
 public:
  /// An array that all ranks have: rank 0's is saved, and all ranks load it.
  checkpoint_entries& add(const std::string& key, const const_buffer& array) {
    return append(key, array, SYNCYTE_ENTRY_REPLICATED);
  }
  /// This rank's rows of an array; the ranks' rows follow each other in rank order.
  checkpoint_entries& add_rows(const std::string& key, const const_buffer& rows) {
    return append(key, rows, SYNCYTE_ENTRY_SHARDED);
  }

  /// The entries for C's functions; valid until the next addition.
  const std::vector<syncyte_checkpoint_entry_t>& get() const noexcept { return raw_; }

  checkpoint_entries() = default;
  checkpoint_entries(checkpoint_entries&&) noexcept = default;
  checkpoint_entries& operator=(checkpoint_entries&&) noexcept = default;

 private:
  checkpoint_entries& append(const std::string& key, const const_buffer& array, syncyte_entry_kind_t kind) {
    if (key.find('\0') != std::string::npos) throw error(status::argument, "a key of a checkpoint has a zero byte");
    keys_.push_back(key);
    arrays_.push_back(array);
    raw_.push_back({sizeof(syncyte_checkpoint_entry_t), keys_.back().c_str(), arrays_.back().get(), kind, 0});
    return *this;
  }

  std::deque<std::string> keys_;  // whose elements stay where they are
  std::deque<const_buffer> arrays_;
  std::vector<syncyte_checkpoint_entry_t> raw_;
};

/// Element type and shape of a key in a file.
struct checkpoint_key {
  dtype type;
  extents shape;  ///< of the whole array
  bool is_rows;   ///< whether it was saved by rows
};

/// An open checkpoint, of which each rank reads what it needs. Move-only.
class checkpoint {
 public:
  /// Opens a file. Collective.
  checkpoint(const communicator& comm, const std::string& path)
      : raw_(detail::fetch<syncyte_checkpoint_t>(syncyte_checkpoint_open, comm.get(), path.c_str(), nullptr)) {}

  /// The keys in alphabetical order. Local.
  std::vector<std::string> keys() const {
    std::int64_t count = 0;
    check(syncyte_checkpoint_count(raw_.get(), &count, nullptr));
    std::vector<std::string> result;
    for (std::int64_t number = 0; number < count; ++number)
      result.emplace_back(detail::fetch<const char*>(syncyte_checkpoint_key, raw_.get(), number));
    return result;
  }

  /// The number stored by the save. Local.
  std::int64_t step() const {
    std::int64_t count = 0, result = 0;
    check(syncyte_checkpoint_count(raw_.get(), &count, &result));
    return result;
  }

  /// The text stored by the save; empty if there is none. Local.
  std::string attributes() const { return detail::fetch<const char*>(syncyte_checkpoint_attributes, raw_.get()); }

  /// Type and shape of a key. Local.
  checkpoint_key describe(const std::string& key) const {
    syncyte_buffer_t whole{};
    whole.struct_size = sizeof whole;
    syncyte_entry_kind_t kind = 0;
    check(syncyte_checkpoint_describe(raw_.get(), key.c_str(), &whole, &kind));
    return {static_cast<dtype>(whole.dtype), {whole.shape, whole.shape + whole.ndim}, kind == SYNCYTE_ENTRY_SHARDED};
  }

  /// Reads rows from first_row on into a contiguous array, and verifies their checksums. Local.
  void read(const std::string& key, std::int64_t first_row, const buffer& target) const {
    check(syncyte_checkpoint_read(raw_.get(), key.c_str(), first_row, target.get()));
  }

  /// Bytes of arrays that this rank has read so far. Local.
  std::int64_t bytes_read() const { return detail::fetch<std::int64_t>(syncyte_checkpoint_bytes_read, raw_.get()); }

  /// Saves arrays into one file, atomically. Collective.
  static void save(const communicator& comm, const std::string& path, const checkpoint_entries& entries,
                   const checkpoint_options& options = {}) {
    const auto raw = raw_options(options);
    check(syncyte_checkpoint_save(comm.get(), path.c_str(), std::ssize(entries.get()), entries.get().data(), &raw));
  }

  /// Saves the fields of a bundle, and arrays beside them. Collective.
  static void save_bundle(const bundle& fields, const std::string& path, const checkpoint_entries& entries = {},
                          const checkpoint_options& options = {}) {
    const auto raw = raw_options(options);
    check(syncyte_checkpoint_save_bundle(fields.comm().get(), path.c_str(), fields.get(), std::ssize(entries.get()),
                                         entries.get().data(), &raw));
  }

  /// Fills arrays from a file, on any number of ranks. Collective.
  static void load(const communicator& comm, const std::string& path, const checkpoint_entries& entries) {
    check(syncyte_checkpoint_load(comm.get(), path.c_str(), std::ssize(entries.get()), entries.get().data(), nullptr));
  }

  /// Fills the fields of a bundle, but not their ghosts, and arrays beside them. Collective.
  static void load_bundle(const bundle& fields, const std::string& path, const checkpoint_entries& entries = {}) {
    check(syncyte_checkpoint_load_bundle(fields.comm().get(), path.c_str(), fields.get(), std::ssize(entries.get()),
                                         entries.get().data(), nullptr));
  }

 private:
  /// Refers to the options.
  static syncyte_checkpoint_options_t raw_options(const checkpoint_options& options) {
    return {sizeof(syncyte_checkpoint_options_t), options.block_bytes, options.step, options.attributes.c_str()};
  }

  struct closer {
    void operator()(syncyte_checkpoint_t raw) const noexcept { static_cast<void>(syncyte_checkpoint_close(&raw)); }
  };
  std::unique_ptr<std::remove_pointer_t<syncyte_checkpoint_t>, closer> raw_;
};

}  // namespace syncyte
