// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "access/started.hpp"
#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "core_world.hpp"
#include "elements.hpp"
#include "fabric/process_engine.hpp"
#include "reference.hpp"
#include "tensor/apply_gradients.hpp"
#include "tensor/box_operations.hpp"
#include "tensor/counter_operations.hpp"

namespace syncyte::test {

using tensor_pointer = std::shared_ptr<tensor::whole_tensor>;
using extents = std::vector<std::int64_t>;
using started_access = std::unique_ptr<access::started>;
using access::run;
using access::start;

/// Starts an operation on a tensor that the test keeps.
template <class Operation, class... Given>
started_access start(tensor::whole_tensor& of, Given&&... given) {
  return access::start<Operation>(tensor_pointer(std::shared_ptr<void>(), &of), std::forward<Given>(given)...);
}

/// Change a counter, and return its old value.
inline std::int64_t fetch_add(const tensor::whole_tensor& of, std::int64_t element, std::int64_t operand) {
  std::int64_t old = 0;
  run<tensor::fetch_add>(of, element, operand, &old);
  return old;
}
inline std::int64_t compare_swap(const tensor::whole_tensor& of, std::int64_t element, std::int64_t expected,
                                 std::int64_t desired) {
  std::int64_t old = 0;
  run<tensor::compare_swap>(of, element, expected, desired, &old);
  return old;
}

inline int rank() { return world().rank(); }
inline int ranks() { return world().size(); }
inline void barrier() { collectives::barrier(world()); }

/// True if this process has mapped the rows of all ranks: not with SYNCYTE_SHM=none, and not on several hosts.
inline bool on_one_node() { return world().node().count == 1; }

/// Whether ranks reach rows that they have not mapped by the fabric; otherwise by MPI RMA, which cannot add.
inline bool has_fabric() {
  std::string reason;
  return fabric::process_engine(reason) != nullptr;
}

/// 0 to count - 1.
inline std::vector<std::int64_t> all_rows(std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

inline tensor_pointer make_tensor(syncyte_dtype_t dtype, const extents& shape, const reference::lengths& parts = {},
                                  bool row_locks = false) {
  tensor::tensor_options options;
  options.name = "test";
  options.row_locks = row_locks;
  if (!parts.empty()) options.local_rows = parts[static_cast<std::size_t>(rank())];
  return tensor::whole_tensor::create(shared_world(), dtype, static_cast<std::int32_t>(shape.size()), shape.data(),
                                      options);
}

/// The partitions that tests use; the empty one means equal parts.
inline std::vector<reference::lengths> partitions(std::int64_t rows) {
  return {{},
          reference::uneven_lengths(11, rows, ranks()),
          reference::lengths_on_one(rows, ranks(), ranks() - 1),
          reference::lengths_with_gaps(rows, ranks())};
}

inline std::int64_t product(const extents& shape, std::size_t from = 0) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(from), shape.end(), std::int64_t{1},
                         std::multiplies<>());
}

/// Value of element `place` (row-major) of a filled tensor.
template <class T>
T filled(std::int64_t place) {
  return number<T>(reference::random_integer(21, 0, place, 0, 3));
}

/// Fills a tensor: each rank writes its own rows in place, and sync() makes them visible.
template <class T>
void fill(tensor::whole_tensor& tensor) {
  const syncyte_buffer_t view = tensor.local();
  std::int64_t first = 0, count = 0;
  tensor.rows(rank(), first, count);
  const std::int64_t row = tensor.layout().row_elements();
  for (std::int64_t i = 0; i < count * row; ++i) static_cast<T*>(view.data)[i] = filled<T>(first * row + i);
  tensor.sync();
}

/// The elements of a filled tensor, as one table.
template <class T>
std::vector<T> filled_table(std::int64_t elements) {
  std::vector<T> table;
  for (std::int64_t i = 0; i < elements; ++i) table.push_back(filled<T>(i));
  return table;
}

template <class T>
syncyte_buffer_t buffer_of(const std::vector<T>& values, syncyte_dtype_t dtype, const extents& shape) {
  return base::make_buffer(const_cast<T*>(values.data()), dtype, shape);
}

inline syncyte_buffer_t index_of(const std::vector<std::int64_t>& rows) {
  return buffer_of(rows, SYNCYTE_INT64, {static_cast<std::int64_t>(rows.size())});
}

inline syncyte_buffer_t index_of(const std::vector<std::int32_t>& rows) {
  return buffer_of(rows, SYNCYTE_INT32, {static_cast<std::int64_t>(rows.size())});
}

template <class T>
bool same_bytes(const std::vector<T>& left, const std::vector<T>& right) {
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size() * sizeof(T)) == 0);
}

/// All rows, read by this rank.
template <class T>
std::vector<T> read_all(tensor::whole_tensor& tensor) {
  const auto shape = tensor.layout().shape();
  std::vector<std::int64_t> rows(static_cast<std::size_t>(shape[0]));
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<T> output(rows.size() * static_cast<std::size_t>(tensor.layout().row_elements()));
  const syncyte_buffer_t index = index_of(rows);
  const syncyte_buffer_t packed = base::make_buffer(output.data(), tensor.layout().dtype(), shape);
  run<tensor::gather>(tensor, &index, &packed);
  return output;
}

}  // namespace syncyte::test
