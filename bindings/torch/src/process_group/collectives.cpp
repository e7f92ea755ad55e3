// SPDX-License-Identifier: BSD-3-Clause
#include "process_group/collectives.hpp"

#include <ATen/MemoryOverlap.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

#include "collectives/agreement.hpp"
#include "collectives/communicators.hpp"
#include "process_group/reduction.hpp"
#include "tensors/buffers.hpp"

namespace syncyte::torch_binding::process_group::blocking {
namespace {

/// The number by which the functions of agreement.hpp know a communicator.
std::int64_t number_of(const communicator& comm) { return reinterpret_cast<std::int64_t>(comm.get()); }

/// This rank's part of a collective before data moves. If it fails, the collective fails on all ranks.
template <class Prepare>
auto prepared(const communicator& comm, const char* operation, Prepare prepare) {
  return together(number_of(comm), operation, std::move(prepare));
}

const at::Tensor& only_one(const tensors& arrays, const char* argument) {
  TORCH_CHECK_VALUE(arrays.size() == 1, argument, " has ", arrays.size(), " tensors; expected one");
  return arrays.front();
}

void require_one_per_rank(const communicator& comm, const char* argument, std::size_t size) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  TORCH_CHECK_VALUE(size == ranks, argument, " has ", size, " tensors; expected ", ranks, ", one for each rank");
}

void require_type(const char* argument, const at::Tensor& array, at::ScalarType expected) {
  require_dense(array);
  TORCH_CHECK_TYPE(array.scalar_type() == expected, argument, " is of ", array.scalar_type(), "; expected ", expected);
}

void require_elements(const char* argument, const at::Tensor& array, std::int64_t expected) {
  TORCH_CHECK_VALUE(array.numel() == expected, argument, " has ", array.numel(), " elements; expected ", expected);
}

void require_writable(const at::Tensor& array) {
  TORCH_CHECK_VALUE(at::has_internal_overlap(array) != at::MemOverlap::Yes,
                    "the tensor has elements that share memory (expand()); expected one that can be written");
}

/// A tensor's elements as one row of contiguous memory: the tensor's own where that is contiguous, otherwise a copy.
at::Tensor row_of(const at::Tensor& array) {
  require_dense(array);
  return array.detach().contiguous().view(-1);
}

/// Memory for a result of the tensor's elements, which is written back to it.
class target {
 public:
  explicit target(const at::Tensor& array) : array_(array.detach()) {
    require_dense(array);
    require_writable(array);
    row = array.is_contiguous() ? array_.view(-1) : at::empty({array.numel()}, array.options());
  }
  /// With the tensor's elements in it.
  static target with_contents(const at::Tensor& array) {
    target result(array);
    if (!array.is_contiguous()) result.row.copy_(result.array_.reshape(-1));
    return result;
  }
  void write_back() const {
    if (!array_.is_contiguous()) array_.copy_(row.view(array_.sizes()));
  }
  at::Tensor row;

 private:
  at::Tensor array_;
};

bool overlap(const at::Tensor& a, const at::Tensor& b) {
  const auto* const a_first = static_cast<const char*>(a.const_data_ptr());
  const auto* const b_first = static_cast<const char*>(b.const_data_ptr());
  return a_first < b_first + b.nbytes() && b_first < a_first + a.nbytes();
}

/// The row, or a copy where an operation's result would overwrite it.
at::Tensor apart_from(const at::Tensor& row, const at::Tensor& result) {
  return overlap(row, result) ? row.clone() : row;
}

extents elements_of(const tensors& arrays) {
  extents result;
  for (const at::Tensor& each : arrays) result.push_back(each.numel());
  return result;
}

extents equal_parts(const communicator& comm, std::int64_t elements) {
  return extents(static_cast<std::size_t>(comm.size()), elements);
}

/// The arrays of one type, one after another in memory.
at::Tensor joined(const char* argument, const tensors& arrays) {
  tensors rows;
  for (const at::Tensor& each : arrays) {
    require_type(argument, each, arrays.front().scalar_type());
    rows.push_back(row_of(each));
  }
  return at::cat(rows);
}

at::Tensor room_for(const char* argument, const tensors& arrays) {
  for (const at::Tensor& each : arrays) {
    require_type(argument, each, arrays.front().scalar_type());
    require_writable(each);
  }
  return at::empty({sum_of(elements_of(arrays))}, arrays.front().options());
}

/// Copies the parts of a row to the tensors, whose sizes are the parts'.
void distribute(const at::Tensor& row, const tensors& arrays) {
  std::int64_t first = 0;
  for (const at::Tensor& each : arrays) {
    each.detach().copy_(row.narrow(0, first, each.numel()).view(each.sizes()));
    first += each.numel();
  }
}

fact_list shape_of(const at::Tensor& array) {
  fact_list facts;
  add_shape(facts, array.sizes());
  return facts;
}

/// A fact of a collective that moves elements: torch's type, where they are moved as bytes.
void add_type(fact_list& facts, const at::Tensor& row) {
  if (!movable(row).is_same(row)) facts.push_back({"torch's type", static_cast<std::int64_t>(row.scalar_type())});
}

fact_list type_of(const at::Tensor& row) {
  fact_list facts;
  add_type(facts, row);
  return facts;
}

struct reduced {
  reduction how;
  at::Tensor input;  // undefined: the target's contents
  target output;
};

/// A reduction in place: of a contribution in other memory where it must be scaled.
reduced in_place(const communicator& comm, const at::Tensor& array, const c10d::ReduceOp& asked) {
  require_dense(array);
  reduced result{reduction(asked, array.scalar_type(), comm.size()), {}, target::with_contents(array)};
  at::Tensor scaled = result.how.contribution(result.output.row);
  if (!scaled.is_same(result.output.row)) result.input = std::move(scaled);
  return result;
}

const syncyte_buffer_t* optional(const std::optional<const_buffer>& given) { return given ? given->get() : nullptr; }

std::optional<const_buffer> buffer_if_defined(const at::Tensor& array) {
  return array.defined() ? std::optional(const_buffer_of(array)) : std::nullopt;
}

void all_gather_rows(const communicator& comm, const at::Tensor& input, const extents& counts,
                     const at::Tensor& output) {
  const fact_list facts = type_of(input);
  const auto options = options_with(facts);
  check(syncyte_comm_allgatherv(comm.get(), const_buffer_of(movable(input)).get(), std::ssize(counts), counts.data(),
                                &options, buffer_of(movable(output)).get()));
}

}  // namespace

void require_dense(const at::Tensor& array) {
  TORCH_CHECK_TYPE(array.layout() == at::kStrided, "the tensor's layout is ", array.layout(),
                   "; expected a dense tensor");
  TORCH_CHECK_NOT_IMPLEMENTED(array.device().is_cpu(), "the tensor is on ", array.device(),
                              "; expected a tensor on the CPU");
}

void all_reduce(const communicator& comm, const tensors& arrays, const c10d::ReduceOp& how) {
  for (const at::Tensor& array : arrays) {
    const reduced parts = prepared(comm, "comm_allreduce", [&] { return in_place(comm, array, how); });
    fact_list facts = shape_of(array);
    facts.push_back({"ReduceOp", parts.how.number()});
    const auto options = options_with(facts);
    check(syncyte_comm_allreduce(comm.get(), optional(buffer_if_defined(parts.input)), detail::raw(parts.how.how()),
                                 &options, buffer_of(parts.output.row).get()));
    parts.how.finish(parts.output.row);
    parts.output.write_back();
  }
}

void reduce(const communicator& comm, const tensors& arrays, const c10d::ReduceOp& how, std::int64_t root) {
  const bool is_root = comm.rank() == root;
  const reduced parts = prepared(comm, "comm_reduce", [&] { return in_place(comm, only_one(arrays, "tensors"), how); });
  fact_list facts = shape_of(arrays.front());
  facts.push_back({"ReduceOp", parts.how.number()});
  const auto options = options_with(facts);
  const at::Tensor& input = is_root || parts.input.defined() ? parts.input : parts.output.row;
  const buffer output = buffer_of(parts.output.row);
  check(syncyte_comm_reduce(comm.get(), optional(buffer_if_defined(input)), detail::raw(parts.how.how()),
                            narrowed("root", root), &options, is_root ? output.get() : nullptr));
  if (!is_root) return;
  parts.how.finish(parts.output.row);
  parts.output.write_back();
}

void broadcast(const communicator& comm, const tensors& arrays, std::int64_t root) {
  for (const at::Tensor& array : arrays) {
    const target output = prepared(comm, "comm_bcast", [&] { return target::with_contents(array); });
    fact_list facts = shape_of(array);
    add_type(facts, array);
    const auto options = options_with(facts);
    check(syncyte_comm_bcast(comm.get(), narrowed("root", root), &options, buffer_of(movable(output.row)).get()));
    if (comm.rank() != root) output.write_back();
  }
}

void all_gather(const communicator& comm, const tensors& outputs, const at::Tensor& input) {
  const auto [row, room] = prepared(comm, "comm_allgatherv", [&] {
    require_one_per_rank(comm, "the list of outputs", outputs.size());
    for (const at::Tensor& each : outputs) require_type("an output", each, input.scalar_type());
    return std::pair(row_of(input), room_for("an output", outputs));
  });
  all_gather_rows(comm, row, elements_of(outputs), room);
  distribute(room, outputs);
}

void all_gather_single(const communicator& comm, const at::Tensor& output, const at::Tensor& input) {
  const auto [row, result] = prepared(comm, "comm_allgatherv", [&] {
    require_type("output", output, input.scalar_type());
    require_elements("output", output, input.numel() * comm.size());
    const target made(output);
    return std::pair(apart_from(row_of(input), made.row), made);
  });
  all_gather_rows(comm, row, equal_parts(comm, input.numel()), result.row);
  result.write_back();
}

void gather(const communicator& comm, const tensor_lists& outputs, const at::Tensor& input, std::int64_t root) {
  const bool is_root = comm.rank() == root;
  const auto [row, room] = prepared(comm, "comm_gather_along", [&] {
    if (!is_root) return std::pair(row_of(input), at::Tensor());
    TORCH_CHECK_VALUE(outputs.size() == 1, "root has ", outputs.size(), " lists of outputs; expected one");
    require_one_per_rank(comm, "the list of outputs", outputs.front().size());
    for (const at::Tensor& each : outputs.front()) {
      require_type("an output", each, input.scalar_type());
      require_elements("an output", each, input.numel());
    }
    return std::pair(row_of(input), room_for("an output", outputs.front()));
  });
  const extents counts = equal_parts(comm, input.numel());
  const fact_list facts = type_of(input);
  const auto options = options_with(facts);
  check(syncyte_comm_gather_along(comm.get(), const_buffer_of(movable(row)).get(), 0, narrowed("root", root),
                                  std::ssize(counts), counts.data(), &options,
                                  is_root ? buffer_of(movable(room)).get() : nullptr));
  if (is_root) distribute(room, outputs.front());
}

void gather_single(const communicator& comm, const at::Tensor& output, const at::Tensor& input, std::int64_t root) {
  const bool is_root = comm.rank() == root;
  const auto [row, result] = prepared(comm, "comm_gather_along", [&] {
    if (!is_root) return std::pair(row_of(input), std::optional<target>());
    require_type("output", output, input.scalar_type());
    require_elements("output", output, input.numel() * comm.size());
    const target made(output);
    return std::pair(apart_from(row_of(input), made.row), std::optional(made));
  });
  const extents counts = equal_parts(comm, input.numel());
  const fact_list facts = type_of(input);
  const auto options = options_with(facts);
  check(syncyte_comm_gather_along(comm.get(), const_buffer_of(movable(row)).get(), 0, narrowed("root", root),
                                  std::ssize(counts), counts.data(), &options,
                                  is_root ? buffer_of(movable(result->row)).get() : nullptr));
  if (is_root) result->write_back();
}

void scatter(const communicator& comm, const at::Tensor& output, const tensor_lists& inputs, std::int64_t root) {
  const bool is_root = comm.rank() == root;
  const auto [row, result] = prepared(comm, "comm_scatter_along", [&] {
    require_dense(output);
    if (!is_root) return std::pair(at::Tensor(), target(output));
    TORCH_CHECK_VALUE(inputs.size() == 1, "root has ", inputs.size(), " lists of inputs; expected one");
    require_one_per_rank(comm, "the list of inputs", inputs.front().size());
    for (const at::Tensor& each : inputs.front()) {
      require_type("an input", each, output.scalar_type());
      require_elements("an input", each, output.numel());
    }
    return std::pair(joined("an input", inputs.front()), target(output));
  });
  const extents counts = equal_parts(comm, output.numel());
  const fact_list facts = type_of(output);
  const auto options = options_with(facts);
  check(syncyte_comm_scatter_along(comm.get(), optional(buffer_if_defined(movable(row))), 0, narrowed("root", root),
                                   std::ssize(counts), counts.data(), &options, buffer_of(movable(result.row)).get()));
  result.write_back();
}

namespace {

/// Reduces rows that are cut into parts, one for each rank.
void reduce_scatter_row(const communicator& comm, const at::Tensor& row, const extents& counts, const reduction& how,
                        const target& result) {
  const fact_list facts{{"ReduceOp", how.number()}};
  const auto options = options_with(facts);
  check(syncyte_comm_reduce_scatter_along(comm.get(), const_buffer_of(row).get(), 0, detail::raw(how.how()),
                                          std::ssize(counts), counts.data(), &options, buffer_of(result.row).get()));
  how.finish(result.row);
  result.write_back();
}

}  // namespace

void reduce_scatter(const communicator& comm, const at::Tensor& output, const tensors& inputs,
                    const c10d::ReduceOp& how) {
  const auto [row, kind, result] = prepared(comm, "comm_reduce_scatter_along", [&] {
    require_one_per_rank(comm, "the list of inputs", inputs.size());
    require_type("an input", inputs.front(), output.scalar_type());
    require_elements("output", output, inputs[static_cast<std::size_t>(comm.rank())].numel());
    const reduction made(how, output.scalar_type(), comm.size());
    return std::tuple(made.contribution(joined("an input", inputs)), made, target(output));
  });
  reduce_scatter_row(comm, row, elements_of(inputs), kind, result);
}

void reduce_scatter_single(const communicator& comm, const at::Tensor& output, const at::Tensor& input,
                           const c10d::ReduceOp& how) {
  const auto [row, kind, result] = prepared(comm, "comm_reduce_scatter_along", [&] {
    require_type("input", input, output.scalar_type());
    require_elements("input", input, output.numel() * comm.size());
    const reduction made(how, output.scalar_type(), comm.size());
    const target written(output);
    return std::tuple(apart_from(made.contribution(row_of(input)), written.row), made, written);
  });
  reduce_scatter_row(comm, row, equal_parts(comm, output.numel()), kind, result);
}

namespace {

/// Elements of the rows that each rank gets, or sends.
extents row_elements(const communicator& comm, const char* argument, const at::Tensor& array,
                     const split_sizes& sizes) {
  TORCH_CHECK_VALUE(array.dim() > 0, argument, " has no dimension; expected rows");
  const std::int64_t rows = array.size(0);
  if (sizes.empty()) {
    TORCH_CHECK_VALUE(rows % comm.size() == 0, argument, " has ", rows, " rows; expected a multiple of ", comm.size(),
                      ", the number of ranks");
    return equal_parts(comm, array.numel() / comm.size());
  }
  require_one_per_rank(comm, "the list of split sizes", sizes.size());
  for (const std::int64_t size : sizes) TORCH_CHECK_VALUE(size >= 0, "a split size is ", size, "; expected 0 or more");
  TORCH_CHECK_VALUE(sum_of(sizes) == rows, "the sum of the split sizes is ", sum_of(sizes), "; expected ", rows,
                    ", the rows of ", argument);
  extents result;
  for (const std::int64_t size : sizes) result.push_back(rows == 0 ? 0 : size * (array.numel() / rows));
  return result;
}

void all_to_all_rows(const communicator& comm, const at::Tensor& input, const extents& sent, const extents& received,
                     const at::Tensor& output) {
  const fact_list facts = type_of(input);
  const auto options = options_with(facts);
  check(syncyte_comm_alltoallv(comm.get(), const_buffer_of(movable(input)).get(), std::ssize(sent), sent.data(),
                               std::ssize(received), received.data(), &options, buffer_of(movable(output)).get()));
}

}  // namespace

void all_to_all_single(const communicator& comm, const at::Tensor& output, const at::Tensor& input,
                       const split_sizes& output_sizes, const split_sizes& input_sizes) {
  const auto [row, sent, received, result] = prepared(comm, "comm_alltoallv", [&] {
    require_type("output", output, input.scalar_type());
    const target made(output);
    return std::tuple(apart_from(row_of(input), made.row), row_elements(comm, "input", input, input_sizes),
                      row_elements(comm, "output", output, output_sizes), made);
  });
  all_to_all_rows(comm, row, sent, received, result.row);
  result.write_back();
}

void all_to_all(const communicator& comm, const tensors& outputs, const tensors& inputs) {
  const auto [row, room] = prepared(comm, "comm_alltoallv", [&] {
    require_one_per_rank(comm, "the list of inputs", inputs.size());
    require_one_per_rank(comm, "the list of outputs", outputs.size());
    require_type("an output", outputs.front(), inputs.front().scalar_type());
    return std::pair(joined("an input", inputs), room_for("an output", outputs));
  });
  all_to_all_rows(comm, row, elements_of(inputs), elements_of(outputs), room);
  distribute(room, outputs);
}

}  // namespace syncyte::torch_binding::process_group::blocking
