// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "memory/device_system.hpp"
#include "optim/update.hpp"
#include "rows/device_rows.hpp"

namespace syncyte::rows {

/// Some of each row's elements. The first one is a multiple of 32, so that the threads of a row keep their parts.
struct row_part {
  std::int64_t first;
  std::int64_t count;
};

/// An optimizer of a table in device memory.
struct device_optimizer {
  optim::rule rule;
  syncyte_dtype_t dtype;  ///< of the table
  std::byte* state;       ///< of row 0; null if there is none
  std::int64_t state_stride;
  std::uint32_t* locks;  ///< of row 0, zeros at first; those of all ranks that update the table
};

/// Updates of rows in device memory, queued by streams, and the memory in which they sort lists of rows. Thread-safe.
class device_updates {
 public:
  device_updates(int device, const device_optimizer& by) : device_(device), by_(by) {}
  /// Waits for the queued updates.
  ~device_updates();

  /// Updates each row of a list once, by the sum of its gradients: gradients[i] belongs to table[index[i]]. Rows that
  /// other devices update meanwhile are updated one after another. If a row's lock is held for `longest_wait`, because
  /// its holder has died, the report has the row.
  void queue(const device_table& table, const device_index& index, const std::byte* gradients, const optim::step& by,
             const index_report& report, void* stream);
  /// The same for a part of each row: gradients are packed parts. Waits for a lock for `most_wait` nanoseconds, at most
  /// `longest_wait`.
  void queue(const device_table& table, row_part part, const device_index& index, const std::byte* gradients,
             const optim::step& by, std::uint64_t most_wait, const index_report& report, void* stream);

  static inline std::uint64_t longest_wait = 10'000'000'000;  ///< in nanoseconds; a test shortens it

 private:
  /// Room for two lists of rows.
  struct sorting_room {
    void* data = nullptr;
    std::int64_t rows = 0;
    std::unique_ptr<memory::device_event> last_use;
  };
  sorting_room& room_for(std::int64_t rows, void* stream);
  std::int64_t elements_of(const device_table& table) const;

  int device_;
  device_optimizer by_;
  std::mutex mutex_;                     // held while a stream queues an update, which has several kernels
  std::map<void*, sorting_room> rooms_;  // by stream
};

}  // namespace syncyte::rows
