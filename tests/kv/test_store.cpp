// SPDX-License-Identifier: BSD-3-Clause
// A store of all ranks, on one node and on several: lists of keys against a simple loop, concurrent pushes, owners,
// samples.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/buffer.hpp"
#include "comm/split.hpp"
#include "core_world.hpp"
#include "distribution/partition.hpp"
#include "kv/key_items.hpp"
#include "kv/worker.hpp"
#include "mpi/small_collectives.hpp"
#include "reference.hpp"

namespace {

using namespace syncyte;
using test::world;
using key_list = std::vector<std::int64_t>;
using value_list = std::vector<float>;

constexpr syncyte_store_homes_t all_homes[] = {SYNCYTE_STORE_HOMES_CYCLIC, SYNCYTE_STORE_HOMES_HASH,
                                               SYNCYTE_STORE_HOMES_BLOCK};

std::shared_ptr<kv::store> make_store(std::int64_t keys, const key_list& lengths,
                                      syncyte_store_homes_t homes = SYNCYTE_STORE_HOMES_CYCLIC,
                                      std::shared_ptr<comm::communicator> comm = test::shared_world()) {
  return kv::store::create(std::move(comm), SYNCYTE_FLOAT32, keys, std::ssize(lengths), lengths.data(),
                           {.name = "parameters", .workers = 1, .homes = homes, .error = {}});
}

template <class Element>
syncyte_buffer_t buffer_of(std::vector<Element>& list, syncyte_dtype_t dtype) {
  const std::int64_t shape[] = {std::ssize(list)};
  return base::make_buffer(list.data(), dtype, shape);
}

TEST(store, names_are_equal_on_all_ranks_and_labels_may_differ) {
  const std::int64_t length = 2;
  const auto make = [&](const std::string& name, const std::string& label) {
    kv::store::create(test::shared_world(), SYNCYTE_FLOAT32, 10, 1, &length,
                      {.name = name, .workers = 1, .error = {}, .label = label});
  };
  const bool is_odd = world().rank() == world().size() - 1;
  const auto different = test::outcome_of([&] { make(is_odd ? "weights" : "biases", ""); });
  if (world().size() > 1)
    test::expect_error(different, SYNCYTE_ERR_MISMATCH, fmt::format("but \"weights\" on rank {}", world().size() - 1));
  make("weights", fmt::format("of rank {}", world().rank()));
}

/// One operation of one rank, which every rank can compute.
struct turn {
  turn(int round, const key_list& lengths) : writer(round % world().size()), sets(round / 2 % 3 == 0) {
    const auto keys_of_all = static_cast<std::int64_t>(lengths.size());
    keys = reference::random_rows<std::int64_t>(21, round, round % 4 == 3 ? 20000 : 1 + round * 7, keys_of_all);
    for (const std::int64_t key : keys)
      for (std::int64_t i = 0; i < lengths[static_cast<std::size_t>(key)]; ++i)
        values.push_back(static_cast<float>(reference::random_integer(22, round, std::ssize(values), -9, 9)));
  }

  void apply(kv::store& to) const {
    value_list given = values;
    if (world().rank() == writer) to.run(sets ? kv::set : kv::push, keys, given.data());
  }
  void apply(std::vector<value_list>& to) const {
    const float* given = values.data();
    for (const std::int64_t key : keys)
      for (float& element : to[static_cast<std::size_t>(key)]) {
        element = sets ? *given : element + *given;
        ++given;
      }
  }

  int writer;
  bool sets;
  key_list keys;
  value_list values;
};

/// Ranks write in turn; each rank pulls each other's writes, in random order.
void check_against_loop(const key_list& lengths, syncyte_store_homes_t homes) {
  const auto keys = static_cast<std::int64_t>(lengths.size());
  const bool are_equal = std::ranges::all_of(lengths, [&](std::int64_t each) { return each == lengths[0]; });
  const auto store = make_store(keys, are_equal ? key_list{lengths[0]} : lengths, homes);
  std::vector<value_list> expected;
  for (const std::int64_t length : lengths) expected.emplace_back(static_cast<std::size_t>(length), 0.0f);
  for (int round = 0; round < 12; ++round) {
    const turn one(round, lengths);
    one.apply(*store);
    one.apply(expected);
    store->sync();
    const key_list wanted = reference::random_rows<std::int64_t>(23 + round, world().rank(), 3000, keys);
    value_list right, found(static_cast<std::size_t>(store->check(wanted)), -100);
    for (const std::int64_t key : wanted)
      for (const float element : expected[static_cast<std::size_t>(key)]) right.push_back(element);
    store->run(kv::pull, wanted, found.data());
    ASSERT_EQ(found, right) << "round " << round;
    store->sync();
  }
}

TEST(kv_store, equals_the_loop_for_vectors_of_one_length) {
  for (const auto homes : all_homes) {
    check_against_loop(key_list(1000, 16), homes);
    check_against_loop(key_list(77, 3), homes);
    check_against_loop(key_list(2, 9), homes);  // fewer keys than ranks
  }
}

TEST(kv_store, equals_the_loop_for_vectors_of_any_length) {
  key_list lengths(300);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = 1 + static_cast<std::int64_t>(i * 7 % 60);
  for (const auto homes : all_homes) check_against_loop(lengths, homes);
}

/// Threads of all ranks push to the same keys, in lists with repeated keys and of several requests, and set a key that
/// they alone write.
TEST(kv_store, counts_concurrent_pushes_exactly) {
  constexpr std::int64_t shared = 500, length = 16, rounds = 12;
  constexpr int threads = 3;
  const int all = threads * world().size();
  const auto store = make_store(shared + all, {length});
  const auto list_of = [&](int user, std::int64_t round) {
    key_list keys = reference::random_rows<std::int64_t>(31 + static_cast<std::uint64_t>(round), user,
                                                         round % 4 == 0 ? 6000 : 40, shared);
    keys.push_back(shared + user);
    return keys;
  };
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&, user = world().rank() * threads + thread] {
      const key_list own{shared + user};
      value_list mine(length);
      for (std::int64_t round = 0; round < rounds; ++round) {
        const key_list keys = list_of(user, round);
        value_list ones(keys.size() * length, 1.0f);
        store->run(kv::push, keys, ones.data());
        store->run(kv::pull, own, mine.data());
        EXPECT_EQ(mine, value_list(length, static_cast<float>(round + 1)));  // a rank sees its own writes
        if (round == 5) {
          store->run(kv::set, own, value_list(length, 1.0f).data());
          store->run(kv::push, key_list(5, own[0]), value_list(5 * length, 1.0f).data());
        }
      }
    });
  running.clear();  // joins
  store->sync();
  value_list expected(static_cast<std::size_t>(shared + all), 0.0f);
  for (int user = 0; user < all; ++user)
    for (std::int64_t round = 0; round < rounds; ++round)
      for (const std::int64_t key : list_of(user, round)) ++expected[static_cast<std::size_t>(key)];
  key_list keys(expected.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int64_t>(i);
  value_list found(keys.size() * length);
  store->run(kv::pull, keys, found.data());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], expected[i / length]) << i;
  store->sync();
}

/// In this order of ranks, those of a node do not follow each other if several nodes have several ranks.
TEST(kv_store, nodes_may_have_any_ranks) {
  const auto mixed = comm::split(world(), 0, world().node().rank, {});
  const auto store = make_store(100, {3}, SYNCYTE_STORE_HOMES_CYCLIC, mixed);
  key_list keys(100);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int64_t>(i * 37 % 100);
  value_list values;
  for (const std::int64_t key : keys) values.insert(values.end(), 3, static_cast<float>(key));
  for (int turn = 0; turn < 3; ++turn) store->run(kv::push, keys, values.data());
  store->sync();
  value_list found(300);
  store->run(kv::pull, keys, found.data());
  const auto pushes = static_cast<float>(3 * mixed->size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], pushes * values[i]) << i;
  store->sync();
}

/// The first rank of each node, then the second ones, and so on.
std::vector<std::int32_t> nodes_in_turn() {
  const std::vector<int> node_of = mpi::allgather(world().node().index, world().data());
  std::vector<std::int32_t> result;
  for (int turn = 0; std::ssize(result) < world().size(); ++turn)
    for (int node = 0; node < world().node().count; ++node) {
      int left = turn;
      for (int rank = 0; rank < world().size(); ++rank)
        if (node_of[static_cast<std::size_t>(rank)] == node && left-- == 0) result.push_back(rank);
    }
  return result;
}

TEST(kv_store, owners_are_the_homes_of_keys) {
  const int ranks = world().size();
  const auto block = distribution::partition::equal(10, ranks);
  for (const auto homes : all_homes) {
    const auto store = make_store(10, {2}, homes);
    key_list keys{9, 0, 4, 4, 1, 2, 3, 5, 6, 7, 8};
    std::vector<std::int32_t> owners(keys.size());
    store->owner({keys.data(), std::ssize(keys)}, owners.data());
    std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (homes == SYNCYTE_STORE_HOMES_CYCLIC) {
        EXPECT_EQ(owners[i], nodes_in_turn()[static_cast<std::size_t>(keys[i] % ranks)]);
      }
      if (homes == SYNCYTE_STORE_HOMES_BLOCK) {
        EXPECT_EQ(owners[i], block.owner(keys[i]));
      }
      EXPECT_EQ(store->are_local(key_list{keys[i]}), world().node().is_here(owners[i]));
      if (i != 3) ++counts.at(static_cast<std::size_t>(owners[i]));
    }
    EXPECT_LE(std::ranges::max(counts) - std::ranges::min(counts), 1);
    store->sync();
  }
}

TEST(kv_store, homes_are_checked_and_equal_on_all_ranks) {
  test::expect_error(test::outcome_of([] { make_store(3, {1}, 4); }), SYNCYTE_ERR_ARGUMENT, "options->homes is 4");
  if (world().size() == 1) return;
  const auto mixed = world().rank() == 0 ? SYNCYTE_STORE_HOMES_HASH : SYNCYTE_STORE_HOMES_BLOCK;
  test::expect_error(test::outcome_of([&] { make_store(3, {1}, mixed); }), SYNCYTE_ERR_MISMATCH, "homes");
}

syncyte_store_sampling_t options_of(std::int32_t scheme, std::int32_t distribution, std::int64_t first,
                                    std::int64_t end) {
  syncyte_store_sampling_t options = SYNCYTE_STORE_SAMPLING_INIT;
  options.scheme = scheme;
  options.distribution = distribution;
  options.min_key = first;
  options.max_key = end;
  return options;
}

key_list sample_of(kv::worker& by, std::int64_t count, std::int64_t values_each) {
  key_list drawn(static_cast<std::size_t>(count));
  value_list values(static_cast<std::size_t>(count * values_each));
  const auto keys = buffer_of(drawn, SYNCYTE_INT64), room = buffer_of(values, SYNCYTE_FLOAT32);
  const auto pulled = by.pull_sample(by.prepare_sample(count, 0, 0), &keys, &room, kv::completion::by_request);
  if (pulled) pulled->wait();
  return drawn;
}

/// Whether counts are those of probabilities; wrong in one of some million cases.
void expect_distributed(const std::vector<double>& probabilities, const std::vector<std::int64_t>& counts) {
  double total = 0, chi_square = 0;
  int cells = -1;
  for (const std::int64_t count : counts) total += static_cast<double>(count);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = probabilities[i] * total, found = static_cast<double>(counts[i]);
    if (expected == 0) {
      EXPECT_EQ(counts[i], 0) << i;
      continue;
    }
    chi_square += (found - expected) * (found - expected) / expected;
    ++cells;
  }
  EXPECT_LT(chi_square, cells + 6 * std::sqrt(2.0 * cells) + 10);
}

/// Each rank's samples of the local scheme: keys of the whole range, each in place of those below it that are not
/// local.
TEST(kv_store, local_samples_follow_the_distribution) {
  constexpr std::int64_t first = 5, end = 65, all_keys = 80;
  key_list lengths(all_keys);
  for (std::int64_t key = 0; key < all_keys; ++key) lengths[static_cast<std::size_t>(key)] = key % 7 == 1 ? 2 : 3;
  for (const auto homes : all_homes)
    for (const auto distribution : {SYNCYTE_STORE_UNIFORM, SYNCYTE_STORE_LOG_UNIFORM}) {
      const auto store = make_store(all_keys, lengths, homes);
      kv::worker worker(store, 0);
      store->set_sampling(options_of(SYNCYTE_STORE_LOCAL, distribution, first, end));
      const auto has_length = [&](std::int64_t key) { return lengths[static_cast<std::size_t>(key)] == 3; };
      const auto moves = [&](std::int64_t key) {
        return !has_length(key) || (homes != SYNCYTE_STORE_HOMES_BLOCK && !store->are_local(key_list{key}));
      };
      bool is_any_here = false;
      for (std::int64_t key = first; key < end; ++key) is_any_here |= !moves(key);
      ASSERT_TRUE(is_any_here);
      std::vector<double> expected(end);
      double sum = 0;
      for (std::int64_t key = first; key < end; ++key) {
        if (!has_length(key)) continue;
        const double n = static_cast<double>(key - first + 1);
        const double weight = distribution == SYNCYTE_STORE_UNIFORM ? 1 : std::log((n + 1) / n);
        std::int64_t taken = key;
        while (moves(taken)) taken = taken + 1 == end ? first : taken + 1;
        expected[static_cast<std::size_t>(taken)] += weight;
        sum += weight;
      }
      for (double& each : expected) each /= sum;
      std::vector<std::int64_t> counts(end);
      for (const std::int64_t key : sample_of(worker, 20000, 3)) ++counts.at(static_cast<std::size_t>(key));
      expect_distributed(expected, counts);
      store->sync();
    }
}

/// With as many ranks on each node, a node's keys have equally many others before them.
TEST(kv_store, uniform_local_samples_take_each_local_key_equally_often) {
  std::vector<int> ranks_of(static_cast<std::size_t>(world().node().count));
  for (const int node : mpi::allgather(world().node().index, world().data()))
    ++ranks_of[static_cast<std::size_t>(node)];
  if (std::ranges::min(ranks_of) != std::ranges::max(ranks_of)) GTEST_SKIP() << "the nodes differ";
  const std::int64_t keys = 12 * world().size();
  const auto store = make_store(keys, {3});
  kv::worker worker(store, 0);
  store->set_sampling(options_of(SYNCYTE_STORE_LOCAL, SYNCYTE_STORE_UNIFORM, 0, keys));
  std::vector<double> expected(static_cast<std::size_t>(keys));
  for (std::int64_t key = 0; key < keys; ++key)
    if (store->are_local(key_list{key}))
      expected[static_cast<std::size_t>(key)] = static_cast<double>(world().node().count) / static_cast<double>(keys);
  std::vector<std::int64_t> counts(expected.size());
  for (const std::int64_t key : sample_of(worker, 20000, 3)) ++counts.at(static_cast<std::size_t>(key));
  expect_distributed(expected, counts);
  store->sync();
}

/// The keys that can be drawn are all of one rank. Ranks of other nodes look at 256 keys, and take the one drawn.
TEST(kv_store, a_local_sample_without_a_local_key_has_the_keys_drawn) {
  const std::int64_t ranks = world().size(), keys = 300 * ranks;
  key_list lengths(static_cast<std::size_t>(keys), 2);
  for (std::int64_t key = 0; key < keys; key += ranks) lengths[static_cast<std::size_t>(key)] = 3;
  const auto store = make_store(keys, lengths);
  kv::worker worker(store, 0);
  store->set_sampling(options_of(SYNCYTE_STORE_LOCAL, SYNCYTE_STORE_UNIFORM, 0, keys));
  std::vector<std::int64_t> counts(300);
  for (const std::int64_t key : sample_of(worker, 20000, 3)) {
    ASSERT_EQ(key % ranks, 0);
    ++counts[static_cast<std::size_t>(key / ranks)];
  }
  expect_distributed(std::vector<double>(300, 1.0 / 300), counts);
  store->sync();
}

/// Samples without replacement of all of 4 keys: each order has the probability of draws one after another.
TEST(kv_store, samples_without_replacement_follow_the_distribution) {
  const auto store = make_store(4, {1});
  kv::worker worker(store, 0);
  auto options = options_of(SYNCYTE_STORE_PREPARED, SYNCYTE_STORE_LOG_UNIFORM, 0, 4);
  options.with_replacement = 0;
  store->set_sampling(options);
  std::vector<key_list> orders;
  std::vector<double> expected;
  key_list order{0, 1, 2, 3};
  do {
    double left = 1, probability = 1;
    for (const std::int64_t key : order) {
      const double n = static_cast<double>(key + 1), share = std::log((n + 1) / n) / std::log(5.0);
      probability *= share / left;
      left -= share;
    }
    orders.push_back(order);
    expected.push_back(probability);
  } while (std::ranges::next_permutation(order).found);
  std::vector<std::int64_t> counts(orders.size());
  for (int round = 0; round < 20000; ++round) {
    key_list drawn(4);
    value_list values(4);
    const auto keys = buffer_of(drawn, SYNCYTE_INT64), room = buffer_of(values, SYNCYTE_FLOAT32);
    const std::int64_t sample = worker.prepare_sample(4, 0, 0);
    const bool waits = round % 1000 == 0;
    const auto pulled =
        worker.pull_sample(sample, &keys, &room, waits ? kv::completion::by_request : kv::completion::on_return);
    if (pulled) pulled->wait();
    ++counts[static_cast<std::size_t>(std::ranges::find(orders, drawn) - orders.begin())];
  }
  expect_distributed(expected, counts);
  store->sync();
}

/// Draws by trial would find one such key in 30,000 trials.
TEST(kv_store, rare_keys_are_drawn_fast) {
  constexpr std::int64_t many = 100000;
  key_list lengths(many, 1);
  for (const std::int64_t key : {std::int64_t{0}, std::int64_t{1000}, many - 1})
    lengths[static_cast<std::size_t>(key)] = 2;
  const auto store = make_store(many, lengths);
  kv::worker worker(store, 0);
  for (const auto scheme : {SYNCYTE_STORE_PREPARED, SYNCYTE_STORE_SHARED}) {
    store->set_sampling(options_of(scheme, SYNCYTE_STORE_UNIFORM, 0, many));
    std::vector<std::int64_t> counts(3);
    for (const std::int64_t key : sample_of(worker, 20000, 2)) ++counts[key == 0 ? 0 : key == 1000 ? 1 : 2];
    expect_distributed(std::vector<double>(3, 1.0 / 3), counts);
  }
  auto options = options_of(SYNCYTE_STORE_PREPARED, SYNCYTE_STORE_LOG_UNIFORM, 1, many);
  options.with_replacement = 0;
  store->set_sampling(options);
  key_list all = sample_of(worker, many - 3, 1);  // all keys of one value
  std::ranges::sort(all);
  EXPECT_TRUE(std::ranges::adjacent_find(all) == all.end());
  store->sync();
}

/// More keys are asked for than are local: the sample has all of the range.
TEST(kv_store, samples_without_replacement_go_beyond_local_keys) {
  const auto store = make_store(20, {1});
  kv::worker worker(store, 0);
  syncyte_store_sampling_t options = SYNCYTE_STORE_SAMPLING_INIT;
  options.with_replacement = 0;
  options.min_key = 1;
  options.max_key = 20;
  store->set_sampling(options);
  key_list drawn(19);
  value_list values(19);
  const auto keys = buffer_of(drawn, SYNCYTE_INT64), room = buffer_of(values, SYNCYTE_FLOAT32);
  worker.pull_sample(worker.prepare_sample(19, 0, 0), &keys, &room, kv::completion::on_return);
  std::ranges::sort(drawn);
  for (std::int64_t i = 0; i < 19; ++i) EXPECT_EQ(drawn[static_cast<std::size_t>(i)], i + 1);
  store->sync();
}

TEST(kv_store, vectors_have_a_limit_on_several_nodes) {
  const std::int64_t most = kv::key_items::most_values;
  const auto store = make_store(3, {most});
  value_list ones(static_cast<std::size_t>(most), 1.0f);
  store->run(kv::push, key_list{2}, ones.data());
  store->sync();
  value_list found(ones.size());
  store->run(kv::pull, key_list{2}, found.data());
  EXPECT_EQ(found.front(), static_cast<float>(world().size()));
  EXPECT_EQ(found.back(), static_cast<float>(world().size()));
  const auto longer = test::outcome_of([&] { make_store(3, {most + 1}); });
  if (world().node().count == 1)
    EXPECT_EQ(longer.status, SYNCYTE_SUCCESS);
  else
    test::expect_error(longer, SYNCYTE_ERR_UNSUPPORTED, "lengths[0] is 65535; expected at most 65534 on several nodes");
  store->sync();
}

/// Runs with SYNCYTE_FABRIC=off.
TEST(kv_store, is_refused_on_several_nodes_without_the_fabric) {
  const char* const fabric = std::getenv("SYNCYTE_FABRIC");
  if (world().node().count == 1 || fabric == nullptr || std::string(fabric) != "off") return;
  const auto made = test::outcome_of([] { make_store(3, {1}); });
  test::expect_error(made, SYNCYTE_ERR_UNSUPPORTED,
                     "expected ranks of one node, which share memory, because between nodes there is no fabric: "
                     "SYNCYTE_FABRIC is off");
}

}  // namespace
