// SPDX-License-Identifier: BSD-3-Clause
#include "rows/device_updates.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "memory/device.hpp"
#include "rows/cuda/update_bodies.hpp"
#include "rows/device_launch.hpp"

namespace syncyte::rows {

using cuda::listed_row;

device_updates::~device_updates() {
  for (auto& [stream, room] : rooms_) {
    try {
      room.last_use->wait();
      memory::release(room.data);
    } catch (const base::error&) {
      // the device has failed, or this is a forked child
    }
  }
}

device_updates::sorting_room& device_updates::room_for(std::int64_t rows, void* stream) {
  sorting_room& room = rooms_[stream];
  if (!room.last_use) room.last_use = memory::cuda_system().make_event(device_);
  if (rows <= room.rows) return room;
  if (room.data != nullptr) {
    room.last_use->wait();
    memory::release(std::exchange(room.data, nullptr));
  }
  room.rows = 0;
  const auto more = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(rows)));
  room.data = memory::acquire(2 * static_cast<std::size_t>(more) * sizeof(listed_row), SYNCYTE_MEMORY_CUDA, device_);
  room.rows = more;
  return room;
}

void device_updates::queue(const device_table& table, const device_index& index, const std::byte* gradients,
                           const optim::step& by, const index_report& report, void* stream) {
  queue(table, {0, elements_of(table)}, index, gradients, by, longest_wait, report, stream);
}

void device_updates::queue(const device_table& table, row_part part, const device_index& index,
                           const std::byte* gradients, const optim::step& by, std::uint64_t most_wait,
                           const index_report& report, void* stream) {
  const std::int64_t count = index.count();
  if (count == 0) return;
  const std::lock_guard lock(mutex_);
  sorting_room& room = room_for(count, stream);
  auto* sorted = static_cast<listed_row*>(room.data);
  listed_row* other = sorted + room.rows;
  const auto launch = [&](const std::string& kernel, const auto& arguments, std::int64_t threads) {
    launch_kernel(device_, kernel, &arguments, threads, stream);
  };
  launch("list",
         cuda::list_arguments{.index = index.data(),
                              .count = count,
                              .list = sorted,
                              .table_rows = table.rows,
                              .bad = static_cast<cuda::bad_index*>(report.noting(index)),
                              .operation = static_cast<std::uint32_t>(device_operation::update),
                              .is_wide = index.is_wide()},
         count);
  for (std::int64_t length = 1; length < count; length *= 2) {
    launch("merge", cuda::merge_arguments{.from = sorted, .to = other, .count = count, .length = length}, count);
    std::swap(sorted, other);
  }
  const std::int64_t elements = elements_of(table);
  const int lane_bits = lane_bits_for(elements);
  const auto inset = [&](std::byte* row, syncyte_dtype_t dtype) {
    return row == nullptr ? nullptr : row + static_cast<std::size_t>(part.first) * base::dtype_size(dtype);
  };
  if (part.count > 0)
    launch(fmt::format("{}_{}", optim::name_of(by_.rule), base::dtype_name(by_.dtype)),
           cuda::update_arguments{.by = by,
                                  .table = inset(table.data, by_.dtype),
                                  .table_rows = table.rows,
                                  .stride = table.stride,
                                  .state = inset(by_.state, optim::state_dtype(by_.dtype)),
                                  .state_stride = by_.state_stride,
                                  .list = sorted,
                                  .count = count,
                                  .gradients = gradients,
                                  .row_elements = part.count,
                                  .slot_elements = elements,
                                  .locks = by_.locks,
                                  .bad = static_cast<cuda::bad_index*>(report.data()),
                                  .operation = static_cast<std::uint32_t>(device_operation::wait_for_lock),
                                  .lane_bits = lane_bits,
                                  .longest_wait = std::min(most_wait, longest_wait)},
           threads_of(count, lane_bits));
  room.last_use->record(stream);
}

std::int64_t device_updates::elements_of(const device_table& table) const {
  return static_cast<std::int64_t>(table.row_bytes / base::dtype_size(by_.dtype));
}

}  // namespace syncyte::rows
