// SPDX-License-Identifier: BSD-3-Clause
// Operations of workers that are waited for later: keys of this node are done on return, those of others
// once their request has ended.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "core_world.hpp"
#include "kv/worker.hpp"
#include "reference.hpp"

namespace {

using namespace syncyte;
using kv::completion;
using table_operation = const kv::operation*;
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

using started = kv::worker::started;

started run(kv::worker& by, table_operation what, batch& with, completion when = completion::by_request) {
  const auto wanted = with.key_buffer(), values = with.value_buffer();
  return by.run(*what, &wanted, &values, when);
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

/// Waits for the end; null: it has ended.
void wait(const started& operation) {
  if (operation) operation->wait();
}

bool has_other_nodes() { return world().node().count > 1; }

TEST(kv_started, many_are_in_flight_at_once) {
  const auto store = make_store();
  kv::worker worker(store, 0);
  constexpr int rounds = 60;
  std::vector<batch> pushes, pulls;
  std::vector<started> pushed, pulled;
  for (int round = 0; round < rounds; ++round)
    pushes.emplace_back(reference::random_rows<std::int64_t>(3, round, round % 20 == 9 ? 12000 : 100, keys), 1.0f);
  for (batch& each : pushes) pushed.push_back(run(worker, &kv::push, each));
  std::ranges::reverse(pushed);
  for (const started& each : pushed) wait(each);
  store->sync();
  value_list expected(keys, 0.0f);
  for (const batch& each : pushes)
    for (const std::int64_t key : each.wanted)
      expected[static_cast<std::size_t>(key)] += static_cast<float>(world().size());
  for (int round = 0; round < rounds; ++round)
    pulls.emplace_back(reference::random_rows<std::int64_t>(4 + round, world().rank(), 200, keys), -1.0f);
  for (batch& each : pulls) pulled.push_back(run(worker, &kv::pull, each));
  for (batch& each : pulls) std::ranges::fill(each.wanted, -5);  // the list is the caller's again
  for (const started& each : pulled) wait(each);
  for (int round = 0; round < rounds; ++round) {
    const auto wanted = reference::random_rows<std::int64_t>(4 + round, world().rank(), 200, keys);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_EQ(pulls[static_cast<std::size_t>(round)].values[i * length],
                expected[static_cast<std::size_t>(wanted[i])]);
  }
  store->sync();
}

TEST(kv_started, an_operation_is_null_if_it_is_complete) {
  const auto store = make_store();
  kv::worker worker(store, 0);
  batch everywhere(all_keys()), here(key_list{local_key(*store)});
  for (const auto what : {&kv::set, &kv::push, &kv::pull}) {
    EXPECT_EQ(run(worker, what, here), nullptr);
    EXPECT_EQ(run(worker, what, everywhere, completion::on_return), nullptr);
  }
  const started first = run(worker, &kv::push, everywhere);
  EXPECT_EQ(first != nullptr, has_other_nodes());
  batch others(all_keys());
  const started second = run(worker, &kv::pull, others);
  wait(second);
  wait(first);
  wait(first);
  if (first) {
    EXPECT_TRUE(first->test());
    EXPECT_TRUE(second->has_ended());
  }
  worker.flush();
  store->sync();
}

/// Values of this node's keys are there on return.
TEST(kv_started, keys_of_this_node_are_done_on_return) {
  const auto store = make_store();
  kv::worker worker(store, 0);
  batch given(all_keys(), 3.0f), found(all_keys(), -1.0f);
  const started set = run(worker, &kv::set, given);
  const started pulled = run(worker, &kv::pull, found);
  for (std::int64_t key = 0; key < keys; ++key)
    if (store->are_local(key_list{key})) {
      EXPECT_EQ(found.values[static_cast<std::size_t>(key * length)], 3.0f);
    }
  wait(set);
  wait(pulled);
  store->sync();
}

TEST(kv_started, operations_end_without_calls) {
  const auto store = make_store();
  kv::worker worker(store, 0);
  batch given(all_keys(), 1.0f);
  const started pushed = run(worker, &kv::push, given);
  store->sync();  // all are started
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(pushed == nullptr || pushed->test());
  store->sync();
  batch found(all_keys());
  run(worker, &kv::pull, found, completion::on_return);
  EXPECT_EQ(found.values, value_list(keys * length, static_cast<float>(world().size())));
  store->sync();
}

TEST(kv_started, those_that_have_ended_are_forgotten) {
  const auto store = make_store();
  const std::shared_ptr<fabric::stream> stream = store->make_stream();
  kv::started_operations in_flight;
  value_list ones(keys * length, 1.0f);
  const key_list wanted = all_keys();
  constexpr std::int64_t rounds = 3000;
  std::vector<started> held;
  for (std::int64_t round = 0; round < rounds; ++round) {
    auto operation = store->start(stream.get(), kv::push, wanted, ones.data());
    if (operation.rest) {
      held.push_back(std::make_shared<access::started>(std::array<std::shared_ptr<const void>, 2>{store, stream},
                                                       std::move(operation.rest)));
      in_flight.add(held.back());
    }
    if (round % 16 == 15) in_flight.await_ends();
    ASSERT_LE(in_flight.size(), 64u);
  }
  in_flight.await_ends();
  for (const started& each : held) EXPECT_TRUE(each->test());
  store->sync();
  value_list found(keys * length);
  store->run(kv::pull, wanted, found.data());
  EXPECT_EQ(found, value_list(keys * length, static_cast<float>(rounds * world().size())));
  store->sync();
}

TEST(kv_started, operations_outlive_their_worker_and_store) {
  auto store = make_store();
  std::vector<batch> pushes, pulls;
  for (int round = 0; round < 40; ++round) {
    pushes.emplace_back(all_keys(), 1.0f);
    pulls.emplace_back(all_keys());
  }
  std::vector<started> in_flight;
  {
    kv::worker worker(store, 0);
    for (batch& each : pushes) in_flight.push_back(run(worker, &kv::push, each));
    for (batch& each : pulls) in_flight.push_back(run(worker, &kv::pull, each));
  }
  kv::worker again(store, 0);  // its number is free again
  store.reset();
  for (const started& each : in_flight) wait(each);
  for (const batch& each : pulls)
    ASSERT_GE(*std::ranges::min_element(each.values), 40.0f) << "a pull follows the pushes of its worker";
  collectives::barrier(world());
}

TEST(kv_started, a_barrier_waits_for_them) {
  const auto store = make_store();
  kv::worker worker(store, 0);
  batch ones(all_keys(), 1.0f), found(all_keys());
  for (int round = 1; round <= 10; ++round) {
    for (int i = 0; i < 5; ++i) run(worker, &kv::push, ones);
    worker.barrier();
    run(worker, &kv::pull, found, completion::on_return);
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
        const started pushed = run(worker, &kv::push, ones);
        std::jthread other([&] { wait(pushed); });
        if (round % 3 == 0) worker.flush();
        wait(pushed);
      }
    });
  running.clear();  // joins
  store->sync();
  batch found(all_keys());
  run(worker, &kv::pull, found, completion::on_return);
  EXPECT_EQ(found.values, value_list(keys * length, static_cast<float>(threads * rounds * world().size())));
  store->sync();
}

}  // namespace
