// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/whole_tensor.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "comm/collective_call.hpp"
#include "memory/device.hpp"
#include "memory/device_system.hpp"
#include "tensor/naming.hpp"

namespace syncyte::tensor {

void whole_tensor::require_host(const char* operation) const {
  if (storage_->on_device() == nullptr) [[likely]]
    return;
  base::fail(SYNCYTE_ERR_UNSUPPORTED,
             "{} does not work on {}, which is in device memory; expected a tensor in host "
             "memory",
             operation, layout_.text());
}

/// A description of some of the tensor's memory.
syncyte_buffer_t whole_tensor::describe_at(std::byte* data, std::span<const std::int64_t> shape) const {
  syncyte_buffer_t result = base::make_buffer(data, layout_.dtype(), shape);
  if (const device_storage* const there = storage_->on_device()) {
    result.memory = SYNCYTE_MEMORY_CUDA;
    result.device = there->device();
  }
  return result;
}

syncyte_buffer_t whole_tensor::describe() const { return describe_at(nullptr, layout_.shape()); }

void whole_tensor::rows(int rank, std::int64_t& first, std::int64_t& count) const {
  layout_.require_rows();
  base::expect(rank >= 0 && rank < comm_->size(), SYNCYTE_ERR_ARGUMENT, "rank", rank, "0 to {}", comm_->size() - 1);
  first = layout_.partition().first(rank);
  count = layout_.partition().count(rank);
}

void whole_tensor::owner(base::array_argument<std::int64_t> index, std::int32_t* ranks) const {
  layout_.require_rows();
  const auto wanted = index.with_results("index", ranks, "ranks");
  rows::row_index(wanted).require_inside(layout_.rows());
  for (std::size_t i = 0; i < wanted.size(); ++i) ranks[i] = layout_.partition().owner(wanted[i]);
}

std::int64_t whole_tensor::locate_box(base::array_argument<std::int64_t> given_lower,
                                      base::array_argument<std::int64_t> given_extent, std::int64_t capacity,
                                      std::int32_t* ranks, std::int64_t* first, std::int64_t* rows) const {
  layout_.require_rows();
  const auto dimensions = static_cast<std::int64_t>(layout_.shape().size());
  const auto lower = given_lower.checked("lower", dimensions, "dimension");
  const auto extent = given_extent.checked("extent", dimensions, "dimension");
  for (std::size_t d = 0; d < extent.size(); ++d)
    base::expect(extent[d] >= 0, SYNCYTE_ERR_SHAPE, {"extent", d}, extent[d], "0 or more");
  layout_.require_inside(lower, extent);
  base::expect(capacity >= 0, SYNCYTE_ERR_ARGUMENT, "capacity", capacity, "0 or more");
  if (std::ranges::find(extent, 0) != extent.end()) return 0;
  const std::int64_t end = lower[0] + extent[0];
  std::int64_t count = 0;
  for (std::int64_t row = lower[0], stop = 0; row < end; row = stop, ++count) {
    const int owner = layout_.partition().owner(row);
    stop = std::min(end, layout_.partition().first(owner + 1));
    if (count >= capacity) continue;
    if (ranks != nullptr) ranks[count] = owner;
    if (first != nullptr) first[count] = row;
    if (rows != nullptr) rows[count] = stop - row;
  }
  return count;
}

syncyte_buffer_t whole_tensor::local() const {
  std::vector<std::int64_t> shape(layout_.shape().begin(), layout_.shape().end());
  if (const block_memory* const blocks = layout_.blocks()) {
    const std::vector<int> mine = blocks->blocks_of(comm_->rank());
    base::require(mine.size() <= 1, SYNCYTE_ERR_UNSUPPORTED,
                  "rank {} has {} blocks of {}, which have no view in one array; expected at most 1, or accesses to "
                  "boxes",
                  comm_->rank(), mine.size(), layout_.text());
    const distribution::layout& cut = blocks->layout()->cut();
    if (!mine.empty())
      shape = blocks->shape_of(mine.front());
    else if (cut.lists() != nullptr)
      shape[shape.size() - static_cast<std::size_t>(cut.ndim())] = 0;
    else
      std::ranges::fill(shape, 0);
  } else {
    shape[0] = layout_.partition().count(comm_->rank());
  }
  return describe_at(storage_->local(), shape);
}

void whole_tensor::node(syncyte_buffer_t& view, std::int64_t& first_row) const {
  layout_.require_rows();
  const topology::node_group& node = comm_->node();
  const bool is_shared = storage_->node() != nullptr || storage_->on_device() != nullptr;
  base::require(is_shared || comm_->size() == 1, SYNCYTE_ERR_UNSUPPORTED,
                "{} wraps memory that the ranks do not share; there is no view of the node's rows", layout_.text());
  std::vector<std::int64_t> shape(layout_.shape().begin(), layout_.shape().end());
  shape[0] = 0;
  for (const int member : node.members) shape[0] += layout_.partition().count(member);
  first_row = node.is_consecutive() ? layout_.partition().first(node.members.front()) : -1;
  view = describe_at(storage_->node(), shape);
}

void whole_tensor::allow_device(int device) const {
  memory::require_device(SYNCYTE_MEMORY_CUDA, device);
  if (const device_storage* const there = storage_->on_device()) return there->allow(device);
  base::require(storage_->shared() != nullptr, SYNCYTE_ERR_UNSUPPORTED,
                "{} wraps an array, whose memory devices may not use; expected a tensor with memory of its own",
                layout_.text());
  memory::explain("registering " + layout_.text(), device, [&] { storage_->shared()->allow(device); });
}

bool whole_tensor::is_mapped(int owner) const {
  return storage_->mapped_rows().find(layout_.partition().first(owner)) != nullptr;
}

void whole_tensor::flush() const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (window::remote* const remote = storage_->remote()) remote->flush(-1);
  if (device_storage* const there = storage_->on_device()) there->wait();
}

void whole_tensor::sync_rows() {
  comm::collective_call call(*comm_, "tensor_sync", comm::collective_call::always_agrees);
  call.attempt([&] {
    flush();
    if (window::remote* const remote = storage_->remote()) remote->synchronize_memory();
  });
  call.fact("creation number of the tensor", creation_number());
  naming([&] { return layout_.text(); }, [&] { call.agree(); });  // no rank leaves before all have entered
  if (window::remote* const remote = storage_->remote()) remote->synchronize_memory();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace syncyte::tensor
