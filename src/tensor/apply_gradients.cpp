// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/apply_gradients.hpp"

#include "rows/distinct_rows.hpp"
#include "tensor/own_memory.hpp"

namespace syncyte::tensor {

apply_gradients::apply_gradients(whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* gradients)
    : of_(of), by_(of.optimizer()) {
  if (of.held()->on_device() != nullptr) {
    device_request_.emplace(of, index, gradients, "gradients", false);
    return;
  }
  request_.emplace(of, index, gradients, "gradients", false);
  if (of.layout().row_elements() == 0) return;
  if (!by_->reaches_other_nodes()) require_mapped(of, *request_);
  require_apart_from_rows(of, *request_, false);
  if (by_->state()) require_apart_from_state(*by_->state(), *request_);
}

void apply_gradients::run() {
  if (device_request_) return by_->update_on_device(of_, *device_request_);
  if (const auto rest = begin()) rest->wait();
}

std::unique_ptr<access::transfer> apply_gradients::begin() {
  of_.require_host("the started form of tensor_apply_gradients");
  const layout& shape = of_.layout();
  if (shape.row_elements() == 0) return nullptr;
  return by_->start(rows::distinct_rows(request_->index, request_->packed, shape.row_bytes(), shape.dtype()));
}

}  // namespace syncyte::tensor
