// SPDX-License-Identifier: BSD-3-Clause
// Tensors over arrays that the ranks have allocated themselves.

#include <gtest/gtest.h>

#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

/// Rank r wraps an array of r rows (rank 0 of none, if there are others), filled like the rows of a whole tensor.
class tensor_wrapped : public testing::Test {
 protected:
  void SetUp() override {
    for (int r = 0; r < ranks(); ++r) parts_.push_back(ranks() == 1 ? 4 : r);
    first_ = reference::first_row(parts_, rank());
    count_ = parts_[static_cast<std::size_t>(rank())];
    total_ = reference::first_row(parts_, ranks());
    for (std::int64_t i = 0; i < 5 * count_; ++i) mine_.push_back(filled<double>(5 * first_ + i));
    const syncyte_buffer_t local = buffer_of(mine_, SYNCYTE_FLOAT64, {count_, 5});
    tensor_ = tensor::whole_tensor::wrap(shared_world(), &local, {});
  }
  void TearDown() override {
    tensor_->sync();
    tensor_.reset();
    comm::collective_call(world(), "test_collect", comm::collective_call::always_agrees).agree();
  }

  reference::lengths parts_;
  std::int64_t first_ = 0, count_ = 0, total_ = 0;
  std::vector<double> mine_;
  tensor_pointer tensor_;
};

TEST_F(tensor_wrapped, is_the_ranks_rows_in_order) {
  EXPECT_EQ(tensor_->describe().shape[0], total_);
  EXPECT_EQ(tensor_->local().data, mine_.empty() ? tensor_->local().data : mine_.data());
  EXPECT_EQ(read_all<double>(*tensor_), filled_table<double>(5 * total_));
}

TEST_F(tensor_wrapped, scatters_to_all_ranks) {
  if (total_ == 0) GTEST_SKIP();
  std::vector<std::int64_t> rows;
  std::vector<double> source;
  for (std::int64_t row = rank(); row < total_; row += ranks()) {
    rows.push_back(row);
    for (int e = 0; e < 5; ++e) source.push_back(static_cast<double>(100 * row + e));
  }
  const syncyte_buffer_t index = index_of(rows);
  const syncyte_buffer_t packed = buffer_of(source, SYNCYTE_FLOAT64, {static_cast<std::int64_t>(rows.size()), 5});
  tensor_->sync();
  run<tensor::scatter>(*tensor_, &index, &packed);
  tensor_->sync();
  for (std::int64_t i = 0; i < 5 * count_; ++i)
    EXPECT_EQ(mine_[static_cast<std::size_t>(i)], static_cast<double>(100 * (first_ + i / 5) + i % 5));
}

TEST_F(tensor_wrapped, adds_to_own_rows_and_by_the_fabric_to_others) {
  const std::vector<double> ones(5, 1.0);
  const syncyte_buffer_t packed = buffer_of(ones, SYNCYTE_FLOAT64, {1, 5});
  for (int r = 0; r < ranks(); ++r) {
    if (parts_[static_cast<std::size_t>(r)] == 0) continue;
    const std::vector<std::int64_t> row{reference::first_row(parts_, r)};
    const syncyte_buffer_t index = index_of(row);
    const auto result = outcome_of([&] { run<tensor::scatter_add>(*tensor_, &index, &packed); });
    if (r == rank() || has_fabric())
      EXPECT_EQ(result.status, SYNCYTE_SUCCESS) << result.message;
    else
      expect_error(result, SYNCYTE_ERR_UNSUPPORTED, "wrapped memory is not shared");
  }
  tensor_->sync();
  const double added = has_fabric() ? ranks() : 1.0;
  EXPECT_TRUE(count_ == 0 || mine_[0] == filled<double>(5 * first_) + added);
}

TEST_F(tensor_wrapped, has_a_node_view_only_on_one_rank) {
  std::int64_t first_row = -5;
  syncyte_buffer_t view;
  const auto result = outcome_of([&] {
    tensor_->node(view, first_row);
    EXPECT_EQ(view.shape[0], total_);
  });
  if (ranks() == 1) {
    EXPECT_EQ(result.status, SYNCYTE_SUCCESS);
    EXPECT_EQ(first_row, 0);
  } else {
    expect_error(result, SYNCYTE_ERR_UNSUPPORTED, "do not share");
  }
}

TEST(wrapped_counters, work_from_every_rank) {
  std::vector<std::int64_t> mine(2, 0);
  const syncyte_buffer_t local = buffer_of(mine, SYNCYTE_INT64, {2});
  const auto tensor = tensor::whole_tensor::wrap(shared_world(), &local, {});
  for (std::int64_t element = 0; element < 2 * ranks(); ++element) fetch_add(*tensor, element, rank() + 1);
  tensor->sync();
  const std::int64_t expected = ranks() * (ranks() + 1) / 2;
  EXPECT_EQ(mine, std::vector<std::int64_t>(2, expected));
  tensor->sync();
}

TEST(wrap_released, says_when_the_array_is_no_longer_used) {
  std::vector<float> mine(6);
  std::int64_t released = 7;
  const syncyte_buffer_t local = buffer_of(mine, SYNCYTE_FLOAT32, {2, 3});
  tensor::tensor_options options;
  options.released = &released;
  auto tensor = tensor::whole_tensor::wrap(shared_world(), &local, options);
  EXPECT_EQ(released, 0);
  tensor->sync();
  EXPECT_EQ(released, 0);
  tensor.reset();
  EXPECT_EQ(released, 0) << "other ranks may still read it";
  comm::collective_call(*shared_world(), "collect", comm::collective_call::always_agrees).agree();
  EXPECT_EQ(released, 1);
  const std::int64_t extent = 1;
  expect_error(outcome_of([&] { tensor::whole_tensor::create(shared_world(), SYNCYTE_INT8, 1, &extent, options); }),
               SYNCYTE_ERR_ARGUMENT, "options->released is not null");
}

TEST(wrap_errors, are_every_ranks) {
  std::vector<float> values(12);
  const bool is_odd = rank() == ranks() - 1;
  syncyte_buffer_t local = buffer_of(values, SYNCYTE_FLOAT32, {2, 3});
  const auto attempt = [&](const syncyte_buffer_t* buffer, const tensor::tensor_options& options = {}) {
    return outcome_of([&] { tensor::whole_tensor::wrap(shared_world(), buffer, options); });
  };
  expect_error(attempt(is_odd ? nullptr : &local), SYNCYTE_ERR_ARGUMENT, "local is null");
  if (is_odd) local.strides[0] = 24;
  expect_error(attempt(&local), SYNCYTE_ERR_SHAPE, "not contiguous");
  local = buffer_of(values, SYNCYTE_FLOAT32, {});
  expect_error(attempt(&local), SYNCYTE_ERR_SHAPE, "local is of no dimension");
  local = buffer_of(values, SYNCYTE_FLOAT32, {2, 3});
  tensor::tensor_options options;
  options.local_rows = is_odd ? 2 : -1;
  expect_error(attempt(&local, options), SYNCYTE_ERR_ARGUMENT, "options->local_rows is 2");
  if (ranks() == 1) return;
  local = buffer_of(values, is_odd ? SYNCYTE_INT32 : SYNCYTE_FLOAT32, {2, 3});
  expect_error(attempt(&local), SYNCYTE_ERR_MISMATCH, "dtype is");
  local = buffer_of(values, SYNCYTE_FLOAT32, {2, 3});
  tensor::tensor_options named;
  named.name = is_odd ? "source" : "temperature";
  expect_error(attempt(&local, named), SYNCYTE_ERR_MISMATCH, "is \"temperature\" on rank");
  local = buffer_of(values, SYNCYTE_FLOAT32, {2, is_odd ? 4 : 3});
  expect_error(attempt(&local), SYNCYTE_ERR_MISMATCH, "shape[1] is");
}

}  // namespace
