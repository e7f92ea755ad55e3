// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

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

  /// Queues an update on the thread's stream; without a stream it is complete on return. Throws as
  /// device_storage::queued().
  void update(const device_request& request, const optim::step& by);

  std::byte* locks() const { return locks_->on_device()->node(); }

 private:
  std::shared_ptr<storage> values_, state_, locks_;
  rows::device_updates updates_;  // destroyed first: it waits for what is queued
};

}  // namespace syncyte::tensor
