// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/device_exchange.hpp"

#include <algorithm>
#include <cstring>

#include "memory/device.hpp"
#include "memory/mapping.hpp"
#include "tensor/row_transfer.hpp"

namespace syncyte::tensor {
namespace {

constexpr std::size_t piece_bytes = std::size_t{4} << 20;
constexpr std::size_t place_bytes = sizeof(std::int64_t);
constexpr std::size_t alignment = 64;

}  // namespace

device_exchange::device_exchange(const whole_tensor& of, const device_request& request)
    : of_(of), request_(request), row_bytes_(of.layout().row_bytes()), lock_(request.held.rooms().mutex) {
  request.held.refuse_capture("an operation between nodes");
  const auto count = static_cast<std::size_t>(request.index.count());
  std::byte* const list = request.held.rooms().list.of(request.held.device(), count * place_bytes);
  here_ = {reinterpret_cast<std::int64_t*>(list), count};
  read_index();
  const distribution::partition& parts = of.layout().partition();
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t row = here_[i];
    const int owner = parts.owner(row);
    const std::int64_t first = request.held.first_in_table(owner);
    here_[i] = first < 0 ? -1 : first + row - parts.first(owner);
    if (first >= 0) continue;
    others_.push_back(row);
    places_.push_back(static_cast<std::int64_t>(i));
  }
}

device_exchange::~device_exchange() {
  base::error_of([&] { wait(); });  // kernels may still read the rooms
}

void device_exchange::wait() const {
  memory::cuda_backend().synchronize(request_.held.device(), memory::thread_stream());
}

/// Copies the index to the list, and checks it.
void device_exchange::read_index() {
  const rows::device_index& given = request_.index;
  const auto read = [&]<class Number>(Number) {
    auto* const to = reinterpret_cast<Number*>(here_.data());
    memory::copy({to, SYNCYTE_MEMORY_HOST, 0},
                 {const_cast<void*>(given.data()), SYNCYTE_MEMORY_CUDA, request_.held.device()},
                 here_.size() * sizeof(Number), memory::thread_stream());
    wait();
    rows::row_index(std::span<const Number>(to, here_.size())).require_inside(of_.layout().rows());
    // From the last one on, because a wider number takes the place of several.
    for (std::size_t i = here_.size(); i-- > 0;) {
      const std::int64_t row = to[i];
      std::memcpy(here_.data() + i, &row, sizeof row);
    }
  };
  if (here_.empty()) return;
  given.is_wide() ? read(std::int64_t{}) : read(std::int32_t{});
}

rows::device_table device_exchange::packed_table() const {
  return {request_.packed.data(), request_.index.count(), row_bytes_, static_cast<std::int64_t>(row_bytes_)};
}

/// Calls visit(first of others(), their positions in packed memory, pinned memory for them) until all had a turn.
void device_exchange::for_each_piece(const visit_piece& visit) {
  if (row_bytes_ == 0 || others_.empty()) return;
  const std::size_t most = std::min(others_.size(), std::max<std::size_t>(piece_bytes / (row_bytes_ + place_bytes), 1));
  const std::size_t list_bytes = memory::round_up(most * place_bytes, alignment);
  std::byte* const room = request_.held.rooms().piece.of(request_.held.device(), list_bytes + most * row_bytes_);
  for (std::size_t first = 0; first < others_.size(); first += most) {
    const std::size_t count = std::min(most, others_.size() - first);
    auto* const places = reinterpret_cast<std::int64_t*>(room);
    std::copy_n(places_.data() + first, count, places);
    visit(first, rows::device_index(std::span<const std::int64_t>(places, count)), room + list_bytes);
  }
}

rows::row_index device_exchange::piece_of_others(std::size_t first, const rows::device_index& places) const {
  return rows::row_index(others().subspan(first, static_cast<std::size_t>(places.count())));
}

/// Copies packed rows at some positions to pinned memory, and waits.
void device_exchange::gather_packed(const rows::device_index& places, std::byte* packed) const {
  rows::gather_rows(request_.held.device(), packed_table(), places, packed, request_.report(), memory::thread_stream());
  wait();
}

void device_exchange::get(const char* name) {
  for_each_piece([&](std::size_t first, const rows::device_index& places, std::byte* packed) {
    row_transfer(of_, piece_of_others(first, places), packed, name, window::row_access::get).wait();
    rows::scatter_rows(request_.held.device(), packed_table(), places, packed, request_.report(),
                       memory::thread_stream());
    wait();
  });
}

void device_exchange::send(const char* name, window::row_access what) {
  for_each_piece([&](std::size_t first, const rows::device_index& places, std::byte* packed) {
    gather_packed(places, packed);
    row_transfer(of_, piece_of_others(first, places), packed, name, what).wait();
  });
}

memory::scratch device_exchange::packed_of_others() {
  memory::scratch result(others_.size() * row_bytes_);
  for_each_piece([&](std::size_t first, const rows::device_index& places, std::byte* packed) {
    gather_packed(places, packed);
    std::memcpy(result.data() + first * row_bytes_, packed, static_cast<std::size_t>(places.count()) * row_bytes_);
  });
  return result;
}

}  // namespace syncyte::tensor
