// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/device_row_updates.hpp"

#include <utility>

namespace syncyte::tensor {
namespace {

rows::device_optimizer described(const optim::rule& by, const layout& shape, const storage* state,
                                 const storage& locks) {
  rows::device_optimizer result{by, shape.dtype(), nullptr, 0,
                                reinterpret_cast<std::uint32_t*>(locks.on_device()->table().data)};
  if (state != nullptr) {
    result.state = state->on_device()->table().data;
    result.state_stride = state->on_device()->table().stride;
  }
  return result;
}

}  // namespace

device_row_updates::device_row_updates(const optim::rule& by, const layout& shape, std::shared_ptr<storage> values,
                                       std::shared_ptr<storage> state, std::shared_ptr<storage> locks)
    : values_(std::move(values)),
      state_(std::move(state)),
      locks_(std::move(locks)),
      updates_(values_->on_device()->device(), described(by, shape, state_.get(), *locks_)) {}

void device_row_updates::update(const device_request& request, const optim::step& by) {
  if (state_) request.require_apart(state_->memory(), "the optimizer's state");
  device_storage& held = request.held;
  updates_.queue(held.table(), request.index, request.packed.data(), by, held.report(), memory::thread_stream());
  for (const auto& each : {state_, locks_})
    if (each) each->on_device()->queued();
  held.queued();
}

}  // namespace syncyte::tensor
