// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "comm/device_memory.hpp"
#include "rows/device_rows.hpp"
#include "tensor/layout.hpp"

namespace syncyte::tensor {

/// A tensor's rows in the memory of a node's devices, and the operations on them that streams have queued. Thread-safe.
class device_storage {
 public:
  /// Collective, as comm::device_memory::allocate().
  static std::unique_ptr<device_storage> allocate(comm::collective_call& call, const layout& shape, int device);

  /// Waits for the queued operations; an error of theirs is lost.
  ~device_storage();

  int device() const { return memory_->device(); }
  std::byte* local() const { return memory_->local(); }
  std::byte* node() const { return memory_->data(); }
  const rows::device_table& table() const { return table_; }
  const rows::index_report& report() const { return report_; }
  /// Throws SYNCYTE_ERR_UNSUPPORTED unless devices can change each other's rows atomically.
  void require_atomics() const;

  /// Lets another device of this process access the rows, at the same addresses.
  void allow(int device) const { memory_->allow(device); }
  /// Throws SYNCYTE_ERR_INDEX, once, if an operation that has ended has skipped an index.
  void check_indices();
  /// Ends an operation of this thread that was queued on its stream: waits for it if the thread has no stream.
  void queued();
  /// Waits for all operations and for this thread's stream, and checks their indices.
  void wait();

 private:
  device_storage(std::shared_ptr<comm::device_memory> memory, const layout& shape);
  void wait_for_operations();
  bool has_queued();
  void refuse_skipped();

  std::shared_ptr<comm::device_memory> memory_;
  rows::device_table table_;
  rows::index_report report_;
  std::string text_;                                               // of the tensor, for messages
  std::mutex mutex_;                                               // guards the member below
  std::map<void*, std::unique_ptr<memory::device_event>> events_;  // after the last operation of each stream
};

}  // namespace syncyte::tensor
