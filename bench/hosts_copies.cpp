// SPDX-License-Identifier: BSD-3-Clause
// Keys that two hosts use at the same time, or in turn, with intents and without: each host has a copy, or the key
// moves.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "hosts.hpp"
#include "paired.hpp"
#include "store_program.hpp"
#include "syncyte/syncyte.hpp"

namespace {

using namespace syncyte::bench;

constexpr std::int64_t keys = 20000, length = 16, hot_keys = 1000, batch_keys = 300;
constexpr std::int64_t foreign_bytes = 64 << 20;
constexpr std::int64_t for_ever = std::int64_t{1} << 60;
constexpr int rounds = 7, steps_of_round = 100;

using key_list = std::vector<std::int64_t>;
using value_list = std::vector<float>;

/// A store and its worker on this host.
struct user {
  explicit user(const syncyte::communicator& world)
      : store(world, keys, length, {.foreign_bytes = foreign_bytes}), worker(store.worker()) {}

  /// Pulls keys, and pushes to them.
  void use(std::span<const std::int64_t> list) {
    values.resize(list.size() * length);
    worker.pull(list, values);
    std::fill(values.begin(), values.end(), 1.0f);
    worker.push(list, values);
    pushed += list.size();
  }

  syncyte::store store;
  syncyte::store_worker worker;
  value_list values;
  std::size_t pushed = 0;
};

/// Keys of any home.
key_list first_keys() {
  key_list result(hot_keys);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

/// Ends the job unless the sum of all values is that of all pushes.
void verify(user& of, const char* name) {
  of.worker.barrier();
  double pushed = static_cast<double>(of.pushed), all = 0;
  MPI_Allreduce(&pushed, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  value_list found(hot_keys * length);
  of.worker.pull(first_keys(), found);
  const double sum = std::accumulate(found.begin(), found.end(), 0.0);
  of.worker.barrier();
  if (sum == all * length) return;
  std::fprintf(stderr, "%s: the sum of all values is %g after pushes of %g\n", name, sum, all * length);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Both hosts use random batches of the same keys.
void measure_hot_set(const syncyte::communicator& world) {
  user plain(world), intending(world);
  const key_list hot = first_keys();
  intending.worker.intent(hot, 0, for_ever);
  intending.worker.flush();
  intending.worker.barrier();
  std::mt19937_64 random(static_cast<std::uint64_t>(works()));
  const auto steps = [&](user& of) {
    key_list shuffled = hot;
    for (int i = 0; i < steps_of_round; ++i) {
      std::shuffle(shuffled.begin(), shuffled.end(), random);
      of.use(std::span(shuffled).first(batch_keys));
    }
  };
  measure_rate(
      {"store: keys that two hosts use at the same time, with intents", "million keys/s", "without intents", "higher",
       3.0},
      2e-6 * steps_of_round * batch_keys, [&] { steps(intending); }, [&] { steps(plain); }, rounds);
  verify(plain, "hot set");
  verify(intending, "hot set with intents");
}

/// The hosts use the same keys in turn.
void measure_turns(const syncyte::communicator& world) {
  constexpr int steps_ahead = 4;
  user plain(world), intending(world);
  const key_list hot = first_keys();
  const int mine = works() ? 0 : 1;
  const auto intend = [&](std::int64_t step) {
    if (step % 2 == mine) intending.worker.intent(hot, step, step + 1);
  };
  for (std::int64_t step = 0; step < steps_ahead; ++step) intend(step);
  std::int64_t step = 0;
  const auto take_turns = [&](user& of, bool intends) {
    for (int i = 0; i < steps_of_round; ++i) {
      if (i % 2 == mine) of.use(hot);
      if (intends) {
        intend(step + steps_ahead);
        ++step;
        of.worker.advance_clock();
      }
      of.worker.barrier();
    }
  };
  measure_rate(
      {"store: keys that two hosts use in turn, with intents", "million keys/s", "without intents", "higher", 0.8},
      1e-6 * steps_of_round * hot_keys, [&] { take_turns(intending, true); }, [&] { take_turns(plain, false); },
      rounds);
  verify(plain, "turns");
  verify(intending, "turns with intents");
}

/// Host 0 adds to one key, host 1 sees it and adds to another one, which host 0 sees.
void measure_visibility(const syncyte::communicator& world) {
  constexpr int exchanges = 400;
  constexpr double allowed = 2e-3;
  user mine(world);
  const key_list both{0, 1};
  const auto homes = mine.store.owner(key_list{2, 3});
  const key_list remote{homes[0] == 1 ? 2 : 3};
  mine.worker.intent(both, 0, for_ever);
  mine.worker.flush();
  mine.worker.barrier();
  const value_list ones(length, 1.0f);
  value_list found(length);
  const auto see = [&](std::int64_t key, float value) {
    for (mine.worker.pull(key_list{key}, found); found[0] < value; mine.worker.pull(key_list{key}, found))
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  };
  float sent = 0;
  const auto there_and_back = [&] {
    ++sent;
    if (works()) mine.worker.push(key_list{0}, ones);
    see(works() ? 1 : 0, sent);
    if (!works()) mine.worker.push(key_list{1}, ones);
  };
  const auto p99 = [](std::vector<double>& seconds) {
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() * 99 / 100];
  };
  measure_figures(
      {"store: a push seen through a copy at another host, p99", "us", "3 x p99 of a one-key pull there, and 2 ms",
       "lower", 1.0},
      [&] {
        MPI_Barrier(MPI_COMM_WORLD);
        std::vector<double> seconds;
        for (int i = 0; i < exchanges; ++i) {
          const double begin = MPI_Wtime();
          there_and_back();
          seconds.push_back((MPI_Wtime() - begin) / 2);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        return 1e6 * p99(seconds);
      },
      [&] {
        value_list values(length);
        return 1e6 * (allowed + 3 * quantile_of_first(0.99, exchanges, [&] { mine.worker.pull(remote, values); }));
      },
      rounds);
}

void run(const syncyte::communicator& world) {
  measure_hot_set(world);
  measure_turns(world);
  measure_visibility(world);
}

}  // namespace

int main() { run_with_stores(run); }
