// SPDX-License-Identifier: BSD-3-Clause
// Gather, scatter and scatter-add of whole tensors, against the reference implementation.

#include <gtest/gtest.h>

#include "base/buffer.hpp"
#include "base/ops.hpp"
#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

template <class T, class Index>
void check_gather(syncyte_dtype_t dtype, const extents& shape, const reference::lengths& parts) {
  const auto tensor = make_tensor(dtype, shape, parts);
  fill<T>(*tensor);
  const std::int64_t row = product(shape, 1);
  const auto rows = reference::random_rows<Index>(5, rank(), 200, shape[0]);
  std::vector<T> output(rows.size() * static_cast<std::size_t>(row));
  const syncyte_buffer_t index = index_of(rows);
  const syncyte_buffer_t packed = buffer_of(output, dtype, {static_cast<std::int64_t>(output.size())});
  run<tensor::gather>(*tensor, &index, &packed);
  EXPECT_TRUE(same_bytes(output, reference::gather_rows(filled_table<T>(product(shape)), row, rows)))
      << base::dtype_name(dtype) << " " << base::shape_text(shape);
  barrier();
}

TEST(tensor_gather, every_dtype) {
  for (const auto dtype : all_dtypes)
    base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) {
      check_gather<T, std::int64_t>(dtype, {31, 3}, {});
      check_gather<T, std::int32_t>(dtype, {31}, {});
    });
}

TEST(tensor_gather, every_partition_and_shape) {
  for (const extents& shape : {extents{37}, {37, 5}, {37, 2, 3, 4}, {1, 70}, {2, 1000}})
    for (const auto& parts : partitions(shape[0])) {
      check_gather<float, std::int32_t>(SYNCYTE_FLOAT32, shape, parts);
      check_gather<double, std::int64_t>(SYNCYTE_FLOAT64, shape, parts);
    }
}

TEST(tensor_gather, index_of_any_shape) {
  const auto tensor = make_tensor(SYNCYTE_INT32, {20, 2});
  fill<std::int32_t>(*tensor);
  const std::vector<std::int32_t> rows{1, 19, 0, 7, 7, 3};
  const syncyte_buffer_t index = buffer_of(rows, SYNCYTE_INT32, {2, 3});
  std::vector<std::int32_t> output(12);
  const syncyte_buffer_t packed = buffer_of(output, SYNCYTE_INT32, {2, 3, 2});
  run<tensor::gather>(*tensor, &index, &packed);
  EXPECT_EQ(output, reference::gather_rows(filled_table<std::int32_t>(40), 2, rows));
  const syncyte_buffer_t one = buffer_of(rows, SYNCYTE_INT32, {});  // a single index
  const syncyte_buffer_t row = buffer_of(output, SYNCYTE_INT32, {2});
  run<tensor::gather>(*tensor, &one, &row);
  EXPECT_EQ(output[0], filled<std::int32_t>(2));
  barrier();
}

TEST(tensor_gather, nothing_of_empty_tensors) {
  for (const extents& shape : {extents{0}, {0, 4}, {5, 0}}) {
    const auto tensor = make_tensor(SYNCYTE_FLOAT32, shape);
    const std::vector<std::int64_t> rows = shape[0] == 0 ? extents{} : extents{4, 0, 4};
    const syncyte_buffer_t index = index_of(rows);
    const syncyte_buffer_t nothing = base::make_buffer(nullptr, SYNCYTE_FLOAT32, extents{0});
    run<tensor::gather>(*tensor, &index, &nothing);
    run<tensor::scatter>(*tensor, &index, &nothing);
    run<tensor::scatter_add>(*tensor, &index, &nothing);
    tensor->flush();
    tensor->sync();
  }
}

TEST(tensor_scatter, each_rank_writes_rows_of_its_own_anywhere) {
  for (const auto dtype : all_dtypes)
    base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) {
      for (const auto& parts : partitions(40)) {
        const auto tensor = make_tensor(dtype, {40, 3}, parts);
        // Rank r writes rows r, r + ranks, ... twice; the last value must stay.
        std::vector<std::int64_t> rows;
        std::vector<T> source;
        for (int round = 0; round < 2; ++round)
          for (std::int64_t row = rank(); row < 40; row += ranks()) {
            rows.push_back(row);
            for (std::int64_t e = 0; e < 3; ++e) source.push_back(round == 0 ? number<T>(3) : filled<T>(3 * row + e));
          }
        const syncyte_buffer_t index = index_of(rows);
        const syncyte_buffer_t packed = buffer_of(source, dtype, {static_cast<std::int64_t>(rows.size()), 3});
        run<tensor::scatter>(*tensor, &index, &packed);
        tensor->sync();
        EXPECT_TRUE(same_bytes(read_all<T>(*tensor), filled_table<T>(120))) << base::dtype_name(dtype);
        barrier();
      }
    });
}

TEST(tensor_scatter, a_later_call_wins) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {ranks(), 2});
  const std::vector<std::int64_t> row{(rank() + 1) % ranks()};  // the neighbour's
  const syncyte_buffer_t index = index_of(row);
  for (std::int64_t value = 1; value <= 50; ++value) {
    const std::vector<std::int64_t> source{value, -value};
    const syncyte_buffer_t packed = buffer_of(source, SYNCYTE_INT64, {1, 2});
    run<tensor::scatter>(*tensor, &index, &packed);
  }
  tensor->flush();
  tensor->sync();
  const syncyte_buffer_t mine = tensor->local();
  EXPECT_EQ(static_cast<const std::int64_t*>(mine.data)[0], 50);
  EXPECT_EQ(static_cast<const std::int64_t*>(mine.data)[1], -50);
  barrier();
}

/// All ranks add ones to the same few rows, which belong to different ranks: no add is lost.
template <class T>
void check_exact_adds(syncyte_dtype_t dtype, std::int64_t row_elements) {
  constexpr int rounds = 100;
  const std::int64_t rows = 3;
  const auto tensor = make_tensor(dtype, {rows, row_elements});
  const std::vector<std::int32_t> targets{0, 1, 2, 1};
  const std::vector<T> ones(targets.size() * static_cast<std::size_t>(row_elements), number<T>(1));
  const syncyte_buffer_t index = index_of(targets);
  const syncyte_buffer_t packed = buffer_of(ones, dtype, {static_cast<std::int64_t>(ones.size())});
  barrier();
  for (int round = 0; round < rounds; ++round) run<tensor::scatter_add>(*tensor, &index, &packed);
  tensor->sync();
  const auto all = read_all<T>(*tensor);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t e = 0; e < row_elements; ++e)
      EXPECT_EQ(all[static_cast<std::size_t>(row * row_elements + e)],
                static_cast<T>((row == 1 ? 2 : 1) * rounds * ranks()))
          << base::dtype_name(dtype) << " row " << row;
  barrier();
}

TEST(tensor_scatter_add, exact_under_contention) {
  if (!on_one_node() && !has_fabric()) GTEST_SKIP() << "MPI RMA cannot add";
  for (const std::int64_t row_elements : {1, 2, 3, 4, 64, 1000}) {
    check_exact_adds<float>(SYNCYTE_FLOAT32, row_elements);
    check_exact_adds<double>(SYNCYTE_FLOAT64, row_elements);
    check_exact_adds<std::int32_t>(SYNCYTE_INT32, row_elements);
    check_exact_adds<std::int64_t>(SYNCYTE_INT64, row_elements);
    check_exact_adds<std::int16_t>(SYNCYTE_INT16, row_elements);
    check_exact_adds<std::complex<float>>(SYNCYTE_COMPLEX64, row_elements);
    check_exact_adds<std::complex<double>>(SYNCYTE_COMPLEX128, row_elements);
  }
}

TEST(tensor_scatter_add, every_dtype_equals_the_reference) {
  if (!on_one_node() && !has_fabric()) GTEST_SKIP() << "MPI RMA cannot add";
  for (const auto dtype : all_dtypes)
    base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) {
      for (const std::int64_t row : {1, 5, 20}) {
        const auto tensor = make_tensor(dtype, {13, row});
        fill<T>(*tensor);
        auto expected = filled_table<T>(13 * row);
        for (int r = 0; r < ranks(); ++r) {  // what all ranks add; small whole numbers, so the order does not matter
          const auto rows = reference::random_rows<std::int64_t>(6, r, 30, 13);
          std::vector<T> source;
          for (std::int64_t i = 0; i < 30 * row; ++i) source.push_back(number<T>((i + r) % 2));
          for (std::size_t i = 0; i < source.size(); ++i) {
            T& place = expected[static_cast<std::size_t>(rows[i / static_cast<std::size_t>(row)] * row) +
                                i % static_cast<std::size_t>(row)];
            place = base::combine<T, SYNCYTE_OP_SUM>(place, source[i]);
          }
          if (r != rank()) continue;
          const syncyte_buffer_t index = index_of(rows);
          const syncyte_buffer_t packed = buffer_of(source, dtype, {30, row});
          run<tensor::scatter_add>(*tensor, &index, &packed);
        }
        tensor->sync();
        EXPECT_TRUE(same_bytes(read_all<T>(*tensor), expected)) << base::dtype_name(dtype) << " rows of " << row;
        barrier();
      }
    });
}

TEST(tensor_scatter_add, elsewhere_is_unsupported_and_adds_nothing) {
  if (on_one_node() || has_fabric()) GTEST_SKIP() << "all rows are on this node, or the fabric adds";
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {2 * ranks(), 8});
  std::int64_t first = 0, count = 0;
  tensor->rows(rank(), first, count);
  std::int64_t elsewhere = 0;
  for (int r = 0; r < ranks(); ++r)
    if (!world().node().is_here(r)) tensor->rows(r, elsewhere, count);
  const std::vector<std::int64_t> rows{first, elsewhere};
  const std::vector<float> ones(16, 1.0f);
  const syncyte_buffer_t packed = buffer_of(ones, SYNCYTE_FLOAT32, {2, 8});
  const syncyte_buffer_t index = index_of(rows);
  expect_error(outcome_of([&] { run<tensor::scatter_add>(*tensor, &index, &packed); }), SYNCYTE_ERR_UNSUPPORTED,
               fmt::format("index[1] is {}; expected a row that this process", elsewhere));
  tensor->sync();
  EXPECT_EQ(read_all<float>(*tensor), std::vector<float>(static_cast<std::size_t>(16 * ranks()), 0.0f));
  barrier();  // all ranks have read before any rank adds
  const std::vector<std::int64_t> own{first, first};
  const syncyte_buffer_t own_index = index_of(own);
  run<tensor::scatter_add>(*tensor, &own_index, &packed);
  EXPECT_EQ(static_cast<const float*>(tensor->local().data)[7], 2.0f);
  tensor->sync();
}

/// Rows that travel in several parts, the last of them shorter.
TEST(tensor_scatter_add, long_rows) {
  if (!on_one_node() && !has_fabric()) GTEST_SKIP() << "MPI RMA cannot add";
  constexpr std::int64_t row = 200'001;
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {ranks(), row});
  std::vector<std::int64_t> rows(static_cast<std::size_t>(ranks()));
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<float> source;
  for (std::int64_t i = 0; i < ranks() * row; ++i) source.push_back(static_cast<float>(i % 1000));
  const syncyte_buffer_t index = index_of(rows);
  const syncyte_buffer_t packed = buffer_of(source, SYNCYTE_FLOAT32, {ranks(), row});
  run<tensor::scatter_add>(*tensor, &index, &packed);
  tensor->sync();
  const std::vector<float> sums = read_all<float>(*tensor);
  for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], source[i] * static_cast<float>(ranks())) << i;
  barrier();
}

// ---- errors of wrong arguments

class row_errors : public testing::Test {
 protected:
  void SetUp() override {
    tensor_ = make_tensor(SYNCYTE_FLOAT32, {10, 2});
    fill<float>(*tensor_);
  }
  void TearDown() override { barrier(); }

  outcome gather(const std::vector<std::int64_t>& rows, const syncyte_buffer_t& output) {
    const syncyte_buffer_t index = index_of(rows);
    return outcome_of([&] { run<tensor::gather>(*tensor_, &index, &output); });
  }

  tensor_pointer tensor_;
  std::vector<float> values_ = std::vector<float>(8, -1.0f);
  syncyte_buffer_t good_ = buffer_of(values_, SYNCYTE_FLOAT32, {4, 2});
};

TEST_F(row_errors, out_of_range_names_index_and_position_and_writes_nothing) {
  const auto before = read_all<float>(*tensor_);
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{10}, std::int64_t{1} << 62}) {
    const auto text = fmt::format("index {} at position 3 is out of range; expected 0 to 9", bad);
    const std::vector<std::int64_t> rows{0, 1, 2, bad};
    const syncyte_buffer_t index = index_of(rows);
    expect_error(gather(rows, good_), SYNCYTE_ERR_INDEX, text);
    expect_error(outcome_of([&] { run<tensor::scatter>(*tensor_, &index, &good_); }), SYNCYTE_ERR_INDEX, text);
    expect_error(outcome_of([&] { run<tensor::scatter_add>(*tensor_, &index, &good_); }), SYNCYTE_ERR_INDEX, text);
  }
  EXPECT_EQ(values_, std::vector<float>(8, -1.0f));
  EXPECT_EQ(read_all<float>(*tensor_), before);
}

TEST_F(row_errors, wrong_buffers) {
  const std::vector<std::int64_t> rows{0, 1, 2, 3};
  syncyte_buffer_t wrong = buffer_of(values_, SYNCYTE_INT32, {4, 2});
  expect_error(gather(rows, wrong), SYNCYTE_ERR_TYPE, "output: dtype is int32; expected float32");
  wrong = buffer_of(values_, SYNCYTE_FLOAT32, {3, 2});
  expect_error(gather(rows, wrong), SYNCYTE_ERR_SHAPE, "has 6 elements; expected 8");
  wrong = good_;
  wrong.strides[0] = 12;
  expect_error(gather(rows, wrong), SYNCYTE_ERR_SHAPE, "is not contiguous");
  wrong = good_;
  wrong.data = nullptr;
  expect_error(gather(rows, wrong), SYNCYTE_ERR_ARGUMENT, "data is null");
  wrong = good_;
  wrong.struct_size = 8;
  expect_error(gather(rows, wrong), SYNCYTE_ERR_ARGUMENT, "struct_size is 8");
  wrong = good_;
  wrong.memory = SYNCYTE_MEMORY_CUDA;
  expect_error(gather(rows, wrong), SYNCYTE_ERR_UNSUPPORTED, "device memory");
  EXPECT_EQ(values_, std::vector<float>(8, -1.0f));
}

TEST_F(row_errors, wrong_indices) {
  const std::vector<float> floats(4);
  syncyte_buffer_t index = buffer_of(floats, SYNCYTE_FLOAT32, {4});
  expect_error(outcome_of([&] { run<tensor::gather>(*tensor_, &index, &good_); }), SYNCYTE_ERR_TYPE,
               "expected int32 or int64");
  const std::vector<std::int64_t> rows(8);
  index = buffer_of(rows, SYNCYTE_INT64, {4});
  index.strides[0] = 16;
  expect_error(outcome_of([&] { run<tensor::gather>(*tensor_, &index, &good_); }), SYNCYTE_ERR_SHAPE, "index: ");
  index = buffer_of(rows, SYNCYTE_INT64, {4});
  index.data = static_cast<std::byte*>(index.data) + 4;
  expect_error(outcome_of([&] { run<tensor::gather>(*tensor_, &index, &good_); }), SYNCYTE_ERR_SHAPE,
               "expected a multiple of 8");
  expect_error(outcome_of([&] { run<tensor::gather>(*tensor_, nullptr, &good_); }), SYNCYTE_ERR_ARGUMENT,
               "index is null");
  expect_error(outcome_of([&] { run<tensor::gather>(*tensor_, &index, nullptr); }), SYNCYTE_ERR_SHAPE, "index: ");
}

}  // namespace
