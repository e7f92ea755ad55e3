// SPDX-License-Identifier: BSD-3-Clause
#include "window/fabric_remote.hpp"

#include <array>
#include <atomic>
#include <complex>
#include <cstring>
#include <utility>

#include "access/owners_transfer.hpp"
#include "base/dtype.hpp"

namespace syncyte::window {
namespace {

constexpr memory_operation operation_of(row_access what) {
  switch (what) {
    case row_access::get:
      return memory_operation::read;
    case row_access::put:
      return memory_operation::write;
    default:
      return memory_operation::add;
  }
}

}  // namespace

std::shared_ptr<fabric_remote> fabric_remote::create(comm::collective_call& call, std::shared_ptr<fabric::group> ranks,
                                                     std::shared_ptr<fabric::target> mine) {
  serve_departure(ranks->through());
  const fabric::object_name name = ranks->add_object(call, std::move(mine));
  return std::shared_ptr<fabric_remote>(new fabric_remote(std::move(ranks), name));
}

void fabric_remote::free_collectively() noexcept { ranks_->through().targets().remove(name_); }

std::unique_ptr<fabric::request_source> fabric_remote::row_requests(memory_operation what, const remote_rows& rows,
                                                                    const std::byte* source, syncyte_op_t op,
                                                                    std::size_t origin) const {
  return std::make_unique<access::item_requests<row_items>>(
      name_, row_items(ranks_->rank_name(rows.rank), what, rows, source, op, origin));
}

std::unique_ptr<fabric::request_source> fabric_remote::element_change_requests(
    int rank, const element_requests::change& what) const {
  return std::make_unique<element_requests>(ranks_->rank_name(rank), name_, what);
}

std::unique_ptr<transfer> fabric_remote::start(const char* operation, int rank,
                                               std::unique_ptr<fabric::request_source> requests) {
  auto started = std::make_unique<access::owners_transfer>(ranks_, operation);
  started->add(rank, std::move(requests));
  return started;
}

void fabric_remote::put(int rank, std::size_t offset, const std::byte* source, std::size_t bytes) {
  start_put(rank, offset, source, bytes)->wait();
}

/// Bytes are a row at the origin, which is read from `source` or written to `target`.
std::unique_ptr<transfer> fabric_remote::start_bytes(const char* operation, memory_operation what, int rank,
                                                     std::size_t offset, const std::byte* source, std::byte* target,
                                                     std::size_t bytes) {
  static constexpr std::size_t at_origin = 0;
  return start(operation, rank,
               row_requests(what, {rank, bytes, {&at_origin, 1}, target, {}}, source, SYNCYTE_OP_REPLACE, offset));
}

std::unique_ptr<transfer> fabric_remote::start_put(int rank, std::size_t offset, const std::byte* source,
                                                   std::size_t bytes) {
  return start_bytes("window_put", memory_operation::write, rank, offset, source, nullptr, bytes);
}

std::unique_ptr<transfer> fabric_remote::start_get(int rank, std::size_t offset, std::byte* target, std::size_t bytes) {
  return start_bytes("window_get", memory_operation::read, rank, offset, nullptr, target, bytes);
}

std::unique_ptr<transfer> fabric_remote::start_rows(const char* operation, row_access what,
                                                    std::span<const remote_rows> owners, syncyte_op_t op) {
  auto started = std::make_unique<access::owners_transfer>(ranks_, operation);
  for (const remote_rows& each : owners)
    started->add(each.rank, row_requests(operation_of(what), each, each.packed, op));
  return started;
}

std::unique_ptr<transfer> fabric_remote::start_combine(const char* operation, int rank, std::size_t offset,
                                                       syncyte_dtype_t dtype, syncyte_op_t op, const std::byte* source,
                                                       std::byte* previous, std::int64_t count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * base::dtype_size(dtype);
  return start(
      operation, rank,
      element_change_requests(rank, {memory_operation::combine, offset, dtype, op, {source, bytes}, previous}));
}

std::unique_ptr<transfer> fabric_remote::start_compare_swap(const char* operation, int rank, std::size_t offset,
                                                            syncyte_dtype_t dtype, const void* expected,
                                                            const void* desired, void* previous) {
  const std::size_t bytes = base::dtype_size(dtype);
  std::array<std::byte, 2 * sizeof(std::complex<double>)> both;
  std::memcpy(both.data(), expected, bytes);
  std::memcpy(both.data() + bytes, desired, bytes);
  const element_requests::change what{
      memory_operation::compare_swap,   offset, dtype, SYNCYTE_OP_REPLACE, std::span(both).first(2 * bytes),
      static_cast<std::byte*>(previous)};
  return start(operation, rank, element_change_requests(rank, what));
}

access::last_step fabric_remote::change_step(const char* operation, const element_change& what) {
  const auto operand = std::span(what.operand).first(base::dtype_size(what.dtype));
  return {operation, &ranks_->at(what.rank),
          element_change_requests(what.rank,
                                  {memory_operation::combine, what.offset, what.dtype, what.op, operand, nullptr})};
}

void fabric_remote::flush(int) { std::atomic_thread_fence(std::memory_order_seq_cst); }

void fabric_remote::synchronize_memory() { std::atomic_thread_fence(std::memory_order_seq_cst); }

}  // namespace syncyte::window
