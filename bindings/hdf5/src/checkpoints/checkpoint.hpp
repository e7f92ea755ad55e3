// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/ranks.hpp"
#include "checkpoints/device_pieces.hpp"
#include "files/file.hpp"
#include "metadata/manifest.hpp"
#include "syncyte/bundle.h"

namespace syncyte::hdf5 {

/// An open checkpoint: its verified manifest and a descriptor of the file. Reading is local and thread-safe.
class checkpoint {
 public:
  checkpoint(file source, manifest contents) : source_(std::move(source)), contents_(std::move(contents)) {}

  const std::string& path() const { return source_.path(); }
  const manifest& contents() const { return contents_; }
  /// @throws error SYNCYTE_ERR_NOT_FOUND naming key and file
  const dataset& find(const std::string& key) const;
  /// Checks that rows from first_row on can be read into the buffer.
  void check_target(const dataset& from, std::int64_t first_row, const syncyte_buffer_t& target) const;
  /// Reads bytes into an array and verifies every block they touch.
  void read(const dataset& from, const array_bytes& target);
  /// Reads some of a tensor's row-major bytes, likewise.
  void read_bytes(const dataset& from, std::uint64_t first, std::span<std::byte> target);
  std::int64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }

 private:
  std::uint32_t read_piece(std::uint64_t offset, std::byte* target, std::uint64_t bytes, std::uint32_t crc);
  std::uint32_t skip(std::uint64_t offset, std::uint64_t bytes, std::uint32_t crc);
  void read_block(const dataset& from, const struct block_part& part, std::byte* target);

  file source_;
  manifest contents_;
  std::atomic<std::int64_t> bytes_read_{0};
};

/// Implements syncyte_checkpoint_open(), in loader.cpp. Collective. `has_output`: whether the caller gave an address
/// for the handle.
std::shared_ptr<checkpoint> open(syncyte_comm_t comm, const char* path, const syncyte_checkpoint_options_t* options,
                                 bool has_output);

/// Implement syncyte_checkpoint_save() and syncyte_checkpoint_save_bundle(), in saver.cpp. Collective. They return the
/// bytes of tensor data that this rank has written.
std::uint64_t save(syncyte_comm_t comm, const char* path, std::int64_t count, const syncyte_checkpoint_entry_t* entries,
                   const syncyte_checkpoint_options_t* options);
std::uint64_t save_bundle(syncyte_comm_t comm, const char* path, syncyte_bundle_t bundle, std::int64_t count,
                          const syncyte_checkpoint_entry_t* entries, const syncyte_checkpoint_options_t* options);

/// Implement syncyte_checkpoint_load() and syncyte_checkpoint_load_bundle(), in loader.cpp. Collective. They return the
/// bytes of this rank's tensors, and of its rows of fields.
std::uint64_t load(syncyte_comm_t comm, const char* path, std::int64_t count, const syncyte_checkpoint_entry_t* entries,
                   const syncyte_checkpoint_options_t* options);
std::uint64_t load_bundle(syncyte_comm_t comm, const char* path, syncyte_bundle_t bundle, std::int64_t count,
                          const syncyte_checkpoint_entry_t* entries, const syncyte_checkpoint_options_t* options);

}  // namespace syncyte::hdf5
