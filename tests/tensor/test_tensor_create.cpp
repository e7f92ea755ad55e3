// SPDX-License-Identifier: BSD-3-Clause
// Creation, description and views of tensors, and errors of wrong arguments.

#include <gtest/gtest.h>

#include <limits>

#include "base/buffer.hpp"
#include "comm/agreement.hpp"
#include "comm/split.hpp"
#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

TEST(tensor_create, zeros_of_every_dtype) {
  for (const auto dtype : all_dtypes) {
    const auto tensor = make_tensor(dtype, {7, 3});
    const syncyte_buffer_t view = tensor->local();
    const auto bytes = base::buffer(&view, "view").bytes();
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(static_cast<const unsigned char*>(view.data)[i], 0);
    EXPECT_EQ(view.dtype, dtype);
  }
}

TEST(tensor_create, describes_shape_and_rows) {
  for (const extents& shape :
       {extents{10}, {10, 4}, {3, 2, 5}, {1, 1, 1, 1, 1, 1, 1, 2}, {0}, {0, 5}, {4, 0}, {4, 0, 3}})
    for (const auto& parts : partitions(shape[0])) {
      const auto tensor = make_tensor(SYNCYTE_FLOAT32, shape, parts);
      const syncyte_buffer_t global = tensor->describe();
      EXPECT_EQ(extents(global.shape, global.shape + global.ndim), shape);
      EXPECT_EQ(global.data, nullptr);
      const auto expected = parts.empty() ? reference::equal_lengths(shape[0], ranks()) : parts;
      for (int r = 0; r < ranks(); ++r) {
        std::int64_t first = -1, count = -1;
        tensor->rows(r, first, count);
        EXPECT_EQ(first, reference::first_row(expected, r));
        EXPECT_EQ(count, expected[static_cast<std::size_t>(r)]);
      }
      const syncyte_buffer_t local = tensor->local();
      EXPECT_EQ(local.shape[0], expected[static_cast<std::size_t>(rank())]);
      for (std::int64_t row = 0; row < shape[0]; ++row) {
        std::int32_t owner = -1;
        tensor->owner({&row, 1}, &owner);
        EXPECT_EQ(owner, reference::owner(expected, row));
      }
      tensor->sync();
    }
}

TEST(tensor_create, owner_names_index_and_position) {
  const auto tensor = make_tensor(SYNCYTE_INT8, {10});
  const std::int64_t rows[] = {3, 9, 10};
  std::int32_t owners[] = {-1, -1, -1};
  expect_error(outcome_of([&] { tensor->owner({rows, 3}, owners); }), SYNCYTE_ERR_INDEX, "index 10 at position 2");
  EXPECT_EQ(owners[0], -1);
  expect_error(outcome_of([&] { tensor->owner({rows, -1}, owners); }), SYNCYTE_ERR_ARGUMENT, "count is -1");
  std::int64_t first, count;
  expect_error(outcome_of([&] { tensor->rows(ranks(), first, count); }), SYNCYTE_ERR_ARGUMENT, "rank is");
}

TEST(tensor_views, the_nodes_rows_in_one_range) {
  for (const auto& parts : partitions(23)) {
    const auto tensor = make_tensor(SYNCYTE_INT64, {23, 2}, parts);
    fill<std::int64_t>(*tensor);
    std::int64_t first_row = -7;
    syncyte_buffer_t view;
    tensor->node(view, first_row);
    std::int64_t row = 0;
    for (const int member : world().node().members) {
      std::int64_t first = 0, count = 0;
      tensor->rows(member, first, count);
      EXPECT_TRUE(first_row < 0 || first == first_row + row);
      for (std::int64_t i = 0; i < 2 * count; ++i)
        ASSERT_EQ(static_cast<const std::int64_t*>(view.data)[2 * row + i], filled<std::int64_t>(2 * first + i));
      row += count;
    }
    EXPECT_EQ(view.shape[0], row);
    EXPECT_EQ(first_row >= 0, world().node().is_consecutive());
    barrier();
  }
}

/// Even ranks first, then odd ones: with two ranks on each of two hosts, the ranks of the nodes are 0, 2 and 1, 3.
TEST(tensor_views, of_ranks_that_are_not_consecutive) {
  const auto mixed = comm::split(world(), 0, rank() % 2 * ranks() + rank(), {});
  const extents shape{17, 2};
  const auto tensor = tensor::whole_tensor::create(mixed, SYNCYTE_INT32, 2, shape.data(), {});
  const syncyte_buffer_t mine = tensor->local();
  for (std::int64_t i = 0; i < 2 * mine.shape[0]; ++i) static_cast<std::int32_t*>(mine.data)[i] = mixed->rank();
  tensor->sync();
  std::int64_t first_row = 0, row = 0;
  syncyte_buffer_t view;
  tensor->node(view, first_row);
  EXPECT_EQ(first_row == -1, !mixed->node().is_consecutive());
  for (const int member : mixed->node().members) {
    std::int64_t first = 0, count = 0;
    tensor->rows(member, first, count);
    for (std::int64_t i = 0; i < count; ++i, ++row)
      EXPECT_EQ(static_cast<const std::int32_t*>(view.data)[2 * row], member);
  }
  const auto all = read_all<std::int32_t>(*tensor);
  for (std::int64_t i = 0; i < 17; ++i) {
    std::int32_t owner = -1;
    tensor->owner({&i, 1}, &owner);
    EXPECT_EQ(all[static_cast<std::size_t>(2 * i)], owner);
  }
  tensor->sync();
}

// ---- errors of wrong arguments, on all ranks

tensor_pointer create_raw(syncyte_dtype_t dtype, std::int32_t ndim, const std::int64_t* shape,
                          const tensor::tensor_options& options = {}) {
  return tensor::whole_tensor::create(shared_world(), dtype, ndim, shape, options);
}

TEST(tensor_errors, wrong_shapes_and_types) {
  const std::int64_t shape[] = {4, 4, 4, 4, 4, 4, 4, 4, 4};
  const std::int64_t negative[] = {4, -1};
  const std::int64_t huge[] = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  const std::int64_t huge_row[] = {0, std::int64_t{1} << 40, std::int64_t{1} << 40};
  const auto attempt = [&](auto... arguments) { return outcome_of([&] { create_raw(arguments...); }); };
  expect_error(attempt(99, 1, shape), SYNCYTE_ERR_TYPE, "99");
  expect_error(attempt(SYNCYTE_INT8, 0, shape), SYNCYTE_ERR_SHAPE, "ndim is 0");
  expect_error(attempt(SYNCYTE_INT8, 9, shape), SYNCYTE_ERR_SHAPE, "ndim is 9");
  expect_error(attempt(SYNCYTE_INT8, 2, negative), SYNCYTE_ERR_SHAPE, "extent -1 of dimension 1 is negative");
  expect_error(attempt(SYNCYTE_INT8, 2, huge), SYNCYTE_ERR_SHAPE, "more than 2^63 - 1 bytes");
  expect_error(attempt(SYNCYTE_INT8, 3, huge_row), SYNCYTE_ERR_SHAPE, "more than 2^63 - 1 bytes");
  expect_error(attempt(SYNCYTE_INT8, 1, nullptr), SYNCYTE_ERR_ARGUMENT, "shape is null");
  barrier();  // the communicator still works
}

TEST(tensor_errors, one_bad_rank_is_every_ranks_error) {
  for (int bad = 0; bad < ranks(); ++bad) {
    const std::int64_t shape[] = {rank() == bad ? -3 : 8};
    expect_error(outcome_of([&] { create_raw(SYNCYTE_FLOAT64, 1, shape); }), SYNCYTE_ERR_SHAPE,
                 fmt::format("failed on rank {}", bad));
    tensor::tensor_options options;
    options.memory = rank() == bad ? 7 : SYNCYTE_MEMORY_HOST;
    const std::int64_t good[] = {8};
    expect_error(outcome_of([&] { create_raw(SYNCYTE_FLOAT64, 1, good, options); }), SYNCYTE_ERR_ARGUMENT,
                 "options->memory is 7");
  }
}

TEST(tensor_errors, tensors_made_in_another_order_are_not_each_others) {
  if (ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const bool is_odd = rank() == ranks() - 1;
  const std::int64_t shape[] = {4, 3};
  const auto attempt = [&](const std::string& usual, const std::string& odd) {
    tensor::tensor_options options;
    options.name = is_odd ? odd : usual;
    return outcome_of([&] { create_raw(SYNCYTE_FLOAT64, 2, shape, options); });
  };
  expect_error(attempt("temperature", "source"), SYNCYTE_ERR_MISMATCH, "is \"temperature\" on rank");
  expect_error(attempt("source", "temperature"), SYNCYTE_ERR_MISMATCH,
               fmt::format("but \"temperature\" on rank {}", ranks() - 1));
  expect_error(attempt("temperature", ""), SYNCYTE_ERR_MISMATCH, fmt::format("but none on rank {}", ranks() - 1));
  tensor::tensor_options labelled;
  labelled.label = fmt::format("of rank {}", rank());
  labelled.row_locks = true;  // a tensor of its own, named after the label
  auto tensor = tensor::whole_tensor::create(shared_world(), SYNCYTE_FLOAT64, 2, shape, labelled);
  EXPECT_EQ(tensor->layout().text(), fmt::format("tensor \"of rank {}\" (float64, [4, 3])", rank()));
  tensor::set_optimizer(
      *tensor,
      {.optimizer = SYNCYTE_OPTIMIZER_ADAM, .lr = 0.1, .momentum = 0, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8});
}

TEST(tensor_errors, ranks_that_disagree) {
  if (ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const bool is_odd = rank() == ranks() - 1;
  const std::int64_t shape[] = {8, is_odd ? 3 : 2, 5};
  const auto attempt = [&](syncyte_dtype_t dtype, std::int32_t ndim, std::int64_t local_rows) {
    tensor::tensor_options options;
    options.local_rows = local_rows;
    options.name = "pressure";
    return outcome_of([&] { create_raw(dtype, ndim, shape, options); });
  };
  expect_error(attempt(is_odd ? SYNCYTE_INT8 : SYNCYTE_INT16, 1, -1), SYNCYTE_ERR_MISMATCH, "dtype is");
  expect_error(attempt(SYNCYTE_INT8, is_odd ? 1 : 2, -1), SYNCYTE_ERR_MISMATCH, "ndim is");
  expect_error(attempt(SYNCYTE_INT8, 3, -1), SYNCYTE_ERR_MISMATCH, "shape[1] is");
  expect_error(attempt(SYNCYTE_INT8, 1, is_odd ? 8 : -1), SYNCYTE_ERR_MISMATCH, "equal parts");
  expect_error(attempt(SYNCYTE_INT8, 3, -1), SYNCYTE_ERR_MISMATCH, "(on this rank: tensor \"pressure\")");
  expect_error(attempt(SYNCYTE_INT8, 1, is_odd ? -2 : 1), SYNCYTE_ERR_ARGUMENT, "(on this rank: tensor \"pressure\")");
  expect_error(attempt(SYNCYTE_INT8, 1, 9), SYNCYTE_ERR_ARGUMENT, "(on this rank: tensor \"pressure\")");  // the sum
}

TEST(tensor_errors, parts_that_do_not_add_up) {
  const std::int64_t shape[] = {100, 2};
  tensor::tensor_options options;
  options.local_rows = 1;
  expect_error(outcome_of([&] { create_raw(SYNCYTE_INT8, 2, shape, options); }), SYNCYTE_ERR_ARGUMENT,
               "sum of local_rows is");
  EXPECT_THROW(create_raw(SYNCYTE_INT8, 2, shape, options), syncyte::comm::agreed_error) << "it is one error of all";
  options.local_rows = rank() == 0 ? -2 : 1;
  expect_error(outcome_of([&] { create_raw(SYNCYTE_INT8, 2, shape, options); }), SYNCYTE_ERR_ARGUMENT,
               "local_rows is -2");
  options.local_rows = std::numeric_limits<std::int64_t>::max();
  expect_error(outcome_of([&] { create_raw(SYNCYTE_INT8, 2, shape, options); }), SYNCYTE_ERR_ARGUMENT, "local_rows is");
}

TEST(tensor_errors, more_memory_than_there_is_is_refused) {
  const std::int64_t shape[] = {std::int64_t{1} << 45};  // 32 TiB
  expect_error(outcome_of([&] { create_raw(SYNCYTE_INT8, 1, shape); }), SYNCYTE_ERR_MEMORY,
               "tensor (int8, [35184372088832])");
  // Only one rank asks for too much memory: all ranks get the error.
  const auto parts = reference::lengths_on_one(shape[0], ranks(), ranks() - 1);
  expect_error(outcome_of([&] { make_tensor(SYNCYTE_INT8, {shape[0]}, parts); }), SYNCYTE_ERR_MEMORY, "32");
}

}  // namespace
