// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <numeric>
#include <syncyte/syncyte.hpp>
#include <thread>
#include <vector>

#include "expect.hpp"

namespace {

using syncyte::test::expect_error;

class cxx_store : public testing::Test {
 protected:
  syncyte::communicator world_ = syncyte::communicator::world();
  int rank_ = world_.rank();
  int size_ = world_.size();
};

TEST_F(cxx_store, pulls_pushes_and_sets) {
  const syncyte::store table(world_, 50, 3, {.name = "table"});
  const syncyte::store_worker worker = table.worker();
  const std::vector<std::int64_t> keys{7, 49, 7};
  EXPECT_EQ(table.keys(), 50);
  EXPECT_EQ(table.lengths(keys), (std::vector<std::int64_t>{3, 3, 3}));
  EXPECT_EQ(table.owner(keys)[0], 7 % size_);
  if (rank_ == 0) worker.set(std::array<std::int64_t, 1>{49}, std::array{1.F, 2.F, 3.F});
  worker.barrier();
  worker.push(keys, std::vector<float>(9, 1.F));
  worker.barrier();
  std::vector<float> values(9, -1);
  worker.pull(keys, values);
  const auto all = static_cast<float>(size_);
  EXPECT_EQ(values,
            (std::vector<float>{2 * all, 2 * all, 2 * all, 1 + all, 2 + all, 3 + all, 2 * all, 2 * all, 2 * all}));
  table.sync();
  EXPECT_EQ(worker.info().pushed_keys, 3);
  EXPECT_EQ(worker.advance_clock(), 1);
  EXPECT_EQ(worker.clock(), 1);
}

TEST_F(cxx_store, started_operations_are_requests) {
  const syncyte::store table(world_, 10, 1,
                             {.homes = syncyte::store_homes::block, .intents = syncyte::store_intents::copy});
  const syncyte::store_worker worker = table.worker();
  const std::array<std::int64_t, 2> keys{0, 9};
  const std::array values{1.F, 2.F};
  std::array<syncyte::request, 2> started{worker.ipush(keys, values), worker.ipush(keys, values)};
  syncyte::wait_all(started);
  worker.flush();
  worker.barrier();
  std::array<float, 2> found{};
  std::vector<std::int32_t> sum{1};
  std::array<syncyte::request, 2> mixed{world_.iallreduce(sum), worker.ipull(keys, found)};
  std::array<bool, 2> has_ended{!mixed[0], !mixed[1]};  // in its start
  for (auto which = wait_any(mixed); which >= 0; which = wait_any(mixed))
    has_ended.at(static_cast<std::size_t>(which)) = true;
  EXPECT_TRUE(has_ended[0] && has_ended[1]) << "an operation of a store and a collective in one wait";
  EXPECT_EQ(sum[0], size_);
  EXPECT_EQ(found[1], 4.F * static_cast<float>(size_));
  found = {};
  syncyte::request pulled = worker.ipull(keys, found);
  pulled.wait();
  EXPECT_TRUE(pulled.test()) << "a request that has ended, or was complete from the start";
  EXPECT_EQ(found[0], 2.F * static_cast<float>(size_));
  EXPECT_EQ(found[1], 4.F * static_cast<float>(size_));
  worker.barrier();
  worker.iset(keys, values).wait();
  worker.barrier();
  if (worker.pull_if_local(keys, found)) {
    EXPECT_EQ(found[1], 2.F);
  }
}

TEST_F(cxx_store, repeated_keys_travel_once_and_values_are_prefetched) {
  const syncyte::store table(world_, 10, 1);
  const syncyte::store_worker worker = table.worker();
  const std::array<std::int64_t, 4> keys{9, 0, 9, 5};
  worker.push_unique(keys, std::array{1.F, 2.F, 3.F, 4.F});
  worker.ipush_unique(keys, std::array{0.F, 0.F, 0.F, 0.F}).wait();
  worker.barrier();
  worker.prefetch(keys);
  std::array<std::int64_t, 4> distinct{}, inverse{};
  std::array<float, 4> values{};
  EXPECT_EQ(worker.pull_unique(keys, distinct, inverse, values), 3);
  EXPECT_EQ(distinct, (std::array<std::int64_t, 4>{9, 0, 5, 0}));
  EXPECT_EQ(inverse, (std::array<std::int64_t, 4>{0, 1, 0, 2}));
  const auto all = static_cast<float>(size_);
  EXPECT_EQ(values, (std::array{4 * all, 2 * all, 4 * all, 0.F}));
  values = {};
  std::int64_t count = 0;
  worker.ipull_unique(keys, distinct, inverse, values, count).wait();
  EXPECT_EQ(count, 3);
  EXPECT_EQ(values[2], 4 * all);
  worker.barrier();
}

TEST_F(cxx_store, lengths_of_each_key_and_samples) {
  std::vector<std::int64_t> lengths(20, 2);
  lengths[3] = 5;
  const syncyte::store table(world_, 20, lengths);
  const syncyte::store_worker worker = table.worker();
  EXPECT_EQ(table.lengths(std::array<std::int64_t, 2>{3, 4}), (std::vector<std::int64_t>{5, 2}));
  table.set_sampling({.max_key = 20, .min_key = 4, .scheme = syncyte::sampling_scheme::prepared});
  const std::int64_t sample = worker.prepare_sample(6, 0);
  std::array<std::int64_t, 4> keys{};
  std::array<float, 8> values{};
  worker.pull_sample(sample, keys, values);
  for (const std::int64_t key : keys) EXPECT_TRUE(key >= 4 && key < 20) << key;
  worker.finish_sample(sample);
  worker.intent(keys, 0);
  worker.localize(keys);
}

TEST_F(cxx_store, keys_move_to_the_node_that_localizes_them) {
  const syncyte::store table(world_, 10, 1, {.foreign_bytes = 4096});
  const syncyte::store_worker worker = table.worker();
  const std::array<std::int64_t, 2> keys{3, 8};
  worker.localize(keys);
  worker.ilocalize(keys).wait();
  worker.push(keys, std::array{1.0F, 1.0F});
  worker.barrier();
  std::array<float, 2> values{};
  worker.pull(keys, values);
  EXPECT_EQ(values[0], static_cast<float>(world_.size()));
  for (const std::int32_t rank : table.locate(keys)) EXPECT_TRUE(rank >= 0 && rank < world_.size());
  EXPECT_EQ(table.is_local(keys).size(), 2u);
  EXPECT_EQ(table.adopt_last(keys), (std::vector<std::int32_t>{0, 0}));  // none is lost
  expect_error(syncyte::status::argument, {"foreign_bytes", "-5"},
               [&] { const syncyte::store wrong(world_, 10, 1, {.foreign_bytes = -5}); });
  worker.barrier();
}

TEST_F(cxx_store, threads_have_workers_of_their_own) {
  const syncyte::store table(world_, 4, 1, {.workers = 3});
  std::vector<syncyte::store_worker> workers;
  for (std::int32_t number = 0; number < 3; ++number) workers.push_back(table.worker(number));
  std::vector<std::jthread> threads;
  for (const auto& worker : workers) {
    threads.emplace_back([&worker] {
      for (int i = 0; i < 100; ++i) worker.push(std::array<std::int64_t, 1>{i % 4}, std::array{1.F});
      worker.barrier();
    });
  }
  threads.clear();
  std::array<float, 4> values{};
  workers[0].pull(std::array<std::int64_t, 4>{0, 1, 2, 3}, values);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0.F), 300.F * static_cast<float>(size_));
}

TEST_F(cxx_store, wrong_arguments) {
  const syncyte::store table(world_, 10, 2, {.name = "small"});
  const syncyte::store_worker worker = table.worker();
  std::array<float, 2> values{};
  expect_error(syncyte::status::index, {"keys", "10"}, [&] { worker.pull(std::array<std::int64_t, 1>{10}, values); });
  expect_error(syncyte::status::shape, {"values"}, [&] { worker.push(std::array<std::int64_t, 2>{1, 2}, values); });
  expect_error(syncyte::status::type, {"keys"}, [&] { worker.set(std::array<std::int32_t, 1>{1}, values); });
  expect_error(syncyte::status::argument, {"number"}, [&] { static_cast<void>(table.worker(0)); });
  expect_error(syncyte::status::shape, {"length"},
               [&] { const syncyte::store wrong(world_, 3, std::vector<std::int64_t>{1, 2}); });
  const syncyte::store unset(nullptr);
  expect_error(syncyte::status::handle, {"store"}, [&] { static_cast<void>(unset.keys()); });
}

}  // namespace
