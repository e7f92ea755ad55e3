// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "tensor/device_row_updates.hpp"
#include "tensor/device_target.hpp"
#include "tensor/update_items.hpp"

namespace syncyte::tensor {

/// update_target of a tensor on devices.
class device_update_target final : public fabric::target {
 public:
  device_update_target(const layout& shape, int rank, std::shared_ptr<device_row_updates> rows)
      : shape_(shape), rank_(rank), rows_(std::move(rows)), room_(rows_->device()), kernel_(rows_->device()) {}

  bool serve(fabric::served_request& request, fabric::answer& reply) override;

 private:
  void queue(const served_update& update, void* stream) const;

  layout shape_;
  int rank_;
  std::shared_ptr<device_row_updates> rows_;
  request_room room_;
  served_kernel kernel_;  // destroyed first: it waits for the kernel
};

}  // namespace syncyte::tensor
