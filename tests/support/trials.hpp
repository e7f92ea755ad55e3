// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Trials: a non-blocking collective in flight, with a check against the blocking collective of the same name.

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "comm/split.hpp"
#include "core_world.hpp"
#include "strided_array.hpp"

namespace syncyte::test {

using collectives::started_t;
using group = std::shared_ptr<comm::communicator>;

inline constexpr strides all_strides[] = {strides::dense, strides::gaps, strides::transposed};

template <class T>
syncyte_buffer_t buffer_of(std::vector<T>& values, syncyte_dtype_t dtype) {
  const std::int64_t shape[] = {static_cast<std::int64_t>(values.size())};
  return base::make_buffer(values.data(), dtype, shape);
}

inline group unchecked_world() {
  comm::communicator_options options;
  options.check = 0;
  return comm::duplicate(*shared_world(), options);
}

/// Communicator of the blocking reference: on a trial's communicator it would post the operations in flight.
inline comm::communicator& reference_world() {
  static const group the_world = comm::duplicate(*shared_world(), {});
  return *the_world;
}

/// Lengths of the ranks' parts; some are 0.
inline extents uneven_lengths() {
  extents result;
  for (int rank = 0; rank < world().size(); ++rank) result.push_back((rank + 2) % 4);
  return result;
}

inline std::int64_t sum(const extents& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

inline std::int32_t value(int seed, const extents& at) {
  std::int64_t result = seed + 1;
  for (const auto index : at) result = 13 * result + index;
  return static_cast<std::int32_t>(result % 10007);
}

/// An operation in flight, and its check.
struct trial {
  started_t started;
  std::function<void()> expect;
};

/// Arrays of one operation: its input, its output, and the output that the blocking operation has made.
struct array_pair {
  strided_array in;
  strided_array out;
  strided_array wanted;

  array_pair(const extents& from, const extents& to, strides how, int seed)
      : in(from, how), out(to, how), wanted(to, how) {
    in.fill([&](const extents& at) { return value(seed + 100 * world().rank(), at); });
  }

  void expect() {
    std::vector<std::int32_t> values;
    wanted.for_each([&](std::int32_t& element, const extents&) { values.push_back(element); });
    std::size_t next = 0;
    out.expect([&](const extents&) { return values[next++]; });
  }
};

inline trial start_allreduce(const group& comm, int seed) {
  auto in = std::make_shared<std::vector<double>>(static_cast<std::size_t>(seed % 7 * 1000));
  for (std::size_t i = 0; i < in->size(); ++i) (*in)[i] = seed + static_cast<double>(i) + world().rank();
  auto out = std::make_shared<std::vector<double>>(in->size());
  auto wanted = std::make_shared<std::vector<double>>(in->size());
  const auto input = buffer_of(*in, SYNCYTE_FLOAT64);
  const auto output = buffer_of(*out, SYNCYTE_FLOAT64);
  const auto reference = buffer_of(*wanted, SYNCYTE_FLOAT64);
  collectives::run<collectives::allreduce>(reference_world(), "comm_allreduce", {}, &input, SYNCYTE_OP_SUM, &reference);
  return {collectives::start<collectives::allreduce>(comm, "comm_iallreduce", {}, &input, SYNCYTE_OP_SUM, &output),
          [=] { EXPECT_EQ(*out, *wanted) << in->size(); }};
}

inline trial start_bcast(const group& comm, int seed) {
  const int root = seed % world().size();
  auto values = std::make_shared<std::vector<std::int64_t>>(static_cast<std::size_t>(seed % 5 * 300), -1);
  if (world().rank() == root) std::fill(values->begin(), values->end(), seed);
  const auto buffer = buffer_of(*values, SYNCYTE_INT64);
  return {collectives::start<collectives::bcast>(comm, "comm_ibcast", {}, root, &buffer),
          [=] { EXPECT_TRUE(std::all_of(values->begin(), values->end(), [=](auto each) { return each == seed; })); }};
}

inline trial start_allgather(const group& comm, int seed) {
  const auto lengths = std::make_shared<extents>(uneven_lengths());
  const int axis = seed % 3;
  extents part{2, 3, 4};
  extents whole = part;
  part[static_cast<std::size_t>(axis)] = (*lengths)[static_cast<std::size_t>(world().rank())];
  whole[static_cast<std::size_t>(axis)] = sum(*lengths);
  auto arrays = std::make_shared<array_pair>(part, whole, all_strides[seed % 2 + seed / 3 % 2], seed);
  const auto input = arrays->in.buffer();
  const auto output = arrays->out.buffer();
  const auto reference = arrays->wanted.buffer();
  collectives::run<collectives::allgather_along>(reference_world(), "comm_allgather_along", {}, &input, axis, *lengths,
                                                 &reference);
  auto started = collectives::start<collectives::allgather_along>(comm, "comm_iallgather_along", {}, &input, axis - 3,
                                                                  *lengths, &output);
  std::fill(lengths->begin(), lengths->end(), -1);  // read during the start only
  return {started, [=] { arrays->expect(); }};
}

inline trial start_reduce_scatter(const group& comm, int seed) {
  const extents lengths = uneven_lengths();
  const int axis = seed % 2;
  extents part{3, 2};
  extents whole = part;
  part[static_cast<std::size_t>(axis)] = lengths[static_cast<std::size_t>(world().rank())];
  whole[static_cast<std::size_t>(axis)] = sum(lengths);
  auto arrays = std::make_shared<array_pair>(whole, part, all_strides[seed % 3], seed);
  const auto input = arrays->in.buffer();
  const auto output = arrays->out.buffer();
  const auto reference = arrays->wanted.buffer();
  const syncyte_op_t op = seed % 2 == 0 ? SYNCYTE_OP_SUM : SYNCYTE_OP_MAX;
  collectives::run<collectives::reduce_scatter_along>(reference_world(), "comm_reduce_scatter_along", {}, &input, axis,
                                                      op, lengths, &reference);
  return {collectives::start<collectives::reduce_scatter_along>(comm, "comm_ireduce_scatter_along", {}, &input, axis,
                                                                op, lengths, &output),
          [=] { arrays->expect(); }};
}

inline trial start_alltoall(const group& comm, int seed) {
  const extents gathered = uneven_lengths();
  extents scattered = gathered;
  std::reverse(scattered.begin(), scattered.end());
  const auto rank = static_cast<std::size_t>(world().rank());
  const bool is_repartition = seed % 3 == 0;
  extents from{gathered[rank], 2, sum(scattered)};
  extents to{sum(gathered), 2, scattered[rank]};
  if (is_repartition) {
    from[2] = to[2] = 3;
    to[0] = scattered[rank];
  }
  auto arrays = std::make_shared<array_pair>(from, to, all_strides[seed % 3], seed);
  const auto input = arrays->in.buffer();
  const auto output = arrays->out.buffer();
  const auto reference = arrays->wanted.buffer();
  const int scatter_axis = is_repartition ? 0 : 2;
  collectives::run<collectives::alltoall_along>(reference_world(), "comm_alltoall_along", {}, &input, 0, scatter_axis,
                                                gathered, scattered, &reference);
  return {collectives::start<collectives::alltoall_along>(comm, "comm_ialltoall_along", {}, &input, 0, scatter_axis,
                                                          gathered, scattered, &output),
          [=] { arrays->expect(); }};
}

inline trial start_any(const group& comm, int kind, int seed) {
  switch (kind) {
    case 0:
      return start_bcast(comm, seed);
    case 1:
      return start_allreduce(comm, seed);
    case 2:
      return start_allgather(comm, seed);
    case 3:
      return start_reduce_scatter(comm, seed);
    default:
      return start_alltoall(comm, seed);
  }
}

}  // namespace syncyte::test
