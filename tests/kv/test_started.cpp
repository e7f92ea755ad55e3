// Operations of workers that are waited for later: keys of this node are done on return, those of others by wait().

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/buffer.hpp"
#include "core_world.hpp"
#include "kv/worker.hpp"
#include "reference.hpp"

namespace {

using namespace syncyte;
using kv::completion;
using kv::table_operation;
using test::world;
using key_list = std::vector<std::int64_t>;
using value_list = std::vector<float>;

constexpr std::int64_t keys = 600, length = 16;

std::shared_ptr<kv::store> make_store(std::int32_t workers = 1) {
  return kv::store::create(test::shared_world(), SYNCYTE_FLOAT32, keys, 1, &length,
                           {.name = "parameters", .workers = workers, .error = {}});
}

/// Keys with their values, which live until the wait.
struct batch {
  explicit batch(key_list list, float value = 0) : wanted(std::move(list)), values(wanted.size() * length, value) {}
  syncyte_buffer_t key_buffer() {
    const std::int64_t shape[] = {std::ssize(wanted)};
    return base::make_buffer(wanted.data(), SYNCYTE_INT64, shape);
  }
  syncyte_buffer_t value_buffer() {
    const std::int64_t shape[] = {std::ssize(values)};
    return base::make_buffer(values.data(), SYNCYTE_FLOAT32, shape);
  }

  key_list wanted;
  value_list values;
};

std::int64_t run(kv::worker& by, table_operation what, batch& with, completion when = completion::by_wait) {
  const auto wanted = with.key_buffer(), values = with.value_buffer();
  if (what == table_operation::pull) return by.pull(&wanted, &values, when);
  return what == table_operation::push ? by.push(&wanted, &values, when) : by.set(&wanted, &values, when);
}

key_list all_keys() {
  key_list result(keys);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

/// The first key whose home rank is on this node.
std::int64_t local_key(const kv::store& of) {
  std::int64_t key = 0;
  while (!of.are_local(key_list{key})) ++key;
  return key;
}

bool has_other_nodes() { return world().node().count > 1; }

TEST(kv_started, many_are_under_way_at_once) {
  const auto store = make_store();
  kv::worker worker(store, 0);
  constexpr int rounds = 60;
  std::vector<batch> pushes, pulls;
  std::vector<std::int64_t> pushed, pulled;
  for (int round = 0; round < rounds; ++round)
    pushes.emplace_back(reference::random_rows<std::int64_t>(3, round, round % 20 == 9 ? 12000 : 100, keys), 1.0f);
  for (batch& each : pushes) pushed.push_back(run(worker, table_operation::push, each));
  std::ranges::reverse(pushed);
  for (const std::int64_t timestamp : pushed) worker.wait(timestamp);
  store->sync();
  value_list expected(keys, 0.0f);
  for (const batch& each : pushes)
    for (const std::int64_t key : each.wanted)
      expected[static_cast<std::size_t>(key)] += static_cast<float>(world().size());
  for (int round = 0; round < rounds; ++round)
    pulls.emplace_back(reference::random_rows<std::int64_t>(4 + round, world().rank(), 200, keys), -1.0f);
  for (batch& each : pulls) pulled.push_back(run(worker, table_operation::pull, each));
  for (batch& each : pulls) std::ranges::fill(each.wanted, -5);  // the list is the caller's again
  for (const std::int64_t timestamp : pulled) worker.wait(timestamp);
  for (int round = 0; round < rounds; ++round) {
    const auto wanted = reference::random_rows<std::int64_t>(4 + round, world().rank(), 200, keys);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_EQ(pulls[static_cast<std::size_t>(round)].values[i * length],
                expected[static_cast<std::size_t>(wanted[i])]);
  }
  store->sync();
}

TEST(kv_started, a_timestamp_names_an_operation_of_the_worker) {
  const auto store = make_store();
  kv::worker worker(store, 0);
  batch everywhere(all_keys()), here(key_list{local_key(*store)});
  for (const auto what : {table_operation::set, table_operation::push, table_operation::pull}) {
    EXPECT_EQ(run(worker, what, here), -1);
    EXPECT_EQ(run(worker, what, everywhere, completion::on_return), -1);
  }
  const std::int64_t first = run(worker, table_operation::push, everywhere);
  batch others(all_keys());
  const std::int64_t second = run(worker, table_operation::pull, others);
  EXPECT_EQ(first, has_other_nodes() ? 0 : -1);
  EXPECT_EQ(second, has_other_nodes() ? 1 : -1);
  for (const std::int64_t timestamp : {second, std::int64_t{-1}, first, second, first}) worker.wait(timestamp);
  EXPECT_TRUE(worker.test(first));
  EXPECT_TRUE(worker.test(-1));
  worker.wait_all();
  worker.wait(second);
  for (const std::int64_t wrong : {std::int64_t{-2}, second + 1}) {
    const std::string text = "timestamp is " + std::to_string(wrong);
    test::expect_error(test::outcome_of([&] { worker.wait(wrong); }), SYNCYTE_ERR_ARGUMENT, text);
    test::expect_error(test::outcome_of([&] { worker.test(wrong); }), SYNCYTE_ERR_ARGUMENT, text);
  }
  store->sync();
}

/// Values of this node's keys are there on return.
TEST(kv_started, keys_of_this_node_are_done_on_return) {
  const auto store = make_store();
  kv::worker worker(store, 0);
  batch given(all_keys(), 3.0f), found(all_keys(), -1.0f);
  const std::int64_t set = run(worker, table_operation::set, given);
  const std::int64_t pulled = run(worker, table_operation::pull, found);
  for (std::int64_t key = 0; key < keys; ++key)
    if (store->are_local(key_list{key})) {
      EXPECT_EQ(found.values[static_cast<std::size_t>(key * length)], 3.0f);
    }
  worker.wait(set);
  worker.wait(pulled);
  store->sync();
}

TEST(kv_started, operations_end_without_calls) {
  const auto store = make_store();
  kv::worker worker(store, 0);
  batch given(all_keys(), 1.0f);
  const std::int64_t timestamp = run(worker, table_operation::push, given);
  store->sync();  // all are started
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(worker.test(timestamp));
  store->sync();
  batch found(all_keys());
  run(worker, table_operation::pull, found, completion::on_return);
  EXPECT_EQ(found.values, value_list(keys * length, static_cast<float>(world().size())));
  store->sync();
}

TEST(kv_started, those_that_have_ended_are_forgotten) {
  const auto store = make_store();
  const auto stream = store->make_stream();
  kv::started_operations started;
  value_list ones(keys * length, 1.0f);
  const key_list wanted = all_keys();
  constexpr std::int64_t rounds = 3000;
  std::int64_t last = -1;
  for (std::int64_t round = 0; round < rounds; ++round) {
    last = started.add(store->start(stream.get(), table_operation::push, wanted, ones.data()));
    if (round % 16 == 15) started.await_ends();
    ASSERT_LE(started.size(), 64u);
  }
  EXPECT_EQ(last, has_other_nodes() ? rounds - 1 : -1);
  started.wait_all();
  EXPECT_EQ(started.size(), 0u);
  started.wait(has_other_nodes() ? 5 : -1);
  store->sync();
  value_list found(keys * length);
  store->pull(wanted, found.data());
  EXPECT_EQ(found, value_list(keys * length, static_cast<float>(rounds * world().size())));
  store->sync();
}

TEST(kv_started, a_worker_that_ends_gives_them_up) {
  const auto store = make_store();
  std::vector<batch> pulls;
  for (int round = 0; round < 40; ++round) pulls.emplace_back(all_keys());
  {
    kv::worker worker(store, 0);
    for (batch& each : pulls) run(worker, table_operation::pull, each);
  }
  for (batch& each : pulls) std::ranges::fill(each.values, -7.0f);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (const batch& each : pulls) ASSERT_EQ(each.values, value_list(keys * length, -7.0f));
  kv::worker again(store, 0);
  run(again, table_operation::pull, pulls[0], completion::on_return);
  EXPECT_EQ(pulls[0].values, value_list(keys * length, 0.0f));
  store->sync();
}

TEST(kv_started, a_barrier_waits_for_them) {
  const auto store = make_store();
  kv::worker worker(store, 0);
  batch ones(all_keys(), 1.0f), found(all_keys());
  for (int round = 1; round <= 10; ++round) {
    for (int i = 0; i < 5; ++i) run(worker, table_operation::push, ones);
    worker.barrier();
    run(worker, table_operation::pull, found, completion::on_return);
    ASSERT_EQ(found.values, value_list(keys * length, static_cast<float>(5 * round * world().size())));
    worker.barrier();
  }
}

/// Several threads use one worker; two of them wait for each operation.
TEST(kv_started, threads_share_a_worker) {
  const auto store = make_store();
  kv::worker worker(store, 0);
  constexpr int threads = 3, rounds = 40;
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        batch ones(all_keys(), 1.0f);
        const std::int64_t timestamp = run(worker, table_operation::push, ones);
        std::jthread other([&] { worker.wait(timestamp); });
        if (round % 3 == 0) worker.wait_all();
        worker.wait(timestamp);
      }
    });
  running.clear();  // joins
  store->sync();
  batch found(all_keys());
  run(worker, table_operation::pull, found, completion::on_return);
  EXPECT_EQ(found.values, value_list(keys * length, static_cast<float>(threads * rounds * world().size())));
  store->sync();
}

}  // namespace
