// SPDX-License-Identifier: BSD-3-Clause
// Optimizers of whole tensors: each rank applies gradients to rows of all ranks, against the slow optimizer.

#include <gtest/gtest.h>

#include <algorithm>

#include "slow_optimizer.hpp"
#include "tensor_world.hpp"
#include "window/remote.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

/// Whether ranks update rows of other nodes, if there are any.
bool reaches(const tensor::whole_tensor& tensor) {
  const auto* const remote = tensor.held()->remote();
  return remote == nullptr || remote->can_add_rows();
}

optim::rule rule_of(syncyte_optimizer_t kind, double momentum = 0.0) {
  return {.optimizer = kind, .lr = 0.1, .momentum = momentum, .eps = 1e-8};
}

std::vector<optim::rule> rules() {
  return {rule_of(SYNCYTE_OPTIMIZER_SGD), rule_of(SYNCYTE_OPTIMIZER_SGD, 0.75), rule_of(SYNCYTE_OPTIMIZER_ADAGRAD),
          rule_of(SYNCYTE_OPTIMIZER_ADAM)};
}

/// Gradients of some rows, which repeat: those of a rank in a round.
template <class T>
struct batch {
  std::vector<std::int64_t> rows;
  std::vector<T> gradients;

  batch(int round, int of_rank, std::int64_t count, const extents& shape)
      : rows(reference::random_rows<std::int64_t>(static_cast<std::uint64_t>(round), of_rank, count, shape[0])) {
    const std::int64_t elements = count * product(shape, 1);
    for (std::int64_t i = 0; i < elements; ++i)
      gradients.push_back(
          static_cast<T>(reference::random_integer(77 + static_cast<std::uint64_t>(round), of_rank, i, -8, 8)) / 4);
  }

  void apply(tensor::whole_tensor& tensor) const {
    const syncyte_buffer_t index = index_of(rows);
    const syncyte_buffer_t packed =
        buffer_of(gradients, tensor.layout().dtype(), {static_cast<std::int64_t>(gradients.size())});
    run<tensor::apply_gradients>(tensor, &index, &packed);
  }
};

template <class T>
void expect_near(const std::vector<T>& actual, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
}

/// Ranks apply gradients in turn, so that the order of updates is known.
template <class T>
void check_in_turn(syncyte_dtype_t dtype, const optim::rule& by, const extents& shape, const reference::lengths& parts,
                   std::int64_t count) {
  const auto tensor = make_tensor(dtype, shape, parts);
  if (!reaches(*tensor)) GTEST_SKIP() << "updates need rows of this node";
  fill<T>(*tensor);
  tensor::set_optimizer(*tensor, by);
  const auto start = filled_table<T>(product(shape));
  reference::slow_optimizer expected(by.optimizer, product(shape, 1), {start.begin(), start.end()});
  expected.momentum = by.momentum;
  for (int round = 0; round < 2; ++round)
    for (int turn = 0; turn < ranks(); ++turn) {
      const batch<T> its(round, turn, count, shape);
      if (turn == rank()) its.apply(*tensor);
      expected.step(its.rows, {its.gradients.begin(), its.gradients.end()});
      tensor->sync();
    }
  expect_near(read_all<T>(*tensor), expected.values, std::is_same_v<T, double> ? 1e-12 : 1e-4);
  if (optim::state_slots(by) == 0) return barrier();
  const auto state = tensor->optimizer()->state();
  state->sync();
  const auto slots = static_cast<std::size_t>(state->describe().shape[1]);
  const auto found = read_all<T>(*state);
  const auto row = static_cast<std::size_t>(product(shape, 1));
  for (std::size_t i = 0; i < expected.first.size(); ++i)
    ASSERT_NEAR(found[i / row * slots * row + i % row], expected.first[i], 1e-3) << "state of element " << i;
  barrier();
}

TEST(tensor_optimizer, in_turn_equals_the_reference) {
  for (const auto& by : rules()) {
    for (const extents& shape : {extents{13}, {13, 2}, {13, 2, 16}})
      check_in_turn<float>(SYNCYTE_FLOAT32, by, shape, {}, 9);
    for (const auto& parts : partitions(13)) check_in_turn<double>(SYNCYTE_FLOAT64, by, {13, 5}, parts, 9);
  }
}

TEST(tensor_optimizer, many_rows) {
  for (const auto& by : rules()) check_in_turn<float>(SYNCYTE_FLOAT32, by, {20000, 40}, {}, 6000);
}

TEST(tensor_optimizer, rows_longer_than_a_message) {
  for (const auto& by : rules()) check_in_turn<double>(SYNCYTE_FLOAT64, by, {3, 70001}, {}, 3);
}

TEST(tensor_optimizer, wrapped) {
  std::vector<double> mine(static_cast<std::size_t>(5 * 4), 1.0);
  const syncyte_buffer_t local = buffer_of(mine, SYNCYTE_FLOAT64, {4, 5});
  const auto tensor = tensor::whole_tensor::wrap(shared_world(), &local, {});
  if (!reaches(*tensor)) GTEST_SKIP() << "updates need rows that can be reached";
  tensor::set_optimizer(*tensor, rule_of(SYNCYTE_OPTIMIZER_ADAGRAD));
  std::vector<std::int64_t> rows(static_cast<std::size_t>(4 * ranks()));
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<double> gradients(rows.size() * 5, 2.0);
  const syncyte_buffer_t index = index_of(rows);
  const syncyte_buffer_t packed = buffer_of(gradients, SYNCYTE_FLOAT64, {static_cast<std::int64_t>(rows.size()), 5});
  run<tensor::apply_gradients>(*tensor, &index, &packed);
  tensor->sync();
  double expected = 1.0;
  for (int turn = 1; turn <= ranks(); ++turn) expected -= 0.1 * 2.0 / std::sqrt(4.0 * turn);
  for (const double value : mine) EXPECT_NEAR(value, expected, 1e-8);
  tensor->sync();
}

/// All ranks update the same rows at once: each update is done once. All numbers are exact.
TEST(tensor_optimizer, exact_under_contention) {
  constexpr int rounds = 60;
  for (const std::int64_t row_elements : {1, 3, 64, 1000}) {
    const auto tensor = make_tensor(SYNCYTE_FLOAT32, {3, row_elements});
    if (!reaches(*tensor)) GTEST_SKIP() << "updates need rows of this node";
    optim::rule by = rule_of(SYNCYTE_OPTIMIZER_ADAGRAD);
    const std::vector<std::int32_t> rows{0, 1, 2, 1};
    const std::vector<float> ones(rows.size() * static_cast<std::size_t>(row_elements), 1.0f);
    const syncyte_buffer_t index = index_of(rows);
    const syncyte_buffer_t packed = buffer_of(ones, SYNCYTE_FLOAT32, {static_cast<std::int64_t>(ones.size())});
    tensor::set_optimizer(*tensor, by);
    for (int round = 0; round < rounds; ++round) run<tensor::apply_gradients>(*tensor, &index, &packed);
    const auto squares = tensor->optimizer()->state();
    squares->sync();
    const auto found = read_all<float>(*squares);
    const std::int64_t slots = squares->describe().shape[1];
    for (std::int64_t row = 0; row < 3; ++row)
      for (std::int64_t e = 0; e < row_elements; ++e)
        ASSERT_EQ(found[static_cast<std::size_t>(row * slots * row_elements + e)],
                  static_cast<float>((row == 1 ? 4 : 1) * rounds * ranks()));
    barrier();

    by.optimizer = SYNCYTE_OPTIMIZER_SGD;
    by.lr = 0.5;
    tensor::set_optimizer(*tensor, by);
    const auto before = read_all<float>(*tensor);
    tensor->sync();
    for (int round = 0; round < rounds; ++round) run<tensor::apply_gradients>(*tensor, &index, &packed);
    tensor->sync();
    const auto after = read_all<float>(*tensor);
    for (std::size_t i = 0; i < after.size(); ++i)
      ASSERT_NEAR(before[i] - after[i],
                  (i / static_cast<std::size_t>(row_elements) == 1 ? 1.0 : 0.5) * rounds * ranks(), 1e-2);
    barrier();
  }
}

TEST(tensor_optimizer, steps_are_those_of_all_ranks) {
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {4, 4});
  if (!reaches(*tensor)) GTEST_SKIP();
  tensor::set_optimizer(*tensor, rule_of(SYNCYTE_OPTIMIZER_ADAM));
  for (int round = 0; round < 10; ++round) batch<float>(round, rank(), 3, {4, 4}).apply(*tensor);
  tensor->sync();
  EXPECT_EQ(tensor::load(*tensor->optimizer()->steps(), 0), 10 * ranks());
  EXPECT_EQ(tensor->optimizer()->state()->describe().shape[1], 2);
  barrier();
}

TEST(tensor_optimizer, learning_rate_is_this_ranks) {
  const auto tensor = make_tensor(SYNCYTE_FLOAT64, {ranks(), 2});
  if (!reaches(*tensor)) GTEST_SKIP();
  tensor::set_optimizer(*tensor, rule_of(SYNCYTE_OPTIMIZER_SGD));
  tensor::set_learning_rate(*tensor, rank() + 1.0);
  const std::vector<std::int64_t> row{(rank() + 1) % ranks()};
  const std::vector<double> ones(2, 1.0);
  const syncyte_buffer_t index = index_of(row);
  const syncyte_buffer_t packed = buffer_of(ones, SYNCYTE_FLOAT64, {1, 2});
  run<tensor::apply_gradients>(*tensor, &index, &packed);
  tensor->sync();
  const auto found = read_all<double>(*tensor);
  for (int r = 0; r < ranks(); ++r) EXPECT_EQ(found[static_cast<std::size_t>(2 * ((r + 1) % ranks()))], -(r + 1.0));
  barrier();
}

TEST(tensor_optimizer, a_new_one_begins_with_no_state) {
  const auto tensor = make_tensor(SYNCYTE_FLOAT64, {6, 3});
  if (!reaches(*tensor)) GTEST_SKIP();
  for (int round = 0; round < 4; ++round) {
    tensor::set_optimizer(*tensor, rules()[static_cast<std::size_t>(round)]);
    batch<double>(round, rank(), 4, {6, 3}).apply(*tensor);
    const auto state = tensor->optimizer()->state();  // outlives the optimizer
    tensor->sync();
  }
  tensor::set_optimizer(*tensor, rule_of(SYNCYTE_OPTIMIZER_ADAM));
  tensor->sync();
  for (const double number : read_all<double>(*tensor->optimizer()->state())) EXPECT_EQ(number, 0.0);
  EXPECT_EQ(tensor::load(*tensor->optimizer()->steps(), 0), 0);
  barrier();
}

TEST(tensor_optimizer, wrong_arguments) {
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {4, 2});
  const std::vector<std::int64_t> rows{0, 4};
  const std::vector<float> ones(4, 1.0f);
  const syncyte_buffer_t index = index_of(rows), packed = buffer_of(ones, SYNCYTE_FLOAT32, {2, 2});
  expect_error(outcome_of([&] { run<tensor::apply_gradients>(*tensor, &index, &packed); }), SYNCYTE_ERR_UNSUPPORTED,
               "no optimizer");
  expect_error(outcome_of([&] { tensor::set_learning_rate(*tensor, 1.0); }), SYNCYTE_ERR_UNSUPPORTED, "no optimizer");
  expect_error(outcome_of([&] { tensor->optimizer()->state(); }), SYNCYTE_ERR_UNSUPPORTED, "no optimizer");
  optim::rule wrong = rule_of(SYNCYTE_OPTIMIZER_ADAM);
  if (rank() == ranks() - 1) wrong.beta1 = 1.0;  // on one rank; all get the error
  expect_error(outcome_of([&] { tensor::set_optimizer(*tensor, wrong); }), SYNCYTE_ERR_ARGUMENT, "beta1");
  tensor::set_optimizer(*tensor, rule_of(SYNCYTE_OPTIMIZER_SGD));
  expect_error(outcome_of([&] { tensor::set_learning_rate(*tensor, -1.0); }), SYNCYTE_ERR_ARGUMENT, "lr");
  expect_error(outcome_of([&] { run<tensor::apply_gradients>(*tensor, &index, &packed); }), SYNCYTE_ERR_INDEX,
               "position 1");
  const syncyte_buffer_t few = buffer_of(ones, SYNCYTE_FLOAT32, {1, 2});
  expect_error(outcome_of([&] { run<tensor::apply_gradients>(*tensor, &index, &few); }), SYNCYTE_ERR_SHAPE,
               "gradients");
  tensor->sync();
  EXPECT_EQ(read_all<float>(*tensor), std::vector<float>(8, 0.0f));
  const auto numbers = make_tensor(SYNCYTE_INT64, {4, 2});
  expect_error(outcome_of([&] { tensor::set_optimizer(*numbers, rule_of(SYNCYTE_OPTIMIZER_SGD)); }), SYNCYTE_ERR_TYPE,
               "int64");
  barrier();
}

TEST(tensor_optimizer, ranks_must_agree) {
  if (ranks() == 1) GTEST_SKIP();
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {4, 2});
  const auto kind = rank() == 0 ? SYNCYTE_OPTIMIZER_ADAM : SYNCYTE_OPTIMIZER_SGD;
  expect_error(outcome_of([&] { tensor::set_optimizer(*tensor, rule_of(kind)); }), SYNCYTE_ERR_MISMATCH, "optimizer");
  barrier();
}

TEST(tensor_optimizer, elsewhere_is_unsupported_without_fabric) {
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {ranks(), 8});
  tensor::set_optimizer(*tensor, rule_of(SYNCYTE_OPTIMIZER_SGD));
  if (reaches(*tensor)) GTEST_SKIP();
  std::vector<std::int64_t> rows(static_cast<std::size_t>(ranks()));
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<float> ones(rows.size() * 8, 1.0f);
  const syncyte_buffer_t packed = buffer_of(ones, SYNCYTE_FLOAT32, {ranks(), 8}), index = index_of(rows);
  expect_error(outcome_of([&] { run<tensor::apply_gradients>(*tensor, &index, &packed); }), SYNCYTE_ERR_UNSUPPORTED,
               "expected a row that this process");
  tensor->sync();
  EXPECT_EQ(read_all<float>(*tensor), std::vector<float>(rows.size() * 8, 0.0f));
  barrier();
}

}  // namespace
