// SPDX-License-Identifier: BSD-3-Clause
// Prefetches of a worker: its next pull of the list takes the values, with the worker's own changes; and operations on
// the distinct keys of a list. Against a sequential model, and against what other ranks write meanwhile.

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "core_world.hpp"
#include "kv/worker.hpp"

namespace {

using namespace syncyte;
using kv::completion;
using test::world;
using key_list = std::vector<std::int64_t>;
using value_list = std::vector<float>;

bool has_other_nodes() { return world().node().count > 1; }

/// Half of the stores have keys of different lengths, 1 to 5.
std::int64_t length_of(std::int64_t key, bool is_uniform) { return is_uniform ? 4 : 1 + key % 5; }

std::shared_ptr<kv::store> make_store(std::int64_t keys, std::int32_t workers = 1, bool is_uniform = true) {
  key_list lengths;
  for (std::int64_t key = 0; key < (is_uniform ? 1 : keys); ++key) lengths.push_back(length_of(key, is_uniform));
  return kv::store::create(test::shared_world(), SYNCYTE_FLOAT32, keys, std::ssize(lengths), lengths.data(),
                           {.name = "parameters", .workers = workers, .error = {}});
}

template <class Element>
syncyte_buffer_t buffer_of(std::vector<Element>& list, syncyte_dtype_t dtype) {
  const std::int64_t shape[] = {std::ssize(list)};
  return base::make_buffer(list.data(), dtype, shape);
}

syncyte_buffer_t keys_buffer(key_list& list) { return buffer_of(list, SYNCYTE_INT64); }

void prefetch(kv::worker& by, key_list keys) {
  const auto wanted = keys_buffer(keys);
  by.prefetch(&wanted);
}

/// An operation with its arrays, which live until the wait.
struct operation {
  enum kind { pull, pull_unique, push, push_unique, set };

  kv::worker::started run(kv::worker& by, completion when) {
    const auto wanted = keys_buffer(keys), given = buffer_of(values, SYNCYTE_FLOAT32);
    distinct.resize(keys.size(), -1);
    inverse.resize(keys.size(), -1);
    const auto found = keys_buffer(distinct), places = keys_buffer(inverse);
    switch (what) {
      case pull:
        return by.run(kv::pull, &wanted, &given, when);
      case push:
        return by.run(kv::push, &wanted, &given, when);
      case set:
        return by.run(kv::set, &wanted, &given, when);
      case push_unique:
        return by.push_unique(&wanted, &given, when);
      case pull_unique:
        return by.pull_unique(&wanted, &found, &places, &given, count, when);
    }
    return nullptr;
  }
  bool reads() const { return what == pull || what == pull_unique; }

  kind what;
  key_list keys;
  value_list values;
  key_list distinct = {}, inverse = {};
  std::int64_t count = -1;
  value_list expected = {};  // of the list, if it reads
  kv::worker::started in_flight = nullptr;
};

/// A user of a worker who is alone with its keys, and so knows their values.
class sequential_user {
 public:
  /// Its keys are `first`, `first` + `step` and so on.
  sequential_user(kv::worker& by, std::int64_t first, std::int64_t step, bool is_uniform)
      : by_(by), random_(static_cast<std::uint64_t>(first)), first_(first), step_(step), is_uniform_(is_uniform) {
    for (std::int64_t i = 0; i < keys; ++i) values_.emplace_back(length_of(first + step * i, is_uniform));
    for (int i = 0; i < 6; ++i) lists_.push_back(random_list());
  }

  void run_one() {
    const auto chosen = random_() % 20;
    if (chosen < 5) return prefetch(by_, any_list());
    if (chosen == 5) return by_.flush();
    if (chosen == 6) return localize();
    operation& next = operations_.emplace_back(make());
    model(next);
    const bool waits = random_() % 3 == 0;
    next.in_flight = next.run(by_, waits ? completion::on_return : completion::by_request);
    if (random_() % 8 == 0) check();
  }

  void check() {
    for (operation& each : operations_) {
      if (each.in_flight) each.in_flight->wait();
      if (each.reads()) check_values(each);
    }
    operations_.clear();
  }

 private:
  static constexpr std::int64_t keys = 30;

  std::int64_t length(std::int64_t key) const { return length_of(key, is_uniform_); }

  /// A pull's values, or those of the distinct keys put into the order of the list.
  void check_values(const operation& of) {
    if (of.what == operation::pull) {
      ASSERT_EQ(of.values, of.expected);
      return;
    }
    std::vector<const float*> places;
    const float* next = of.values.data();
    for (std::int64_t i = 0; i < of.count; ++i) {
      places.push_back(next);
      next += length(of.distinct[static_cast<std::size_t>(i)]);
    }
    value_list seen;
    for (std::size_t i = 0; i < of.keys.size(); ++i) {
      const auto place = static_cast<std::size_t>(of.inverse[i]);
      ASSERT_LT(place, places.size());
      ASSERT_EQ(of.distinct[place], of.keys[i]);
      seen.insert(seen.end(), places[place], places[place] + length(of.keys[i]));
    }
    ASSERT_EQ(seen, of.expected);
  }

  key_list random_list() {
    key_list result(random_() % 10 == 0 ? 3000 : 1 + random_() % 20);
    for (auto& key : result) key = first_ + step_ * static_cast<std::int64_t>(random_() % keys);
    return result;
  }

  /// Mostly one of a few lists, so that pulls find their prefetches.
  key_list any_list() { return random_() % 5 == 0 ? random_list() : lists_[random_() % lists_.size()]; }

  /// Moves keys of any user, whose values stay.
  void localize() {
    key_list list = random_list();
    for (auto& key : list) key += static_cast<std::int64_t>(random_() % static_cast<std::size_t>(step_)) - first_;
    const auto wanted = keys_buffer(list);
    by_.localize(&wanted, random_() % 2 == 0 ? completion::on_return : completion::by_request);
  }

  operation make() {
    constexpr operation::kind kinds[] = {operation::pull, operation::pull,        operation::pull_unique,
                                         operation::push, operation::push_unique, operation::set};
    operation result{.what = kinds[random_() % 6], .keys = any_list(), .values = {}};
    std::int64_t count = 0;
    for (const std::int64_t key : result.keys) count += length(key);
    result.values.resize(static_cast<std::size_t>(count), -100);
    if (!result.reads())
      for (auto& value : result.values) value = static_cast<float>(static_cast<int>(random_() % 19) - 9);
    return result;
  }

  void model(operation& next) {
    const float* given = next.values.data();
    for (const std::int64_t key : next.keys)
      for (float& value : values_[static_cast<std::size_t>((key - first_) / step_)]) {
        if (next.reads())
          next.expected.push_back(value);
        else
          value = *given + (next.what == operation::set ? 0 : value);
        ++given;
      }
  }

  kv::worker& by_;
  std::mt19937_64 random_;
  std::int64_t first_, step_;
  bool is_uniform_;
  std::vector<key_list> lists_;
  std::vector<value_list> values_;
  std::deque<operation> operations_;
};

TEST(kv_prefetch, a_worker_reads_its_own_writes) {
  for (const bool is_uniform : {true, false}) {
    const auto store = make_store(30 * world().size(), 1, is_uniform);
    kv::worker worker(store, 0);
    sequential_user user(worker, world().rank(), world().size(), is_uniform);
    for (int round = 0; round < 600; ++round) {
      user.run_one();
      if (round % 100 == 99) worker.barrier();
    }
    user.check();
    store->sync();
  }
}

/// Each thread has its own keys. A thread's prefetches may be dropped at any time; its pulls are right.
TEST(kv_prefetch, threads_that_share_a_worker_read_their_own_writes) {
  constexpr int threads = 3;
  const std::int64_t all = threads * world().size();
  const auto store = make_store(30 * all);
  kv::worker worker(store, 0);
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      sequential_user user(worker, world().rank() * threads + thread, all, true);
      for (int round = 0; round < 200; ++round) user.run_one();
      user.check();
    });
  running.clear();  // joins
  store->sync();
}

/// Ranks in turn, so that it is known what a prefetch has seen. Each push adds another power of two, so that a value
/// says which pushes it has.
class in_turn : public testing::Test {
 protected:
  static constexpr std::int64_t keys = 60;

  in_turn() : store(make_store(keys)), worker(store, 0) {}
  ~in_turn() override { store->sync(); }

  /// Rank 0 pushes to all keys.
  void push(float value) {
    key_list all(keys);
    std::iota(all.begin(), all.end(), 0);
    operation pushed{.what = operation::push, .keys = all, .values = value_list(keys * 4, value)};
    if (world().rank() == 0) pushed.run(worker, completion::on_return);
    collectives::barrier(world());
  }
  /// Prefetches whose values are here when all ranks go on.
  void prefetch_now(const key_list& wanted) {
    prefetch(worker, wanted);
    worker.flush();
    collectives::barrier(world());
  }
  float pulled(const key_list& wanted, completion when = completion::on_return) {
    operation pull{.what = operation::pull, .keys = wanted, .values = value_list(wanted.size() * 4, -1)};
    if (const auto rest = pull.run(worker, when)) rest->wait();
    EXPECT_EQ(pull.values, value_list(wanted.size() * 4, pull.values[0]));
    return pull.values[0];
  }
  /// What a rank other than 0 has of two pushes of which only the first is in the prefetch.
  float expected(float first, float second) const {
    return has_other_nodes() && world().rank() != 0 ? first : first + second;
  }

  const key_list list{3, 9, 3, 1, 30, 2, 0, 4};  // of up to five ranks
  std::shared_ptr<kv::store> store;
  kv::worker worker;
};

TEST_F(in_turn, the_next_pull_takes_a_prefetch_and_later_ones_do_not) {
  push(1);
  prefetch_now(list);
  push(2);
  EXPECT_EQ(pulled({3, 9}), 3);  // another list
  EXPECT_EQ(pulled(list), expected(1, 2));
  EXPECT_EQ(pulled(list), 3);
  for (const completion when : {completion::on_return, completion::by_request}) {
    collectives::barrier(world());
    prefetch_now(list);
    const float before = pulled({7});
    collectives::barrier(world());
    push(4);
    EXPECT_EQ(pulled(list, when), expected(before, 4));
    collectives::barrier(world());
  }
  EXPECT_EQ(worker.describe().pulled_keys, 2 + 8 + 8 + 2 * (1 + 8));
}

TEST_F(in_turn, own_changes_are_applied_in_their_order) {
  prefetch_now(list);
  push(1);
  const auto key = static_cast<std::int64_t>(world().rank());
  const key_list own{40 + key, 40 + key, 45 + key};
  prefetch_now(own);
  operation set{.what = operation::set, .keys = {40 + key, 45 + key}, .values = value_list(8, 8)};
  operation add{.what = operation::push_unique, .keys = own, .values = value_list(12, 16)};
  const auto first = set.run(worker, completion::by_request), second = add.run(worker, completion::by_request);
  operation pull{.what = operation::pull, .keys = own, .values = value_list(12, -1)};
  if (const auto rest = pull.run(worker, completion::by_request)) rest->wait();
  EXPECT_EQ(pull.values, (value_list{40, 40, 40, 40, 40, 40, 40, 40, 24, 24, 24, 24}));
  EXPECT_EQ(pulled(list), expected(0, 1));
  worker.flush();
}

TEST_F(in_turn, after_a_barrier_or_a_sync_a_pull_sees_all) {
  prefetch_now(list);
  push(1);
  worker.barrier();
  EXPECT_EQ(pulled(list), 1);
  collectives::barrier(world());
  prefetch_now(list);
  push(2);
  store->sync();
  EXPECT_EQ(pulled(list), 3);
}

TEST_F(in_turn, the_oldest_of_too_many_is_dropped) {
  constexpr auto most = static_cast<std::int64_t>(kv::prefetches::most);
  const auto list_of = [](std::int64_t number) { return key_list{number, number + 1, number + 2, number + 3, 50}; };
  for (std::int64_t number = 0; number <= most; ++number) prefetch_now(list_of(number));
  push(1);
  EXPECT_EQ(pulled(list_of(0)), 1);
  for (std::int64_t number = 1; number <= most; ++number) EXPECT_EQ(pulled(list_of(number)), expected(0, 1)) << number;
}

TEST_F(in_turn, of_one_list_the_oldest_prefetch_is_taken_first) {
  prefetch_now(list);
  push(1);
  prefetch_now(list);
  push(2);
  EXPECT_EQ(pulled(list), expected(0, 3));
  EXPECT_EQ(pulled(list), expected(1, 2));
  EXPECT_EQ(pulled(list), 3);
}

TEST_F(in_turn, a_unique_pull_takes_a_prefetch_of_the_whole_list) {
  push(1);
  prefetch_now(list);
  push(2);
  operation pull{.what = operation::pull_unique, .keys = list, .values = value_list(list.size() * 4, -1)};
  pull.run(worker, completion::on_return);
  EXPECT_EQ(pull.count, 7);
  EXPECT_EQ(pull.distinct, (key_list{3, 9, 1, 30, 2, 0, 4, -1}));
  EXPECT_EQ(pull.inverse, (key_list{0, 1, 0, 2, 3, 4, 5, 6}));
  for (std::size_t i = 0; i < pull.values.size(); ++i) EXPECT_EQ(pull.values[i], i < 28 ? expected(1, 2) : -1) << i;
}

TEST_F(in_turn, pull_if_local_takes_what_is_here) {
  key_list wanted = list;
  value_list values(list.size() * 4, -1);
  const auto keys_of_list = keys_buffer(wanted), room = buffer_of(values, SYNCYTE_FLOAT32);
  EXPECT_EQ(worker.pull_if_local(&keys_of_list, &room), !has_other_nodes());
  prefetch_now(list);
  push(1);
  EXPECT_TRUE(worker.pull_if_local(&keys_of_list, &room));
  EXPECT_EQ(values, value_list(list.size() * 4, expected(0, 1)));
  EXPECT_EQ(worker.pull_if_local(&keys_of_list, &room), !has_other_nodes());
}

TEST_F(in_turn, a_sample_does_not_take_a_prefetch) {
  syncyte_store_sampling_t options = SYNCYTE_STORE_SAMPLING_INIT;
  options.scheme = SYNCYTE_STORE_PREPARED;
  options.max_key = 1;
  store->set_sampling(options);
  prefetch_now({0, 0, 0});
  push(1);
  key_list drawn(3);
  value_list values(12, -1);
  const auto room = keys_buffer(drawn), found = buffer_of(values, SYNCYTE_FLOAT32);
  worker.pull_sample(worker.prepare_sample(3, 0, 0), &room, &found, completion::on_return);
  EXPECT_EQ(values, value_list(12, 1));
}

/// No hang and no crash when prefetches are in flight at the end of their worker, store and job.
TEST(kv_prefetch, is_given_up_with_its_worker) {
  constexpr std::int64_t keys = 6000;
  auto store = make_store(keys);
  key_list all(keys);
  std::iota(all.begin(), all.end(), 0);
  const key_list some(all.begin(), all.begin() + keys / 2);
  for (int round = 0; round < 12; ++round) {
    operation pull{.what = operation::pull, .keys = round % 2 == 0 ? some : all, .values = {}};
    pull.values.resize(pull.keys.size() * 4, -1);
    kv::worker worker(store, 0);
    for (int i = 0; i < 2 + round % 3 * 10; ++i) prefetch(worker, all);
    const auto in_flight = pull.run(worker, completion::by_request);
    if (in_flight && round % 3 == 0) in_flight->wait();
  }
  store.reset();
  collectives::barrier(world());
}

// ---- The list of prefetches, with operations in the place of pulls that end when the test wants it.

/// Ends when the test says so.
class transfer_by_hand final : public access::transfer {
 public:
  enum class outcome { in_flight, done, failed };
  explicit transfer_by_hand(std::shared_ptr<outcome> state) : state_(std::move(state)) {}
  bool test() override {
    if (*state_ == outcome::failed) throw base::error(SYNCYTE_ERR_PEER_DIED, "a rank has died");
    return *state_ == outcome::done;
  }
  void wait() override { test(); }
  void drive() override {}

 private:
  std::shared_ptr<outcome> state_;
};

using outcome = transfer_by_hand::outcome;

class prefetches_alone : public testing::Test {
 protected:
  prefetches_alone() : store(make_store(30)) {}
  ~prefetches_alone() override { store->sync(); }

  /// Values are 0.
  std::shared_ptr<outcome> add(const key_list& keys) {
    const auto before = waiting.changes();
    auto made = std::make_shared<kv::prefetched_keys>(*store, keys, nullptr);
    std::fill_n(made->room()->values.get(), 4 * made->distinct().keys().size(), 0.0f);
    auto state = std::make_shared<outcome>(outcome::in_flight);
    made->set_operation(
        std::make_shared<access::started>(std::shared_ptr<const void>(), std::make_unique<transfer_by_hand>(state)));
    in_flight.add(made->operation());
    waiting.add(std::move(made), *before);
    return state;
  }
  void push(const key_list& keys, float value) {
    kv::prefetches::change own(waiting);
    const value_list values(keys.size() * 4, value);
    own.has_started(kv::push, keys, values.data());
    own.has_succeeded();
  }
  value_list taken(const key_list& keys) {
    const auto found = waiting.take(keys);
    if (!found || found->look() != kv::prefetched_keys::state::here) return {};
    value_list result(keys.size() * 4);
    found->copy(kv::prefetched_keys::form::list, result.data());
    return result;
  }

  std::shared_ptr<kv::store> store;
  kv::started_operations in_flight;
  kv::prefetches waiting{*store, in_flight, true};
};

TEST_F(prefetches_alone, apply_changes_before_and_after_the_values_have_come) {
  const auto state = add({5, 6, 5});
  push({6, 7, 6}, 1);
  *state = outcome::done;
  push({5}, 2);
  EXPECT_EQ(taken({5, 6, 5}), (value_list{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}));
}

TEST_F(prefetches_alone, a_pull_finds_out_that_one_has_failed) {
  const auto state = add({5});
  EXPECT_EQ(waiting.take_if_here(key_list{5}), nullptr);
  *state = outcome::failed;
  EXPECT_EQ(waiting.take_if_here(key_list{5}), nullptr);
  const auto found = waiting.take(key_list{5});
  ASSERT_NE(found, nullptr);
  EXPECT_FALSE(found->await_values());
}

TEST_F(prefetches_alone, collect_a_bounded_amount_of_changes) {
  const auto first = add({5}), second = add({6});
  for (int i = 0; i < 100; ++i) push({5}, 1);
  EXPECT_EQ(waiting.take(key_list{5}), nullptr);
  EXPECT_EQ(in_flight.size(), 1u);  // it is given up
  *second = outcome::done;
  for (int i = 0; i < 100; ++i) push({6}, 1);
  EXPECT_EQ(taken({6}), value_list(4, 100));
}

TEST_F(prefetches_alone, are_dropped_if_their_order_is_unknown) {
  add({5});
  {
    kv::prefetches::change first(waiting), second(waiting);  // as of two threads
    const value_list values(4);
    first.has_started(kv::push, key_list{9}, values.data());
    first.has_succeeded();
    second.has_started(kv::push, key_list{9}, values.data());
    second.has_succeeded();
  }
  EXPECT_EQ(waiting.take(key_list{5}), nullptr);
  {
    const kv::prefetches::change failed(waiting);
    EXPECT_EQ(waiting.changes(), std::nullopt);
  }
  const auto before = waiting.changes();
  push({9}, 1);
  auto late = std::make_shared<kv::prefetched_keys>(*store, key_list{5}, nullptr);
  waiting.add(std::move(late), *before);
  EXPECT_EQ(waiting.take(key_list{5}), nullptr);
  EXPECT_EQ(in_flight.size(), 0u);
}

TEST_F(prefetches_alone, are_dropped_by_a_change_that_fails) {
  *add({5}) = outcome::done;
  {
    kv::prefetches::change own(waiting);
    const value_list values(4);
    own.has_started(kv::push, key_list{9}, values.data());
  }
  EXPECT_EQ(waiting.take(key_list{5}), nullptr);
}

}  // namespace
