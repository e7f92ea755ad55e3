// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/device_row_updates.hpp"

#include <utility>

namespace syncyte::tensor {
namespace {

/// In nanoseconds, for a row's lock: a caller on another node does not wait longer for a process that may have died.
constexpr std::uint64_t longest_wait_for_other = 2'000'000'000;

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
      report_(values_->on_device()->device()),
      updates_(values_->on_device()->device(), described(by, shape, state_.get(), *locks_)) {}

void device_row_updates::update(const device_request& request, const rows::device_index& rows, const optim::step& by) {
  if (state_) request.require_apart(state_->memory(), "the optimizer's state");
  device_storage& held = request.held;
  held.refuse_capture("apply_gradients");
  updates_.queue(held.table(), rows, request.packed.data(), by, request.report(), memory::thread_stream());
  for (const auto& each : {state_, locks_})
    if (each) each->on_device()->queued();
  request.end();
}

void device_row_updates::update_for_other(int rank, std::span<std::int64_t> rows, rows::row_part part,
                                          const std::byte* gradients, const optim::step& by, void* stream) {
  report_.take();  // of a request that was given up
  const device_storage& held = *values_->on_device();
  const std::int64_t first = held.first_in_table(rank);
  for (std::int64_t& row : rows) row += first;
  updates_.queue(held.table(), part, rows::device_index(rows), gradients, by, longest_wait_for_other, report_, stream);
}

void device_row_updates::check_update_for_other() {
  if (const auto skipped = report_.take()) values_->on_device()->refuse_skipped(*skipped);
}

}  // namespace syncyte::tensor
