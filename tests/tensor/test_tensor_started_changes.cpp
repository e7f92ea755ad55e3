// SPDX-License-Identifier: BSD-3-Clause
// Started changes of counters, signals after rows, and started updates by an optimizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>

#include "tensor_world.hpp"
#include "window/remote.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

using started_pointer = started_access;

/// Whether ranks update rows of other nodes, if there are any.
bool reaches(const tensor::whole_tensor& tensor) {
  const auto* const remote = tensor.held()->remote();
  return remote == nullptr || remote->can_add_rows();
}

/// All ranks add to a counter of each rank; each old value is seen once.
void check_old_values(syncyte_dtype_t dtype) {
  constexpr int adds = 40;
  const auto tensor = make_tensor(dtype, {ranks(), 3});
  const auto seen = make_tensor(SYNCYTE_INT64, {ranks(), adds * ranks()});
  std::deque<std::vector<std::int64_t>> previous;
  std::deque<started_pointer> started;
  for (int owner = 0; owner < ranks(); ++owner) {
    previous.emplace_back(adds, -1);
    for (auto& old : previous.back()) started.push_back(start<tensor::fetch_add>(tensor, 3 * owner + 2, 1, &old));
  }
  for (auto each = started.rbegin(); each != started.rend(); ++each) (*each)->wait();
  for (int owner = 0; owner < ranks(); ++owner)
    for (const std::int64_t old : previous[static_cast<std::size_t>(owner)]) {
      ASSERT_TRUE(old >= 0 && old < adds * ranks()) << old;
      fetch_add(*seen, owner * adds * ranks() + old, 1);
    }
  seen->sync();
  EXPECT_EQ(read_all<std::int64_t>(*seen),
            std::vector<std::int64_t>(static_cast<std::size_t>(ranks() * adds * ranks()), 1));
  for (int owner = 0; owner < ranks(); ++owner) EXPECT_EQ(tensor::load(*tensor, 3 * owner + 2), adds * ranks());
  barrier();
}

TEST(started_fetch_add, sees_each_old_value_once) {
  check_old_values(SYNCYTE_INT64);
  check_old_values(SYNCYTE_INT32);
}

TEST(started_fetch_add, widens_old_values) {
  const std::int64_t large = std::int64_t{1} << 40;
  const auto narrow = make_tensor(SYNCYTE_INT32, {ranks()}), wide = make_tensor(SYNCYTE_INT64, {ranks()});
  const int other = (rank() + 1) % ranks();
  tensor::store(*narrow, other, -7);
  tensor::store(*wide, other, -large);
  std::int64_t old[2] = {1, 1};
  start<tensor::fetch_add>(narrow, other, -1, &old[0])->wait();
  const auto started = start<tensor::fetch_add>(wide, other, large + 3, &old[1]);
  while (!started->test()) std::this_thread::yield();
  EXPECT_TRUE(started->test());  // again after the end
  EXPECT_EQ(old[0], -7);
  EXPECT_EQ(old[1], -large);
  start<tensor::fetch_add>(narrow, other, 10, nullptr)->wait();
  EXPECT_EQ(tensor::load(*narrow, other), 2);
  EXPECT_EQ(tensor::load(*wide, other), 3);
  barrier();
}

TEST(started_fetch_add, ends_without_calls) {
  auto tensor = make_tensor(SYNCYTE_INT32, {ranks()});
  std::int64_t old = -1;
  auto started = start<tensor::fetch_add>(tensor, rank(), 4, &old);
  tensor::wait(*tensor, rank(), SYNCYTE_COMPARE_GE, 4, -1);
  auto elsewhere = start<tensor::fetch_add>(tensor, (rank() + 1) % ranks(), 5, nullptr);
  tensor::wait(*tensor, rank(), SYNCYTE_COMPARE_EQ, 9, -1);  // by the rank before, which calls nothing for its request
  barrier();
  tensor.reset();  // requests keep it
  started->wait();
  elsewhere->wait();
  EXPECT_TRUE(old == 0 || old == 5);
  barrier();
}

TEST(started_fetch_add, given_up_stores_nothing) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {ranks()});
  const auto elsewhere = (rank() + 1) % ranks();
  const bool is_mapped = tensor->held()->mapped_rows().find(elsewhere) != nullptr;
  for (int i = 0; i < 10; ++i) {
    std::int64_t old = -1;
    start<tensor::fetch_add>(tensor, elsewhere, 1, &old);
    EXPECT_TRUE(is_mapped || !has_fabric() || old == -1) << old;
  }
  barrier();
  EXPECT_LE(tensor::load(*tensor, elsewhere), 10);
  barrier();
}

TEST(started_fetch_add, wrong_arguments_fail_at_once) {
  const auto tensor = make_tensor(SYNCYTE_INT32, {2}), numbers = make_tensor(SYNCYTE_FLOAT32, {2});
  std::int64_t old = -1;
  expect_error(outcome_of([&] { start<tensor::fetch_add>(tensor, 2, 1, &old); }), SYNCYTE_ERR_INDEX, "element is 2");
  expect_error(outcome_of([&] { start<tensor::fetch_add>(tensor, 0, std::int64_t{1} << 31, &old); }),
               SYNCYTE_ERR_ARGUMENT, "operand is");
  expect_error(outcome_of([&] { start<tensor::fetch_add>(numbers, 0, 1, &old); }), SYNCYTE_ERR_TYPE, "int32 or int64");
  EXPECT_EQ(old, -1);
  EXPECT_EQ(tensor::load(*tensor, 0), 0);
  barrier();
}

/// Ranks count by started compare_swaps until each has won a number of times.
void check_started_swaps(syncyte_dtype_t dtype) {
  const int wins = 20;
  const auto tensor = make_tensor(dtype, {2 * ranks()});
  for (int owner = 0; owner < ranks(); ++owner) {
    std::int64_t expected = 0, old = -1;
    for (int won = 0; won < wins;) {
      start<tensor::compare_swap>(tensor, 2 * owner + 1, expected, expected + 1, &old)->wait();
      won += old == expected;
      expected = old == expected ? old + 1 : old;
    }
  }
  barrier();
  for (int owner = 0; owner < ranks(); ++owner) {
    EXPECT_EQ(tensor::load(*tensor, 2 * owner), 0);
    EXPECT_EQ(tensor::load(*tensor, 2 * owner + 1), wins * ranks());
  }
  barrier();
}

TEST(started_compare_swap, one_rank_wins_each_time) {
  check_started_swaps(SYNCYTE_INT64);
  check_started_swaps(SYNCYTE_INT32);
}

TEST(started_compare_swap, keeps_the_tensor_and_widens_old_values) {
  const std::int64_t large = std::int64_t{1} << 40;
  auto wide = make_tensor(SYNCYTE_INT64, {ranks()}), narrow = make_tensor(SYNCYTE_INT32, {ranks()});
  const int other = (rank() + 1) % ranks();
  tensor::store(*wide, other, -large);
  tensor::store(*narrow, other, -3);
  std::int64_t old[3] = {1, 1, 1};
  const started_pointer started[] = {start<tensor::compare_swap>(wide, other, -large, large, &old[0]),
                                     start<tensor::compare_swap>(wide, other, -large, 7, &old[1]),
                                     start<tensor::compare_swap>(narrow, other, -3, -4, &old[2]),
                                     start<tensor::compare_swap>(narrow, other, -4, -5, nullptr)};
  tensor::wait(*narrow, rank(), SYNCYTE_COMPARE_EQ, -5, -1);  // by the rank before
  tensor::wait(*wide, rank(), SYNCYTE_COMPARE_EQ, large, -1);
  barrier();
  wide.reset();
  narrow.reset();
  for (const auto& each : started) each->wait();
  EXPECT_EQ(old[0], -large);
  EXPECT_EQ(old[1], large);
  EXPECT_EQ(old[2], -3);
  barrier();
}

TEST(started_compare_swap, wrong_arguments_fail_at_once) {
  const std::int64_t large = std::int64_t{1} << 31;
  const auto tensor = make_tensor(SYNCYTE_INT32, {2}), numbers = make_tensor(SYNCYTE_FLOAT32, {2});
  std::int64_t old = -1;
  expect_error(outcome_of([&] { start<tensor::compare_swap>(tensor, -1, 0, 1, &old); }), SYNCYTE_ERR_INDEX,
               "element is -1");
  expect_error(outcome_of([&] { start<tensor::compare_swap>(tensor, 0, large, 1, &old); }), SYNCYTE_ERR_ARGUMENT,
               "expected is");
  expect_error(outcome_of([&] { start<tensor::compare_swap>(tensor, 0, 0, large, &old); }), SYNCYTE_ERR_ARGUMENT,
               "desired is");
  expect_error(outcome_of([&] { start<tensor::compare_swap>(numbers, 0, 0, 1, &old); }), SYNCYTE_ERR_TYPE,
               "int32 or int64");
  EXPECT_EQ(old, -1);
  EXPECT_EQ(tensor::load(*tensor, 0), 0);
  barrier();
}

/// Started signals after rows of all ranks, with their memory.
struct signals {
  explicit signals(tensor::whole_tensor& to) : rows(to) {}

  void start(const tensor_pointer& counters, std::int64_t element, std::int64_t value, syncyte_op_t op,
             std::int64_t amount) {
    const auto count = rows.layout().rows();
    const auto elements = count * rows.layout().row_elements();
    auto index = all_rows(count);
    const syncyte_buffer_t where = index_of(index);
    sources.emplace_back(static_cast<std::size_t>(elements), value);
    const syncyte_buffer_t source = buffer_of(sources.back(), SYNCYTE_INT64, {elements});
    started.push_back(test::start<tensor::put_signal>(rows, &where, &source, counters, element, amount, op));
    index.assign(index.size(), -1);  // it may change after the start
  }
  void wait() const {
    for (const auto& each : started) each->wait();
  }

  tensor::whole_tensor& rows;
  std::deque<std::vector<std::int64_t>> sources;
  std::deque<started_pointer> started;
};

/// Rounds in which the last rank writes all rows and signals to another rank. It never tests a request meanwhile.
void check_signals(std::int64_t columns, const reference::lengths& parts, std::int64_t rounds) {
  if (!on_one_node() && !has_fabric()) rounds = 2;  // MPI RMA over TCP: a round takes up to a second
  const auto tensor = make_tensor(SYNCYTE_INT64, {17, columns}, parts);
  const auto counters = make_tensor(SYNCYTE_INT32, {ranks()});
  const auto taken = make_tensor(SYNCYTE_INT64, {1});
  signals given(*tensor);
  for (std::int64_t round = 1; round <= rounds; ++round) {
    const std::int64_t reader = round % ranks();
    if (rank() == ranks() - 1) {
      const bool adds = round % 2 == 0;
      const std::int64_t before = adds ? tensor::load(*counters, reader) : 0;
      given.start(counters, reader, round, adds ? SYNCYTE_OP_SUM : SYNCYTE_OP_REPLACE, round - before);
    }
    if (rank() == reader) {
      tensor::wait(*counters, reader, SYNCYTE_COMPARE_EQ, round, -1);
      ASSERT_EQ(read_all<std::int64_t>(*tensor),
                std::vector<std::int64_t>(static_cast<std::size_t>(17 * columns), round));
      tensor::store(*taken, 0, round);
    }
    if (rank() == ranks() - 1) tensor::wait(*taken, 0, SYNCYTE_COMPARE_EQ, round, -1);
  }
  barrier();
  given.wait();
  barrier();
}

TEST(started_signal, follows_the_rows_without_calls) {
  for (const auto& parts : partitions(17)) check_signals(40, parts, 30);
}

TEST(started_signal, follows_rows_of_many_messages) { check_signals(20011, {}, 6); }

TEST(started_signal, counter_of_another_communicator) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {11, 64});
  tensor::tensor_options options;
  const std::int64_t one = 1;
  auto own = tensor::whole_tensor::create(runtime::self(), SYNCYTE_INT64, 1, &one, options);
  signals given(*tensor);
  for (int i = 0; i < 20; ++i) given.start(own, 0, 5, SYNCYTE_OP_SUM, 2);
  EXPECT_EQ(tensor::wait(*own, 0, SYNCYTE_COMPARE_GE, 40, -1), 40);
  EXPECT_EQ(read_all<std::int64_t>(*tensor), std::vector<std::int64_t>(11 * 64, 5));
  given.start(own, 0, 5, SYNCYTE_OP_SUM, 2);
  own.reset();  // the request keeps it
  given.wait();
  barrier();
}

TEST(started_signal, many_at_once) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {ranks(), 8});
  const auto counters = make_tensor(SYNCYTE_INT64, {2 * ranks()});
  signals given(*tensor);
  for (int i = 0; i < 100; ++i) given.start(counters, i % (2 * ranks()), rank(), SYNCYTE_OP_SUM, 3);
  given.wait();
  counters->sync();
  std::int64_t sum = 0;
  for (const std::int64_t each : read_all<std::int64_t>(*counters)) sum += each;
  EXPECT_EQ(sum, 300 * ranks());
  barrier();
}

TEST(started_signal, no_rows_signal_too) {
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {4, 2});
  const auto counters = make_tensor(SYNCYTE_INT64, {1});
  const std::vector<std::int64_t> none;
  const std::vector<float> nothing;
  const syncyte_buffer_t index = index_of(none), source = buffer_of(nothing, SYNCYTE_FLOAT32, {0, 2});
  const auto given = start<tensor::put_signal>(tensor, &index, &source, counters, 0, 3, SYNCYTE_OP_SUM);
  EXPECT_EQ(tensor::wait(*counters, 0, SYNCYTE_COMPARE_EQ, 3 * ranks(), -1), 3 * ranks());
  given->wait();
  counters->sync();
}

TEST(started_signal, can_be_given_up) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {33, 500});
  const auto counters = make_tensor(SYNCYTE_INT64, {ranks()});
  for (int i = 0; i < 20; ++i) signals(*tensor).start(counters, i % ranks(), 7, SYNCYTE_OP_SUM, 1);
  barrier();
  std::int64_t sum = 0;
  for (const std::int64_t each : read_all<std::int64_t>(*counters)) sum += each;
  EXPECT_LE(sum, 20 * ranks());
  barrier();
  signals given(*tensor);
  given.start(counters, 0, 8, SYNCYTE_OP_SUM, 1);
  given.wait();
  barrier();
}

TEST(started_signal, wrong_arguments_change_nothing) {
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {4, 2});
  const auto counters = make_tensor(SYNCYTE_INT32, {2});
  const std::vector<std::int64_t> rows{1}, far{4};
  const std::vector<float> ones(2, 1.0f);
  const syncyte_buffer_t index = index_of(rows), outside = index_of(far);
  const syncyte_buffer_t source = buffer_of(ones, SYNCYTE_FLOAT32, {1, 2});
  const auto attempt = [&](const syncyte_buffer_t& where, const tensor_pointer& to, std::int64_t element,
                           syncyte_op_t op) {
    return outcome_of([&] { start<tensor::put_signal>(tensor, &where, &source, to, element, 1, op); });
  };
  expect_error(attempt(outside, counters, 0, SYNCYTE_OP_SUM), SYNCYTE_ERR_INDEX, "index 4 at position 0");
  expect_error(attempt(index, counters, 2, SYNCYTE_OP_SUM), SYNCYTE_ERR_INDEX, "element is 2");
  expect_error(attempt(index, tensor, 0, SYNCYTE_OP_SUM), SYNCYTE_ERR_TYPE, "int32 or int64");
  expect_error(attempt(index, counters, 0, SYNCYTE_OP_MAX), SYNCYTE_ERR_ARGUMENT, "op is");
  EXPECT_EQ(read_all<float>(*tensor), std::vector<float>(8, 0.0f));
  EXPECT_EQ(tensor::load(*counters, 0), 0);
  barrier();
}

optim::rule rule_of(syncyte_optimizer_t kind) { return {.optimizer = kind, .lr = 0.5, .eps = 1e-8}; }

/// Two updates in flight at once of all rows; row 1 repeats. All numbers are exact.
TEST(started_gradients, update_each_row_once) {
  constexpr int rounds = 20;
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {11, 20});
  if (!reaches(*tensor)) GTEST_SKIP() << "updates need rows of this node";
  tensor::set_optimizer(*tensor, rule_of(SYNCYTE_OPTIMIZER_SGD));
  auto rows = all_rows(11);
  rows.push_back(1);
  const std::vector<float> ones(rows.size() * 20, 1.0f);
  const syncyte_buffer_t packed = buffer_of(ones, SYNCYTE_FLOAT32, {12, 20});
  for (int round = 0; round < rounds; ++round) {
    started_pointer started[2];
    for (auto& each : started) {
      auto index = rows;
      const syncyte_buffer_t where = index_of(index);
      each = start<tensor::apply_gradients>(tensor, &where, &packed);
      index.assign(index.size(), -1);  // it may change after the start
    }
    for (const auto& each : started) each->wait();
  }
  tensor->sync();
  const auto found = read_all<float>(*tensor);
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(found[i], static_cast<float>((i / 20 == 1 ? -1.0 : -0.5) * 2 * rounds * ranks())) << i;
  barrier();
}

/// Ranks update in turn: the started form gives the bits of the blocking one, and counts steps as it does.
TEST(started_gradients, equal_blocking_updates) {
  for (const auto kind : {SYNCYTE_OPTIMIZER_ADAGRAD, SYNCYTE_OPTIMIZER_ADAM})
    for (const auto& parts : partitions(13)) {
      const auto blocking = make_tensor(SYNCYTE_FLOAT64, {13, 50}, parts);
      const auto started = make_tensor(SYNCYTE_FLOAT64, {13, 50}, parts);
      if (!reaches(*started)) GTEST_SKIP() << "updates need rows of this node";
      tensor::set_optimizer(*blocking, rule_of(kind));
      tensor::set_optimizer(*started, rule_of(kind));
      const auto index = reference::random_rows<std::int64_t>(3, rank(), 30, 13);
      const auto gradients = reference::random_values<double>(5, rank(), 30 * 50);
      const syncyte_buffer_t where = index_of(index), packed = buffer_of(gradients, SYNCYTE_FLOAT64, {30, 50});
      for (int turn = 0; turn < 2 * ranks(); ++turn) {
        if (turn % ranks() == rank()) {
          run<tensor::apply_gradients>(*blocking, &where, &packed);
          const auto update = start<tensor::apply_gradients>(started, &where, &packed);
          while (!update->test()) std::this_thread::yield();
        }
        blocking->sync();
        started->sync();
      }
      EXPECT_TRUE(same_bytes(read_all<double>(*started), read_all<double>(*blocking)));
      if (const auto steps = started->optimizer()->steps()) {
        EXPECT_EQ(tensor::load(*steps, 0), 2 * ranks());
      }
      barrier();
    }
}

TEST(started_gradients, end_without_calls_and_keep_the_tensor) {
  auto tensor = make_tensor(SYNCYTE_FLOAT32, {ranks(), 70001});  // rows that are longer than a message
  if (!reaches(*tensor)) GTEST_SKIP() << "updates need rows of this node";
  tensor::set_optimizer(*tensor, rule_of(SYNCYTE_OPTIMIZER_SGD));
  const std::vector<std::int64_t> index{(rank() + 1) % ranks()};
  const std::vector<float> ones(70001, 1.0f);
  const syncyte_buffer_t where = index_of(index), packed = buffer_of(ones, SYNCYTE_FLOAT32, {1, 70001});
  const auto update = start<tensor::apply_gradients>(tensor, &where, &packed);
  const syncyte_buffer_t mine = tensor->local();
  const std::atomic_ref last(static_cast<float*>(mine.data)[70000]);
  const auto begin = std::chrono::steady_clock::now();
  while (last.load() != -0.5f && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(last.load(), -0.5f);
  barrier();
  const auto further = start<tensor::apply_gradients>(tensor, &where, &packed);
  tensor.reset();
  further->wait();
  update->wait();
  barrier();
}

TEST(started_gradients, can_be_given_up) {
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {ranks(), 3000});
  if (!reaches(*tensor)) GTEST_SKIP() << "updates need rows of this node";
  tensor::set_optimizer(*tensor, rule_of(SYNCYTE_OPTIMIZER_ADAM));
  const auto index = all_rows(ranks());
  for (int i = 0; i < 10; ++i) {
    const std::vector<float> ones(index.size() * 3000, 1.0f);
    const syncyte_buffer_t where = index_of(index), packed = buffer_of(ones, SYNCYTE_FLOAT32, {ranks(), 3000});
    start<tensor::apply_gradients>(tensor, &where, &packed);
  }
  barrier();
  EXPECT_EQ(tensor::load(*tensor->optimizer()->steps(), 0), 10 * ranks());
  barrier();
}

TEST(started_gradients, wrong_arguments_fail_at_once) {
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {ranks(), 2});
  const std::vector<std::int64_t> rows{0, ranks()};
  const std::vector<float> ones(4, 1.0f);
  const syncyte_buffer_t index = index_of(rows), packed = buffer_of(ones, SYNCYTE_FLOAT32, {2, 2});
  const auto outcome = [&](const syncyte_buffer_t& gradients) {
    return outcome_of([&] { start<tensor::apply_gradients>(tensor, &index, &gradients); });
  };
  expect_error(outcome(packed), SYNCYTE_ERR_UNSUPPORTED, "no optimizer");
  tensor::set_optimizer(*tensor, rule_of(SYNCYTE_OPTIMIZER_SGD));
  expect_error(outcome(packed), SYNCYTE_ERR_INDEX, "position 1");
  expect_error(outcome(buffer_of(ones, SYNCYTE_FLOAT32, {1, 2})), SYNCYTE_ERR_SHAPE, "gradients");
  if (!reaches(*tensor)) {
    const auto all = all_rows(ranks());  // some are on other nodes; none is updated
    const std::vector<float> further(all.size() * 2, 1.0f);
    const syncyte_buffer_t where = index_of(all), rest = buffer_of(further, SYNCYTE_FLOAT32, {ranks(), 2});
    expect_error(outcome_of([&] { start<tensor::apply_gradients>(tensor, &where, &rest); }), SYNCYTE_ERR_UNSUPPORTED,
                 "expected a row that this process");
  }
  tensor->sync();
  EXPECT_EQ(read_all<float>(*tensor), std::vector<float>(static_cast<std::size_t>(2 * ranks()), 0.0f));
  barrier();
}

}  // namespace
