// SPDX-License-Identifier: BSD-3-Clause
// Accumulates of boxes, and owners of boxes, against loops over all elements.

#include <gtest/gtest.h>

#include "base/ops.hpp"
#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

bool can_add() { return on_one_node() || has_fabric(); }

struct box_case {
  extents lower, size;
};

/// Calls visit(place in the box, place in the tensor) for the elements of a box, both in row-major order.
template <class Visit>
void for_each_element(const extents& shape, const box_case& box, Visit&& visit) {
  for (std::int64_t i = 0; i < product(box.size); ++i) {
    std::int64_t rest = i, global = 0, stride = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      global += (box.lower[d] + rest % box.size[d]) * stride;
      rest /= box.size[d];
      stride *= shape[d];
    }
    visit(static_cast<std::size_t>(i), static_cast<std::size_t>(global));
  }
}

/// All ranks combine the same box with values of their own; the result does not depend on their order.
template <class T, syncyte_op_t op>
void check_box(syncyte_dtype_t dtype, const extents& shape, const box_case& box, const reference::lengths& parts) {
  const auto tensor = make_tensor(dtype, shape, parts);
  fill<T>(*tensor);
  auto expected = filled_table<T>(product(shape));
  for (int r = 0; r < ranks(); ++r) {
    std::vector<T> source;
    for (std::int64_t i = 0; i < product(box.size); ++i) source.push_back(number<T>((i + r) % 3));
    for_each_element(shape, box, [&](std::size_t place, std::size_t global) {
      expected[global] = base::combine<T, op>(expected[global], source[place]);
    });
    if (r != rank()) continue;
    const syncyte_buffer_t values = buffer_of(source, dtype, box.size);
    run<tensor::accumulate_box>(*tensor, box.lower, &values, nullptr, op);
  }
  tensor->sync();
  EXPECT_TRUE(same_bytes(read_all<T>(*tensor), expected))
      << base::dtype_name(dtype) << " " << base::op_name(op) << " " << base::shape_text(shape);
  barrier();
}

const std::vector<std::pair<extents, box_case>> shapes{{{29}, {{3}, {20}}},
                                                       {{9, 3}, {{1, 1}, {7, 2}}},
                                                       {{11, 6, 5}, {{1, 2, 3}, {9, 3, 2}}},
                                                       {{11, 6, 5}, {{0, 0, 0}, {11, 6, 5}}}};

TEST(tensor_accumulate, every_dtype_and_op_equals_the_loop) {
  if (!can_add()) GTEST_SKIP() << "MPI RMA cannot add";
  for (const auto dtype : all_dtypes)
    base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) {
      for (const auto& [shape, box] : shapes) {
        check_box<T, SYNCYTE_OP_SUM>(dtype, shape, box, {});
        if constexpr (!base::is_complex_number<T>) {
          check_box<T, SYNCYTE_OP_MIN>(dtype, shape, box, {});
          check_box<T, SYNCYTE_OP_MAX>(dtype, shape, box, {});
          check_box<T, SYNCYTE_OP_PROD>(dtype, shape, box, {});
        }
        if constexpr (std::integral<T> || base::is_bool<T>) check_box<T, SYNCYTE_OP_BXOR>(dtype, shape, box, {});
      }
    });
}

TEST(tensor_accumulate, every_partition) {
  if (!can_add()) GTEST_SKIP() << "MPI RMA cannot add";
  for (const auto& [shape, box] : shapes)
    for (const auto& parts : partitions(shape[0])) check_box<float, SYNCYTE_OP_SUM>(SYNCYTE_FLOAT32, shape, box, parts);
}

TEST(tensor_accumulate, strides_and_alpha) {
  if (!can_add()) GTEST_SKIP() << "MPI RMA cannot add";
  const auto tensor = make_tensor(SYNCYTE_FLOAT64, {6, 4});
  std::vector<double> values(24);
  std::iota(values.begin(), values.end(), 1.0);
  syncyte_buffer_t source = buffer_of(values, SYNCYTE_FLOAT64, {6, 2});
  source.strides[0] = 8;  // the transpose of every second row of a 4 x 6 array
  source.strides[1] = 2 * 6 * 8;
  const double alpha = -2;
  run<tensor::accumulate_box>(*tensor, extents{0, 1}, &source, &alpha, SYNCYTE_OP_SUM);
  tensor->sync();
  const auto all = read_all<double>(*tensor);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(all[4 * i], 0.0);
    EXPECT_EQ(all[4 * i + 1], -2.0 * ranks() * values[i]);
    EXPECT_EQ(all[4 * i + 2], -2.0 * ranks() * values[12 + i]);
  }
  barrier();
}

/// Boxes and rows are added to at once, in rows with and without locks.
template <class T>
void check_with_scatter_add(syncyte_dtype_t dtype, std::int64_t row_elements) {
  constexpr int rounds = 60;
  const auto tensor = make_tensor(dtype, {3, row_elements});
  const std::vector<std::int32_t> rows{0, 1, 2};
  const std::vector<T> ones(static_cast<std::size_t>(3 * row_elements), number<T>(1));
  const syncyte_buffer_t index = index_of(rows);
  const syncyte_buffer_t whole = buffer_of(ones, dtype, {3, row_elements});
  const syncyte_buffer_t last = buffer_of(ones, dtype, {3, 1});
  barrier();
  for (int round = 0; round < rounds; ++round) {
    if (rank() % 2 == 0) run<tensor::scatter_add>(*tensor, &index, &whole);
    run<tensor::accumulate_box>(*tensor, extents{0, row_elements - 1}, &last, nullptr, SYNCYTE_OP_SUM);
  }
  tensor->sync();
  const auto all = read_all<T>(*tensor);
  const std::int64_t adding = (ranks() + 1) / 2;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_last = static_cast<std::int64_t>(i) % row_elements == row_elements - 1;
    EXPECT_EQ(all[i], static_cast<T>(static_cast<float>((adding + (is_last ? ranks() : 0)) * rounds))) << i;
  }
  barrier();
}

TEST(tensor_accumulate, atomic_with_scatter_add) {
  if (!can_add()) GTEST_SKIP() << "MPI RMA cannot add";
  for (const std::int64_t row_elements : {1, 2, 3, 64}) {
    check_with_scatter_add<float>(SYNCYTE_FLOAT32, row_elements);
    check_with_scatter_add<std::int16_t>(SYNCYTE_INT16, row_elements);
    check_with_scatter_add<std::complex<float>>(SYNCYTE_COMPLEX64, row_elements);
    check_with_scatter_add<std::complex<double>>(SYNCYTE_COMPLEX128, row_elements);
  }
}

/// A box whose pieces travel in several requests.
TEST(tensor_accumulate, long_pieces) {
  if (!can_add()) GTEST_SKIP() << "MPI RMA cannot add";
  constexpr std::int64_t row = 200'001;
  const auto tensor = make_tensor(SYNCYTE_INT32, {2 * ranks(), row});
  const std::vector<std::int32_t> ones(static_cast<std::size_t>(2 * ranks() * (row - 2)), 1);
  const syncyte_buffer_t source = buffer_of(ones, SYNCYTE_INT32, {2 * ranks(), row - 2});
  run<tensor::accumulate_box>(*tensor, extents{0, 1}, &source, nullptr, SYNCYTE_OP_SUM);
  tensor->sync();
  const auto all = read_all<std::int32_t>(*tensor);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t column = static_cast<std::int64_t>(i) % row;
    ASSERT_EQ(all[i], column == 0 || column == row - 1 ? 0 : ranks()) << i;
  }
  barrier();
}

TEST(tensor_accumulate, wrong_arguments_change_nothing) {
  const auto numbers = make_tensor(SYNCYTE_FLOAT32, {4, 2});
  const auto complex = make_tensor(SYNCYTE_COMPLEX64, {4, 2});
  const std::vector<std::complex<float>> ones(8, 1.0f);
  const syncyte_buffer_t source =
      base::make_buffer(const_cast<std::complex<float>*>(ones.data()), SYNCYTE_FLOAT32, extents{2, 2});
  const syncyte_buffer_t complexes = buffer_of(ones, SYNCYTE_COMPLEX64, {2, 2});
  const auto attempt = [&](const extents& lower, const syncyte_buffer_t& values, syncyte_op_t op) {
    return outcome_of([&] { run<tensor::accumulate_box>(*numbers, lower, &values, nullptr, op); });
  };
  expect_error(attempt({3, 0}, source, SYNCYTE_OP_SUM), SYNCYTE_ERR_INDEX, "lower[0] is 3; expected a box of extent 2");
  expect_error(attempt({0}, source, SYNCYTE_OP_SUM), SYNCYTE_ERR_SHAPE, "lower has 1 entries");
  expect_error(attempt({0, 0}, complexes, SYNCYTE_OP_SUM), SYNCYTE_ERR_TYPE, "dtype is complex64");
  expect_error(attempt({0, 0}, source, 12), SYNCYTE_ERR_ARGUMENT, "op is 12");
  expect_error(attempt({0, 0}, source, SYNCYTE_OP_REPLACE), SYNCYTE_ERR_ARGUMENT, "put_box() replaces");
  expect_error(attempt({0, 0}, source, SYNCYTE_OP_BXOR), SYNCYTE_ERR_UNSUPPORTED, "float32");
  for (const syncyte_op_t op : {SYNCYTE_OP_MAX, SYNCYTE_OP_PROD})
    expect_error(outcome_of([&] { run<tensor::accumulate_box>(*complex, extents{0, 0}, &complexes, nullptr, op); }),
                 SYNCYTE_ERR_UNSUPPORTED, "complex64");
  EXPECT_EQ(read_all<float>(*numbers), std::vector<float>(8, 0.0f));
  barrier();
}

TEST(tensor_accumulate, elsewhere_is_unsupported_and_adds_nothing) {
  if (can_add()) GTEST_SKIP() << "all rows are on this node, or the fabric adds";
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {2 * ranks(), 8});
  const std::vector<float> ones(static_cast<std::size_t>(16 * ranks()), 1.0f);
  const syncyte_buffer_t all = buffer_of(ones, SYNCYTE_FLOAT32, {2 * ranks(), 8});
  expect_error(outcome_of([&] { run<tensor::accumulate_box>(*tensor, extents{0, 0}, &all, nullptr, SYNCYTE_OP_SUM); }),
               SYNCYTE_ERR_UNSUPPORTED, "row of the box is");
  tensor->sync();
  EXPECT_EQ(read_all<float>(*tensor), std::vector<float>(static_cast<std::size_t>(16 * ranks()), 0.0f));
  barrier();  // all ranks have read before any rank adds
  std::int64_t first = 0, count = 0;
  tensor->rows(rank(), first, count);
  const syncyte_buffer_t own = buffer_of(ones, SYNCYTE_FLOAT32, {count, 8});
  run<tensor::accumulate_box>(*tensor, extents{first, 0}, &own, nullptr, SYNCYTE_OP_SUM);
  EXPECT_EQ(static_cast<const float*>(tensor->local().data)[7], 1.0f);
  tensor->sync();
}

// ---- owners of boxes

struct located {
  std::vector<std::int32_t> ranks;
  extents first, rows;
};

located locate(const tensor::whole_tensor& tensor, const extents& lower, const extents& extent) {
  const auto count = static_cast<std::size_t>(tensor.locate_box(lower, extent, 0, nullptr, nullptr, nullptr));
  located found{std::vector<std::int32_t>(count), extents(count), extents(count)};
  EXPECT_EQ(tensor.locate_box(lower, extent, static_cast<std::int64_t>(count), found.ranks.data(), found.first.data(),
                              found.rows.data()),
            static_cast<std::int64_t>(count));
  return found;
}

TEST(tensor_locate, equals_the_owners_of_rows) {
  for (const auto& parts : partitions(23)) {
    const auto tensor = make_tensor(SYNCYTE_INT8, {23, 3}, parts);
    for (const auto& [lower, rows] : std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 23}, {4, 11}, {22, 1}}) {
      const located found = locate(*tensor, {lower, 1}, {rows, 2});
      std::int64_t next = lower;
      for (std::size_t i = 0; i < found.ranks.size(); ++i) {
        EXPECT_EQ(found.first[i], next);
        EXPECT_GT(found.rows[i], 0);
        if (i > 0) {
          EXPECT_GT(found.ranks[i], found.ranks[i - 1]);
        }
        std::int64_t first = 0, count = 0;
        tensor->rows(found.ranks[i], first, count);
        EXPECT_GE(next, first);
        next += found.rows[i];
        EXPECT_LE(next, first + count);
      }
      EXPECT_EQ(next, lower + rows);
    }
    EXPECT_TRUE(locate(*tensor, {3, 0}, {5, 0}).ranks.empty());
    EXPECT_TRUE(locate(*tensor, {23, 0}, {0, 3}).ranks.empty());
  }
}

TEST(tensor_locate, counts_more_than_the_capacity) {
  const auto tensor = make_tensor(SYNCYTE_INT8, {2 * ranks()});
  std::int64_t first[] = {-1, -1};
  EXPECT_EQ(tensor->locate_box(extents{0}, extents{2 * ranks()}, 1, nullptr, first, nullptr), ranks());
  EXPECT_EQ(first[0], 0);
  EXPECT_EQ(first[1], -1);
}

TEST(tensor_locate, wrong_arguments) {
  const auto tensor = make_tensor(SYNCYTE_INT8, {10, 3});
  const auto attempt = [&](const extents& lower, const extents& extent, std::int64_t capacity = 0) {
    return outcome_of([&] { tensor->locate_box(lower, extent, capacity, nullptr, nullptr, nullptr); });
  };
  expect_error(attempt({0, 1}, {1, 3}), SYNCYTE_ERR_INDEX, "lower[1] is 1; expected a box of extent 3");
  expect_error(attempt({0}, {1, 1}), SYNCYTE_ERR_SHAPE, "lower has 1 entries");
  expect_error(attempt({0, 0}, {1}), SYNCYTE_ERR_SHAPE, "extent has 1 entries");
  expect_error(attempt({0, 0}, {-1, 1}), SYNCYTE_ERR_SHAPE, "extent[0] is -1");
  expect_error(attempt({0, 0}, {1, 1}, -1), SYNCYTE_ERR_ARGUMENT, "capacity is -1");
}

}  // namespace
