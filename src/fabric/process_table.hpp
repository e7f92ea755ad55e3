// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/message.hpp"

namespace syncyte::fabric {

/// A process, as a process that sends it messages needs it.
struct process_entry {
  std::uint64_t process;        ///< random number of the process
  process_key key;              ///< messages to it carry it
  std::int32_t world_rank;      ///< in MPI_COMM_WORLD; negative: not of it
  std::uint32_t address_bytes;  ///< of its serving worker's address, which follows in a process_table
};

/// The processes of a communicator, by rank, in memory that their node shares.
class process_table {
 public:
  /// `table`: `ranks` entries of pack(), of `entry_bytes` each.
  process_table(std::shared_ptr<const std::byte[]> table, std::size_t entry_bytes, std::size_t ranks)
      : table_(std::move(table)), entry_bytes_(entry_bytes), ranks_(ranks) {}

  /// An entry and its address. Addresses are at most `longest` bytes long.
  static std::vector<std::byte> pack(process_entry entry, std::string_view address, std::size_t longest);

  std::size_t ranks() const { return ranks_; }
  const process_entry& at(std::size_t rank) const { return *reinterpret_cast<const process_entry*>(bytes_at(rank)); }
  /// Valid while memory() is kept.
  std::string_view address(std::size_t rank) const {
    return {reinterpret_cast<const char*>(bytes_at(rank) + sizeof(process_entry)), at(rank).address_bytes};
  }
  const std::shared_ptr<const std::byte[]>& memory() const { return table_; }

 private:
  const std::byte* bytes_at(std::size_t rank) const { return table_.get() + rank * entry_bytes_; }

  std::shared_ptr<const std::byte[]> table_;
  std::size_t entry_bytes_;
  std::size_t ranks_;
};

}  // namespace syncyte::fabric
