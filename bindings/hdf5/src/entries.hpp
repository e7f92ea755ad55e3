#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ranks.hpp"
#include "syncyte/checkpoint.h"

namespace syncyte::hdf5 {

/// One tensor that a caller saves or loads, as this rank sees it.
struct entry {
  std::string key;
  syncyte_layout_t layout = SYNCYTE_LAYOUT_REPLICATED;
  syncyte_dtype_t dtype = 0;
  std::vector<std::int64_t> shape;  ///< of this rank's part
  std::byte* data = nullptr;
  std::uint64_t row_bytes = 0;
  // Known after place_rows(), for sharded entries; otherwise all rows.
  std::int64_t first_row = 0;
  std::int64_t global_rows = 0;

  bool sharded() const { return layout == SYNCYTE_LAYOUT_SHARDED; }
  std::int64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  std::uint64_t bytes() const { return row_bytes * static_cast<std::uint64_t>(rows()); }
};

/// This rank's arguments of save and load.
struct arguments {
  std::string path;
  std::vector<entry> entries;
  std::uint64_t block_bytes = 0;
  std::int64_t step = 0;
};

/// Checks all that one rank can check alone. @throws error
arguments check_arguments(const char* path, std::int64_t count, const syncyte_checkpoint_entry_t* entries,
                          const syncyte_checkpoint_options_t* options);

/// Path and options alone, for open. @throws error
arguments check_arguments(const char* path, const syncyte_checkpoint_options_t* options);

/// Checks a buffer: host memory, contiguous, known dtype, and returns its bytes per row. `what` names it.
std::uint64_t check_buffer(const syncyte_buffer_t& buffer, const std::string& what);

/// Collective, bounded in memory: calls `use(number of an entry, rows of each rank)` for all sharded entries, in order.
void for_each_sharded(const ranks& all, const std::vector<entry>& entries,
                      const std::function<void(std::size_t, const std::vector<std::int64_t>&)>& use);

/// Collective: fills first_row and global_rows. @throws error SYNCYTE_ERR_SHAPE on all ranks if rows overflow
void place_rows(const ranks& all, std::vector<entry>& entries);

}  // namespace syncyte::hdf5
