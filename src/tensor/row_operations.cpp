// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/row_operations.hpp"

#include <cstring>
#include <vector>

#include "rows/add_rows.hpp"
#include "rows/copy_rows.hpp"
#include "tensor/box_operations.hpp"
#include "tensor/device_rows.hpp"
#include "tensor/own_memory.hpp"
#include "tensor/row_transfer.hpp"
#include "tensor/staged_adds.hpp"

namespace syncyte::tensor {
namespace {

/// Calls copy(packed row, row) for rows at some positions of a request.
template <class Copy>
void for_each_row(const whole_tensor& of, const row_request& request, std::span<const std::int64_t> positions,
                  Copy&& copy) {
  const std::size_t bytes = of.layout().row_bytes();
  for (const std::int64_t position : positions)
    copy(request.packed + static_cast<std::size_t>(position) * bytes,
         of.held()->mapped_rows().find(request.index[position]), bytes);
}

void gather_all(const whole_tensor& of, const row_request& request) {
  rows::gather_rows(of.held()->mapped_rows(), request.index, request.packed);
}

void gather_some(const whole_tensor& of, const row_request& request, std::span<const std::int64_t> positions) {
  for_each_row(of, request, positions, [](auto packed, auto row, auto bytes) { std::memcpy(packed, row, bytes); });
}

void scatter_all(const whole_tensor& of, const row_request& request) {
  rows::scatter_rows(of.held()->mapped_rows(), request.index, request.packed);
}

void scatter_some(const whole_tensor& of, const row_request& request, std::span<const std::int64_t> positions) {
  for_each_row(of, request, positions, [](auto packed, auto row, auto bytes) { std::memcpy(row, packed, bytes); });
}

void add_all(const whole_tensor& of, const row_request& request) {
  storage& held = *of.held();
  rows::add_rows(held.mapped_rows(), request.index, request.packed, of.layout().dtype(), held.locks());
}

void add_some(const whole_tensor& of, const row_request& request, std::span<const std::int64_t> positions) {
  std::vector<std::int64_t> rows;
  rows.reserve(positions.size());
  for (const std::int64_t position : positions) rows.push_back(request.index[position]);
  storage& held = *of.held();
  rows::add_rows_at(held.mapped_rows(), rows::row_index(std::span<const std::int64_t>(rows)), positions, request.packed,
                    of.layout().dtype(), held.locks());
}

constexpr row_kind reads{"tensor_gather", window::row_access::get, "output", true, gather_on_device, gather_all,
                         gather_some};
constexpr row_kind writes{"tensor_scatter", window::row_access::put, "source", false, scatter_on_device, scatter_all,
                          scatter_some};
constexpr row_kind adds{
    "tensor_scatter_add", window::row_access::add, "source", false, scatter_add_on_device, add_all, add_some};

}  // namespace

/// Rows of a tensor that is cut by a layout are boxes, which several ranks may own.
std::unique_ptr<access::transfer> row_operation::begin_boxes() {
  const layout& shape = of_.layout();
  std::vector<std::int64_t> box(shape.shape().begin(), shape.shape().end()), lower(box.size());
  box[0] = 1;
  const std::size_t bytes = static_cast<std::size_t>(shape.slice_elements()) * shape.element_bytes();
  auto others = copies_of(of_, kind_.name, kind_.writes_packed);
  for (std::int64_t i = 0; i < request_->index.count(); ++i) {
    lower[0] = request_->index[i];
    const syncyte_buffer_t row =
        base::make_buffer(request_->packed + static_cast<std::size_t>(i) * bytes, shape.dtype(), box);
    copy_elements(of_, lower, base::buffer(&row, kind_.packed), kind_.writes_packed, *others);
  }
  return box_transfer::start(std::move(others));
}

row_operation::row_operation(whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* packed,
                             const row_kind& what)
    : of_(of), kind_(what), index_(index), packed_(packed) {
  if (of.held()->on_device() == nullptr) request_.emplace(of, index, packed, what.packed, what.writes_packed);
}

void row_operation::run() {
  if (is_on_device()) return kind_.run_on_device(of_, index_, packed_);
  if (const auto rest = begin()) rest->wait();
}

std::unique_ptr<access::transfer> row_operation::begin() {
  if (is_on_device()) of_.require_host(fmt::format("the started form of {}", kind_.name).c_str());
  if (request_->is_empty) return nullptr;
  if (of_.layout().blocks() != nullptr) return begin_boxes();
  if (of_.held()->mapped_rows().covers(of_.layout().rows())) {
    kind_.run(of_, *request_);
    return nullptr;
  }
  auto result = std::make_unique<row_transfer>(of_, request_->index, request_->packed, kind_.name, kind_.what);
  for (const auto& [owner, positions] : result->parts())
    if (of_.is_mapped(owner)) kind_.run_some(of_, *request_, positions);
  if (result->is_done()) return nullptr;
  return result;
}

gather::gather(whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* output)
    : row_operation(of, index, output, reads) {
  if (!is_on_device() && !request_->is_empty) require_apart_from_rows(of, *request_, true);
}

scatter::scatter(whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* source)
    : row_operation(of, index, source, writes) {
  if (!is_on_device() && !request_->is_empty) require_apart_from_rows(of, *request_, false);
}

scatter_add::scatter_add(whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* source)
    : row_operation(of, index, source, adds) {
  of.layout().require_rows();
  if (is_on_device() || request_->is_empty || of.staged() != nullptr) return;
  if (!can_add_everywhere(of)) require_mapped(of, *request_);
  require_apart_from_rows(of, *request_, false);
}

std::unique_ptr<access::transfer> scatter_add::begin() {
  staged_adds* const staged = of_.staged();
  if (staged == nullptr) return row_operation::begin();
  if (!request_->is_empty) staged->add(request_->index, request_->packed);
  return nullptr;
}

void scatter_add::run() {
  if (of_.staged() == nullptr) return row_operation::run();
  if (const auto rest = begin()) rest->wait();
}

}  // namespace syncyte::tensor
