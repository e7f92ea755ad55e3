// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "rows/device_updates.hpp"
#include "tensor/device_request.hpp"
#include "tensor/storage.hpp"

namespace syncyte::tensor {

/// Updates of a tensor's rows on devices, by kernels of the caller's device. Thread-safe.
class device_row_updates {
 public:
  /// `state` and `locks` are of the same partition, and on the same devices; `state` may be null. `locks` has a word
  /// for each row.
  device_row_updates(const optim::rule& by, const layout& shape, std::shared_ptr<storage> values,
                     std::shared_ptr<storage> state, std::shared_ptr<storage> locks);

  /// Queues an update on the thread's stream; without a stream it is complete on return. `rows`: the request's index,
  /// as the table of this node has them. Throws as device_storage::queued().
  void update(const device_request& request, const rows::device_index& rows, const optim::step& by);

  /// Queues an update of a part of rows of this rank, for another node. The list, which counts from the rank's first
  /// row, and the packed gradients are in host memory that devices access.
  void update_for_other(int rank, std::span<std::int64_t> rows, rows::row_part part, const std::byte* gradients,
                        const optim::step& by, void* stream);
  /// Throws SYNCYTE_ERR_PEER_DIED if the last update for another node, which has ended, has not got a row's lock.
  void check_update_for_other();

  int device() const { return values_->on_device()->device(); }

  std::byte* locks() const { return locks_->on_device()->node(); }

 private:
  std::shared_ptr<storage> values_, state_, locks_;
  rows::index_report report_;     // of updates for other nodes
  rows::device_updates updates_;  // destroyed first: it waits for what is queued
};

}  // namespace syncyte::tensor
