// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "comm/device_memory.hpp"
#include "rows/device_rows.hpp"
#include "tensor/layout.hpp"

namespace syncyte::tensor {

/// Pinned memory that grows to the most that was asked for. Its contents are lost when it grows.
class pinned_room {
 public:
  /// `device`: one that uses it.
  std::byte* of(int device, std::size_t bytes);

 private:
  memory::pinned_memory memory_;
  std::size_t bytes_ = 0;
};

/// Memory of an operation between nodes (device_exchange), which has it alone.
struct exchange_rooms {
  std::mutex mutex;
  pinned_room list, piece;
};

/// A node's rows of a tensor in the memory of its devices, and the operations on them that streams have queued.
/// Thread-safe.
class device_storage {
 public:
  /// Collective, as comm::device_memory::allocate().
  static std::unique_ptr<device_storage> allocate(comm::collective_call& call, const layout& shape, int device);

  /// Rows that a single rank has already.
  static std::unique_ptr<device_storage> wrap(const comm::communicator& comm, const layout& shape, std::byte* mine,
                                              int device);

  /// Waits for the queued operations; an error of theirs is lost.
  ~device_storage();

  int device() const { return memory_->device(); }
  std::byte* local() const { return memory_->local(); }
  std::byte* node() const { return memory_->data(); }
  /// The node's rows, those of one rank after another.
  const rows::device_table& table() const { return table_; }
  /// Number of a rank's first row in the table; -1 if the rank is on another node.
  std::int64_t first_in_table(int rank) const {
    const auto found = first_rows_.find(rank);
    return found == first_rows_.end() ? -1 : found->second.in_table;
  }
  /// Throws the error of an index that kernels have skipped.
  [[noreturn]] void refuse_skipped(rows::skipped_index skipped) const;
  const rows::index_report& report() const { return report_; }
  /// Whether operations of this thread are complete on return: it has no stream, or the communicator checks all it can.
  bool waits() const { return waits_ || memory::thread_stream() == nullptr; }
  /// Throws SYNCYTE_ERR_UNSUPPORTED unless the devices of each node can change each other's rows atomically.
  void require_atomics() const;

  /// Lets another device of this process access the rows, at the same addresses.
  void allow(int device) const { memory_->allow(device); }
  /// Begins an operation of this thread on its stream. Throws SYNCYTE_ERR_INDEX, once, if an earlier operation has
  /// ended and has skipped an index.
  void begin();
  /// Ends an operation of this thread that was queued on its stream; waits for it if it waits().
  void queued();
  /// Throws SYNCYTE_ERR_UNSUPPORTED if this thread's stream is captured into a graph.
  void refuse_capture(const char* operation) const;
  exchange_rooms& rooms() { return rooms_; }
  /// Waits for all operations, those of graphs included, and for this thread's stream, and checks their indices, and
  /// those of rows::gather_table() on the device.
  void wait();

 private:
  device_storage(std::shared_ptr<comm::device_memory> memory, const layout& shape, const comm::communicator& comm);
  bool is_captured() const;
  bool wait_for_operations();
  bool has_queued();
  void check_indices();
  void refuse_noted();

  std::shared_ptr<comm::device_memory> memory_;
  bool has_atomics_;
  bool waits_;                              // for each operation
  std::atomic<bool> is_in_graphs_ = false;  // which run on any stream at any time
  struct first_row {
    std::int64_t in_table, in_tensor;
  };
  std::map<int, first_row> first_rows_;  // of the node's ranks
  rows::device_table table_;
  rows::index_report report_;
  std::string text_;  // of the tensor, for messages
  exchange_rooms rooms_;
  std::mutex mutex_;                                               // guards the member below
  std::map<void*, std::unique_ptr<memory::device_event>> events_;  // after the last operation of each stream
};

}  // namespace syncyte::tensor
