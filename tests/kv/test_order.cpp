// SPDX-License-Identifier: BSD-3-Clause
// A worker's operations take effect in the order of their starts: started ones and blocking ones, with one request or
// many, against a sequential model.

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "base/buffer.hpp"
#include "core_world.hpp"
#include "kv/worker.hpp"

namespace {

using namespace syncyte;
using kv::completion;
using table_operation = const kv::operation*;
using test::world;
using key_list = std::vector<std::int64_t>;
using value_list = std::vector<float>;

constexpr std::int64_t length = 16;

std::shared_ptr<kv::store> make_store(std::int64_t keys, std::int32_t workers) {
  return kv::store::create(test::shared_world(), SYNCYTE_FLOAT32, keys, 1, &length,
                           {.name = "parameters", .workers = workers, .error = {}});
}

/// An operation with its keys and values, which live until the wait.
struct operation {
  kv::worker::started run(kv::worker& by, completion when) {
    const std::int64_t key_count[] = {std::ssize(keys)}, value_count[] = {std::ssize(values)};
    const auto wanted = base::make_buffer(keys.data(), SYNCYTE_INT64, key_count);
    const auto given = base::make_buffer(values.data(), SYNCYTE_FLOAT32, value_count);
    return by.run(*what, &wanted, &given, when);
  }

  table_operation what;
  key_list keys;
  value_list values;
  value_list expected = {};  // of a pull
  kv::worker::started in_flight = nullptr;
};

operation fill(table_operation what, key_list keys, float value) {
  const std::size_t values = keys.size() * length;
  return {.what = what, .keys = std::move(keys), .values = value_list(values, value)};
}

/// A worker alone with its keys, so that it knows their values.
class sequential_user {
 public:
  /// Its keys are `first`, `first` + `step` and so on.
  sequential_user(kv::worker& by, std::int64_t first, std::int64_t step)
      : by_(by), random_(static_cast<std::uint64_t>(first)), first_(first), step_(step) {}

  void run_one() {
    operation& next = operations_.emplace_back(make());
    model(next);
    const bool waits = random_() % 3 == 0;
    next.in_flight = next.run(by_, waits ? completion::on_return : completion::by_request);
    if (random_() % 20 == 0) check();
  }

  void check() {
    for (operation& each : operations_) {
      if (each.in_flight) each.in_flight->wait();
      if (each.what == &kv::pull) {
        ASSERT_EQ(each.values, each.expected);
      }
    }
    operations_.clear();
  }

 private:
  static constexpr std::int64_t keys = 50;

  operation make() {
    constexpr table_operation kinds[] = {&kv::pull, &kv::push, &kv::set};
    const std::size_t count = random_() % 6 == 0 ? 12000 : 1 + random_() % 30;
    operation result = fill(kinds[random_() % 3], key_list(count), -1);
    for (auto& key : result.keys) key = first_ + step_ * static_cast<std::int64_t>(random_() % keys);
    if (result.what != &kv::pull)
      for (auto& value : result.values) value = static_cast<float>(static_cast<int>(random_() % 19) - 9);
    return result;
  }

  void model(operation& next) {
    for (std::size_t i = 0; i < next.values.size(); ++i) {
      const std::int64_t key = (next.keys[i / length] - first_) / step_;
      float& value = values_[static_cast<std::size_t>(key * length) + i % length];
      if (next.what == &kv::pull)
        next.expected.push_back(value);
      else
        value = next.values[i] + (next.what == &kv::push ? value : 0);
    }
  }

  kv::worker& by_;
  std::mt19937_64 random_;
  std::int64_t first_, step_;
  value_list values_ = value_list(keys * length);
  std::deque<operation> operations_;
};

TEST(kv_order, operations_take_effect_in_the_order_of_their_starts) {
  constexpr int threads = 2;
  const std::int64_t all = threads * world().size();
  const auto store = make_store(50 * all, threads);
  std::vector<std::unique_ptr<kv::worker>> workers;
  for (int thread = 0; thread < threads; ++thread) workers.push_back(std::make_unique<kv::worker>(store, thread));
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      sequential_user user(*workers[static_cast<std::size_t>(thread)], world().rank() * threads + thread, all);
      for (int round = 0; round < 60; ++round) user.run_one();
      user.check();
    });
  running.clear();  // joins
  store->sync();
}

/// More workers than callers: workers that share one keep the order too.
TEST(kv_order, workers_that_share_a_caller_keep_it) {
  constexpr int many = 20;
  const std::int64_t all = many * world().size();
  const auto store = make_store(50 * all, many);
  std::vector<std::unique_ptr<kv::worker>> workers;
  std::vector<sequential_user> users;
  for (int number = 0; number < many; ++number) {
    workers.push_back(std::make_unique<kv::worker>(store, number));
    users.emplace_back(*workers.back(), world().rank() * many + number, all);
  }
  for (int round = 0; round < 6; ++round)
    for (sequential_user& user : users) user.run_one();
  for (sequential_user& user : users) user.check();
  store->sync();
}

/// A set of several requests, a push to its last key, a pull of it; the pull is waited for first.
TEST(kv_order, a_push_follows_a_large_set) {
  constexpr std::int64_t keys = 20000;
  const auto store = make_store(keys * world().size(), 1);
  kv::worker worker(store, 0);
  key_list large(keys);
  std::iota(large.begin(), large.end(), keys * ((world().rank() + 1) % world().size()));
  for (int round = 0; round < 10; ++round) {
    operation set = fill(&kv::set, large, 100), push = fill(&kv::push, {large.back()}, 1),
              pull = fill(&kv::pull, {large.back()}, 0);
    set.in_flight = set.run(worker, completion::by_request);
    push.in_flight = push.run(worker, completion::by_request);
    pull.run(worker, completion::on_return);
    EXPECT_EQ(pull.values, value_list(length, 101.0f)) << round;
    worker.flush();
  }
  store->sync();
}

}  // namespace
