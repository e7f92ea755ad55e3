// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ranks.hpp"
#include "checkpoints/bundle_field.hpp"
#include "checkpoints/device_pieces.hpp"
#include "syncyte/checkpoint.h"

namespace syncyte::hdf5 {

/// One tensor to save or load, on this rank.
struct entry {
  std::string key;
  syncyte_entry_kind_t kind = SYNCYTE_ENTRY_REPLICATED;
  syncyte_buffer_t buffer{};  ///< this rank's part
  std::uint64_t row_bytes = 0;
  std::shared_ptr<bundle_field> field = {};  ///< of a bundle, whose rows `buffer` describes; usually none
  // Set by place_rows() for sharded entries; otherwise all rows.
  std::int64_t first_row = 0;
  std::int64_t global_rows = 0;

  bool sharded() const { return kind == SYNCYTE_ENTRY_SHARDED; }
  std::vector<std::int64_t> shape() const { return {buffer.shape, buffer.shape + buffer.ndim}; }
  std::int64_t rows() const { return buffer.ndim == 0 ? 1 : buffer.shape[0]; }
  std::byte* data() const { return static_cast<std::byte*>(buffer.data); }
  std::uint64_t bytes() const { return row_bytes * static_cast<std::uint64_t>(rows()); }
  /// This rank's part, as bytes of the dataset.
  array_bytes part() const { return {buffer, row_bytes * static_cast<std::uint64_t>(first_row), bytes()}; }
};

/// This rank's arguments of save and load.
struct arguments {
  std::string path;
  std::vector<entry> entries;
  std::uint64_t block_bytes = 0;
  std::int64_t step = 0;
  std::string attributes;
};

/// Whether a buffer's memory is read (by save) or written (by load).
enum class memory_use { read, write };

/// Makes all checks that need no other rank. `use`: of the entries' memory. @throws error
arguments check_arguments(memory_use use, const char* path, std::int64_t count,
                          const syncyte_checkpoint_entry_t* entries, const syncyte_checkpoint_options_t* options);

/// Adds the fields of a bundle of this communicator. Local. @throws error
void append_fields(arguments& to, syncyte_comm_t comm, syncyte_bundle_t bundle);

/// Divides the rows of bundles' fields among the ranks. Collective, after the ranks have agreed on the arguments.
void cut_fields(const ranks& all, std::vector<entry>& entries);

/// Checks path and options, for open. @throws error
arguments check_arguments(const char* path, const syncyte_checkpoint_options_t* options);

/// Checks that a buffer is contiguous memory of a known dtype, and not constant if it is to be written; returns
/// it. `what` names it in messages.
syncyte_buffer_t checked_buffer(const syncyte_buffer_t* given, const std::string& what, memory_use use);

/// Calls `use(number of an entry, rows of each rank)` for all sharded entries, in order. Collective; needs a bounded
/// amount of memory.
void for_each_sharded(const ranks& all, const std::vector<entry>& entries,
                      const std::function<void(std::size_t, const std::vector<std::int64_t>&)>& use);

/// Fills in first_row and global_rows. Collective. @throws error SYNCYTE_ERR_SHAPE on all ranks if rows overflow
void place_rows(const ranks& all, std::vector<entry>& entries);

}  // namespace syncyte::hdf5
