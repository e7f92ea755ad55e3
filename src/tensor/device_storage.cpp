// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/device_storage.hpp"

#include <algorithm>
#include <bit>
#include <ranges>
#include <utility>

#include "comm/communicator.hpp"
#include "memory/device.hpp"
#include "mpi/small_collectives.hpp"
#include "rows/gather_table.hpp"

namespace syncyte::tensor {

std::unique_ptr<device_storage> device_storage::allocate(comm::collective_call& call, const layout& shape, int device) {
  auto memory =
      comm::device_memory::allocate(call, device, shape.local_bytes(call.comm().rank()), shape.text().c_str());
  const comm::communicator& comm = call.comm();
  std::unique_ptr<device_storage> result;
  call.attempt([&] { result.reset(new device_storage(std::move(memory), shape, comm)); });
  call.agree();
  result->has_atomics_ = mpi::allreduce<std::uint64_t>(result->has_atomics_, MPI_MIN, comm.data()) != 0;
  return result;
}

std::unique_ptr<device_storage> device_storage::wrap(const comm::communicator& comm, const layout& shape,
                                                     std::byte* mine, int device) {
  return std::unique_ptr<device_storage>(new device_storage(comm::device_memory::wrap(device, mine), shape, comm));
}

device_storage::device_storage(std::shared_ptr<comm::device_memory> memory, const layout& shape,
                               const comm::communicator& comm)
    : memory_(std::move(memory)),
      has_atomics_(memory_->has_atomics()),
      waits_(comm.check() == comm::check_level::full),
      table_{memory_->data(), 0, shape.row_bytes(), static_cast<std::int64_t>(shape.row_bytes())},
      report_(memory_->device()),
      text_(shape.text()) {
  for (const int member : comm.node().members) {
    first_rows_[member] = {table_.rows, shape.partition().first(member)};
    table_.rows += shape.partition().count(member);
  }
}

std::byte* pinned_room::of(int device, std::size_t bytes) {
  if (bytes <= bytes_) return memory_.get();
  memory_.reset();
  bytes_ = 0;
  const std::size_t more = std::bit_ceil(bytes);
  memory_ = memory::cuda_system().allocate_pinned(device, more);
  bytes_ = more;
  return memory_.get();
}

device_storage::~device_storage() {
  try {
    wait_for_operations();
  } catch (const base::error&) {
    // the device has failed, or this is a forked child
  }
}

void device_storage::require_atomics() const {
  base::require(has_atomics_, SYNCYTE_ERR_UNSUPPORTED,
                "{} lies on devices that cannot add to each other's memory atomically, or of which no rank sees both "
                "(CUDA_VISIBLE_DEVICES), so that it cannot ask the driver",
                text_);
}

bool device_storage::is_captured() const {
  return memory::cuda_system().is_captured(device(), memory::thread_stream());
}

void device_storage::refuse_capture(const char* operation) const {
  base::require(!is_captured(), SYNCYTE_ERR_UNSUPPORTED,
                "{} of {} cannot be captured into a CUDA graph; expected gather, scatter or scatter_add of a tensor "
                "within a node, whose communicator does not have check=full",
                operation, text_);
}

void device_storage::begin() {
  if (waits_) refuse_capture("an operation");
  check_indices();
}

/// Indices of operations in graphs are checked by wait() alone: nobody knows when they run.
void device_storage::check_indices() {
  if (report_.has_any() && !is_in_graphs_ && !has_queued()) refuse_noted();
}

void device_storage::queued() {
  void* const stream = memory::thread_stream();
  if (waits()) return memory::cuda_backend().synchronize(device(), stream);
  if (is_captured()) {
    is_in_graphs_ = true;
    return;
  }
  const std::lock_guard lock(mutex_);
  std::unique_ptr<memory::device_event>& event = events_[stream];
  if (!event) event = memory::cuda_system().make_event(device());
  event->record(stream);
}

void device_storage::wait() {
  refuse_capture("sync");
  const bool is_done = wait_for_operations();
  memory::cuda_backend().synchronize(device(), memory::thread_stream());
  base::require(is_done, SYNCYTE_ERR_UNSUPPORTED,
                "{} is used by CUDA graphs, which run on any stream, and device {} cannot be waited for while one of "
                "its streams is captured",
                text_, device());
  if (report_.has_any()) refuse_noted();
  rows::check_device_gathers(device());
}

/// Returns false if it cannot wait for graphs.
bool device_storage::wait_for_operations() {
  const bool is_done = !is_in_graphs_ || memory::cuda_backend().finish(device());
  const std::lock_guard lock(mutex_);
  for (const auto& [stream, event] : events_) event->wait();
  events_.clear();
  return is_done;
}

/// Whether a stream has queued operations that have not ended.
bool device_storage::has_queued() {
  const std::lock_guard lock(mutex_);
  return !std::ranges::all_of(events_, [](const auto& each) { return each.second->is_done(); });
}

void device_storage::refuse_noted() {
  if (const auto skipped = report_.take()) refuse_skipped(*skipped);
}

void device_storage::refuse_skipped(rows::skipped_index skipped) const {
  // A lock is that of a row of the table, which has this node's rows alone.
  if (skipped.operation == rows::device_operation::wait_for_lock) {
    const auto after = std::ranges::find_if(first_rows_ | std::views::reverse,
                                            [&](const auto& each) { return each.second.in_table <= skipped.value; });
    skipped.value += after->second.in_tensor - after->second.in_table;
  }
  rows::refuse_skipped(skipped, text_);
}

}  // namespace syncyte::tensor
