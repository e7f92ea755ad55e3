// SPDX-License-Identifier: BSD-3-Clause
// Deterministic adds: the same bits for every order of the adds, and for every distribution of them among ranks.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

tensor_pointer make_deterministic(syncyte_dtype_t dtype, const extents& shape, const reference::lengths& parts = {}) {
  tensor::tensor_options options;
  options.deterministic = true;
  if (!parts.empty()) options.local_rows = parts[static_cast<std::size_t>(rank())];
  return tensor::whole_tensor::create(shared_world(), dtype, static_cast<std::int32_t>(shape.size()), shape.data(),
                                      options);
}

constexpr std::int64_t rows = 7, width = 5, adds = 200;

/// Terms of very different magnitudes, the same on all ranks.
template <class T>
std::vector<T> make_terms() {
  std::mt19937_64 random(3);
  std::vector<T> terms;
  for (std::int64_t i = 0; i < adds * width; ++i) {
    const int exponent = static_cast<int>(random() % 20) - 10;
    terms.push_back(static_cast<T>(std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())), exponent - 31)));
  }
  return terms;
}

/// Adds the terms: rank (i + shift) % ranks adds term i, in an order of its own.
template <class T>
std::vector<T> add_terms(syncyte_dtype_t dtype, const reference::lengths& parts, std::int64_t shift) {
  const auto tensor = make_deterministic(dtype, {rows, width}, parts);
  std::vector<T> terms = make_terms<T>();
  std::vector<std::int64_t> order(static_cast<std::size_t>(adds));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(static_cast<std::uint64_t>(17 * shift + rank())));
  for (const std::int64_t i : order) {
    if ((i + shift) % ranks() != rank()) continue;
    const std::vector<std::int64_t> row{i * i % rows};
    const syncyte_buffer_t index = index_of(row);
    const syncyte_buffer_t source = base::make_buffer(&terms[static_cast<std::size_t>(i * width)], dtype, {{1, width}});
    if (i % 4 == 3)
      run<tensor::accumulate_box>(*tensor, extents{row[0], 0}, &source, nullptr, SYNCYTE_OP_SUM);
    else
      run<tensor::scatter_add>(*tensor, &index, &source);
  }
  EXPECT_EQ(read_all<T>(*tensor), std::vector<T>(static_cast<std::size_t>(rows * width))) << "nothing changes yet";
  tensor->sync();
  auto result = read_all<T>(*tensor);
  tensor->sync();  // adds nothing more
  EXPECT_TRUE(same_bytes(read_all<T>(*tensor), result));
  barrier();
  return result;
}

template <class T>
void check_terms(syncyte_dtype_t dtype) {
  const auto first = add_terms<T>(dtype, {}, 0);
  for (const auto& parts : partitions(rows))
    for (const std::int64_t shift : {1, 2}) EXPECT_TRUE(same_bytes(add_terms<T>(dtype, parts, shift), first));
}

TEST(tensor_deterministic, any_order_and_any_ranks) {
  check_terms<float>(SYNCYTE_FLOAT32);
  check_terms<double>(SYNCYTE_FLOAT64);
  check_terms<std::complex<float>>(SYNCYTE_COMPLEX64);
}

TEST(tensor_deterministic, sums_are_exact_and_start_from_the_row) {
  const auto tensor = make_deterministic(SYNCYTE_FLOAT64, {2 * ranks(), 1});
  const syncyte_buffer_t mine = tensor->local();
  static_cast<double*>(mine.data)[0] = 1e300;
  tensor->sync();
  std::int64_t first = 0, count = 0;
  for (int r = 0; r < ranks(); ++r) {
    tensor->rows(r, first, count);
    const std::vector<std::int64_t> row(2, first);
    const std::vector<double> terms{1, rank() == r ? -1e300 : 0};
    const syncyte_buffer_t index = index_of(row);
    const syncyte_buffer_t source = buffer_of(terms, SYNCYTE_FLOAT64, {2, 1});
    run<tensor::scatter_add>(*tensor, &index, &source);
  }
  tensor->sync();
  EXPECT_EQ(static_cast<double*>(mine.data)[0], ranks());
  EXPECT_EQ(static_cast<double*>(mine.data)[1], 0);
  barrier();
}

/// Records that are longer than what an owner reads at once.
TEST(tensor_deterministic, long_rows) {
  constexpr std::int64_t row = 100'000;
  const auto tensor = make_deterministic(SYNCYTE_FLOAT32, {3, row});
  const std::vector<std::int64_t> index{0, 2, 2};
  std::vector<float> source(static_cast<std::size_t>(3 * row));
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<float>(i % 1000);
  const syncyte_buffer_t where = index_of(index);
  const syncyte_buffer_t packed = buffer_of(source, SYNCYTE_FLOAT32, {3, row});
  run<tensor::scatter_add>(*tensor, &where, &packed);
  tensor->sync();
  const auto all = read_all<float>(*tensor);
  for (std::size_t i = 0; i < static_cast<std::size_t>(row); ++i) {
    ASSERT_EQ(all[i], static_cast<float>(ranks()) * source[i]);
    ASSERT_EQ(all[i + row], 0);
    ASSERT_EQ(all[i + 2 * row], static_cast<float>(ranks()) * (source[i + row] + source[i + 2 * row]));
  }
  barrier();
}

TEST(tensor_deterministic, integers_are_added_at_once) {
  if (!on_one_node() && !has_fabric()) GTEST_SKIP() << "MPI RMA cannot add";
  const auto tensor = make_deterministic(SYNCYTE_INT64, {ranks()});
  const std::vector<std::int64_t> row{rank()}, three{3};
  const syncyte_buffer_t index = index_of(row);
  const syncyte_buffer_t source = buffer_of(three, SYNCYTE_INT64, {1});
  run<tensor::scatter_add>(*tensor, &index, &source);
  EXPECT_EQ(static_cast<std::int64_t*>(tensor->local().data)[0], 3);
  tensor->sync();
}

/// Adds 1 to every row.
void add_ones(tensor::whole_tensor& to) {
  const auto index = all_rows(to.layout().rows());
  const std::vector<double> ones(index.size(), 1);
  const syncyte_buffer_t where = index_of(index), packed = buffer_of(ones, SYNCYTE_FLOAT64, {std::ssize(ones), 1});
  run<tensor::scatter_add>(to, &where, &packed);
}

/// Each thread adds to the rows of all ranks while another one calls sync().
TEST(tensor_deterministic, adds_during_sync_wait_for_the_next_one) {
  constexpr int rounds = 30, adds_each = 200;
  const auto tensor = make_deterministic(SYNCYTE_FLOAT64, {3 * ranks(), 1});
  std::jthread other([&] {
    for (int i = 0; i < adds_each; ++i) add_ones(*tensor);
  });
  for (int i = 0; i < rounds; ++i) {
    add_ones(*tensor);
    tensor->sync();
  }
  other.join();
  tensor->sync();
  const std::vector<double> expected(static_cast<std::size_t>(3 * ranks()), ranks() * (rounds + adds_each));
  EXPECT_EQ(read_all<double>(*tensor), expected);
  barrier();
}

TEST(tensor_deterministic, a_sync_of_different_tensors_loses_no_add) {
  if (ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const auto one = make_deterministic(SYNCYTE_FLOAT64, {ranks(), 1});
  const auto two = make_deterministic(SYNCYTE_FLOAT64, {ranks(), 1});
  add_ones(*one);
  add_ones(*two);
  expect_error(outcome_of([&] { (rank() == 0 ? one : two)->sync(); }), SYNCYTE_ERR_MISMATCH, "creation number");
  const std::vector<double> zeros(static_cast<std::size_t>(ranks())), expected(zeros.size(), 2 * ranks());
  EXPECT_EQ(read_all<double>(*one), zeros);
  barrier();
  for (const auto& each : {one, two}) {
    add_ones(*each);
    each->sync();
    EXPECT_EQ(read_all<double>(*each), expected);
  }
  barrier();
}

TEST(tensor_deterministic, all_ranks_must_agree_on_it) {
  if (ranks() == 1) GTEST_SKIP();
  tensor::tensor_options options;
  options.deterministic = rank() == 0;
  const std::int64_t extent = 4;
  expect_error(outcome_of([&] { tensor::whole_tensor::create(shared_world(), SYNCYTE_FLOAT32, 1, &extent, options); }),
               SYNCYTE_ERR_MISMATCH, "deterministic");
}

}  // namespace
