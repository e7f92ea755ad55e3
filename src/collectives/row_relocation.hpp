// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/started_collective.hpp"
#include "memory/scratch.hpp"
#include "syncyte/messages.h"

namespace syncyte::collectives {

/// Rows that move to the ranks that their owners name.
struct rows_to_move {
  std::span<const std::int32_t> destinations;  // of the rows; SYNCYTE_PROC_NULL for those that go nowhere
  std::span<const syncyte_buffer_t> arrays;    // with a row for each destination, or more
  std::span<const syncyte_buffer_t> targets;   // as many, or none to count the rows only
  std::int64_t* rows;                          // number of rows of each target, written at the end
};

/// Moves rows of several arrays, in one message for all arrays from each rank to each other. A target gets the rows
/// that stay, then those of rank 0, 1, ..., all in their order. It may be its array itself.
class row_relocation final : public data_operation {
 public:
  row_relocation(comm::agreement& terms, form how, const rows_to_move& given);

  void compare(comm::collective_call& call) override;
  void move(mover& by) override;
  void finish() override { *rows_ = total(); }

 private:
  /// An array, as rows.
  struct table {
    explicit table(const base::buffer& given);

    base::buffer array;
    std::size_t row_bytes;
    bool is_dense;  // its rows are, and follow one another

    std::byte* row(std::int64_t number) const { return array.data() + number * array.stride(0); }
    /// Rows, and the strides of dense ones.
    std::vector<std::int64_t> shape_of(std::int64_t rows) const;
    void copy_to(std::byte* dense, std::int64_t first, std::int64_t count) const;
    void copy_from(const std::byte* dense, std::int64_t first, std::int64_t count) const;
    void move_to(const table& target, std::int64_t place, std::int64_t first, std::int64_t count) const;
  };
  /// Consecutive rows.
  struct row_range {
    std::int64_t first, count;
  };
  /// Rows that go to a rank, or come from it.
  struct peer_rows {
    int peer;
    std::int64_t count;
  };

  void sort_rows(std::span<const std::int32_t> destinations);
  void check_targets(std::span<const syncyte_buffer_t> targets);
  std::int64_t total() const;
  void require_room() const;
  std::vector<peer_rows> others(std::span<const std::int64_t> counts) const;
  std::size_t bytes_of(const peer_rows& rows) const { return static_cast<std::size_t>(rows.count) * record_bytes_; }
  std::size_t bytes_of_others(std::span<const std::int64_t> counts) const;
  void exchange(mover& by);
  void pack(int to, std::byte* message) const;
  void unpack(const std::byte* message, std::int64_t first, std::int64_t count) const;
  void keep_own() const;

  int rank_;
  std::vector<table> arrays_, targets_;
  std::int64_t* rows_;
  std::size_t record_bytes_ = 0;                 // of one row of all arrays
  std::vector<std::vector<row_range>> leaving_;  // rows by destination
  std::vector<std::int64_t> send_counts_, receive_counts_;
  memory::scratch outgoing_, incoming_;
};

}  // namespace syncyte::collectives
