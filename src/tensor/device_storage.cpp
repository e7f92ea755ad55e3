// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/device_storage.hpp"

#include <algorithm>
#include <utility>

#include "comm/communicator.hpp"
#include "memory/device.hpp"

namespace syncyte::tensor {

std::unique_ptr<device_storage> device_storage::allocate(comm::collective_call& call, const layout& shape, int device) {
  auto memory =
      comm::device_memory::allocate(call, device, shape.local_bytes(call.comm().rank()), shape.text().c_str());
  std::unique_ptr<device_storage> result;
  call.attempt([&] { result.reset(new device_storage(std::move(memory), shape)); });
  call.agree();
  return result;
}

device_storage::device_storage(std::shared_ptr<comm::device_memory> memory, const layout& shape)
    : memory_(std::move(memory)),
      table_{memory_->data(), shape.rows(), shape.row_bytes(), static_cast<std::int64_t>(shape.row_bytes())},
      report_(memory_->device()),
      text_(shape.text()) {}

device_storage::~device_storage() {
  try {
    wait_for_operations();
  } catch (const base::error&) {
    // the device has failed, or this is a forked child
  }
}

void device_storage::require_atomics() const {
  base::require(memory_->has_atomics(), SYNCYTE_ERR_UNSUPPORTED,
                "{} lies on devices that cannot add to each other's memory atomically, or of which no rank sees both "
                "(CUDA_VISIBLE_DEVICES), so that it cannot ask the driver",
                text_);
}

void device_storage::check_indices() {
  if (report_.has_any() && !has_queued()) refuse_skipped();
}

void device_storage::queued() {
  void* const stream = memory::thread_stream();
  if (stream == nullptr) {
    memory::cuda_backend().synchronize(device(), nullptr);
    return check_indices();
  }
  const std::lock_guard lock(mutex_);
  std::unique_ptr<memory::device_event>& event = events_[stream];
  if (!event) event = memory::cuda_system().make_event(device());
  event->record(stream);
}

void device_storage::wait() {
  wait_for_operations();
  memory::cuda_backend().synchronize(device(), memory::thread_stream());
  if (report_.has_any()) refuse_skipped();
}

void device_storage::wait_for_operations() {
  const std::lock_guard lock(mutex_);
  for (const auto& [stream, event] : events_) event->wait();
  events_.clear();
}

/// Whether a stream has queued operations that have not ended.
bool device_storage::has_queued() {
  const std::lock_guard lock(mutex_);
  return !std::ranges::all_of(events_, [](const auto& each) { return each.second->is_done(); });
}

void device_storage::refuse_skipped() {
  if (const auto skipped = report_.take()) rows::refuse_skipped(*skipped, text_);
}

}  // namespace syncyte::tensor
