// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/device_target.hpp"

#include <cstring>

#include "memory/device.hpp"

namespace syncyte::tensor {
namespace {

/// A request has a number of 4 bytes or more for each item.
constexpr std::size_t most_items = fabric::most_payload / sizeof(std::uint32_t);

}  // namespace

request_room::request_room(int device)
    : memory_(memory::cuda_system().allocate_pinned(device, fabric::most_payload + most_items * sizeof(std::int64_t))) {
}

served_kernel::served_kernel(int device)
    : stream_(memory::own_stream(device)), ended_(memory::cuda_system().make_event(device)) {}

served_kernel::~served_kernel() {
  base::error_of([&] { ended_->wait(); });
}

/// Whether a request may use the room: no kernel uses it, and no answer is there that somebody still asks for.
bool served_kernel::is_free(const caller_request& asking) {
  if (!ended_->is_done()) return false;
  constexpr std::chrono::seconds longest_pause{1};  // requests that wait are called for all the time
  return current_ == caller_request{} || current_ == asking ||
         std::chrono::steady_clock::now() - last_asked_ > longest_pause;
}

void served_kernel::start(const caller_request& key) {
  ended_->record(stream_);
  current_ = key;
}

bool served_kernel::ends_soon() {
  last_asked_ = std::chrono::steady_clock::now();
  constexpr std::chrono::microseconds longest_wait{200};
  do {
    if (ended_->is_done()) return true;
  } while (std::chrono::steady_clock::now() - last_asked_ < longest_wait);
  return false;
}

device_target::device_target(const layout& shape, int rank, std::shared_ptr<device_storage> held)
    : dtype_(shape.dtype()),
      row_bytes_(shape.row_bytes()),
      local_bytes_(shape.local_bytes(rank)),
      held_(std::move(held)),
      room_(held_->device()),
      kernel_(held_->device()) {}

/// The rows of a request: whole ones, or a piece of one, which is a table of one row.
device_target::rows_of_items device_target::find(const window::equal_items& items) const {
  const std::span<std::int64_t> list = room_.list(items.count());
  const bool is_whole = items.bytes == row_bytes_;
  base::require(is_whole || items.count() == 1, SYNCYTE_ERR_INTERNAL,
                "a request for {} pieces of {} bytes of rows of {} bytes", items.count(), items.bytes, row_bytes_);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::uint64_t offset = items.offset(i);
    base::expect(
        offset <= local_bytes_ && items.bytes <= local_bytes_ - offset && (!is_whole || offset % row_bytes_ == 0),
        SYNCYTE_ERR_INDEX, "offset", offset, "that of a row in a part of {} bytes", local_bytes_);
    list[i] = is_whole ? static_cast<std::int64_t>(offset / row_bytes_) : 0;
  }
  const auto stride = static_cast<std::int64_t>(items.bytes);
  const rows::device_index index{std::span<const std::int64_t>(list)};
  if (is_whole)
    return {{held_->local(), static_cast<std::int64_t>(local_bytes_ / row_bytes_), row_bytes_, stride}, index};
  return {{held_->local() + items.offset(0), 1, items.bytes, stride}, index};
}

/// Items that are written are copied to the room.
void device_target::queue(window::memory_operation what, const window::equal_items& items, void* stream) const {
  const auto [table, index] = find(items);
  const int device = held_->device();
  if (what == window::memory_operation::read)
    return rows::gather_rows(device, table, index, room_.data(), held_->report(), stream);
  std::memcpy(room_.data(), items.packed, items.count() * items.bytes);
  if (what == window::memory_operation::write)
    return rows::scatter_rows(device, table, index, room_.data(), held_->report(), stream);
  base::require(what == window::memory_operation::add, SYNCYTE_ERR_UNSUPPORTED,
                "operation {} does not work on device memory", static_cast<int>(what));
  rows::add_device_rows(device, table, index, room_.data(), dtype_, held_->report(), stream);
}

bool device_target::serve(fabric::served_request& request, fabric::answer& reply) {
  const auto what = static_cast<window::memory_operation>(request.header.operation);
  const bool reads = what == window::memory_operation::read;
  const window::equal_items items(request, !reads);
  if (items.count() == 0 || items.bytes == 0) return true;
  return kernel_.run(
      request, reads, [&](void* stream) { queue(what, items, stream); },
      [&] {
        if (!reads) return;
        const std::size_t bytes = items.count() * items.bytes;
        std::memcpy(reply.resize(bytes).data(), room_.data(), bytes);
      });
}

}  // namespace syncyte::tensor
