// SPDX-License-Identifier: BSD-3-Clause
// Keys move between simulated nodes while their workers use them and messages are lost, doubled, delayed and overtaken.
// Arguments: the number of operations, a seed, and the number of one part. Runs under ThreadSanitizer.
//
// Each worker adds 1 to its own element of a key's vector. A pull must find as many of the puller's own additions as it
// has begun before. Those of other workers never become fewer, nor more than were begun. Other keys are set by one
// worker each, all elements to one number that grows.

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "linear_history.hpp"
#include "simulated_store.hpp"
#include "watchdog/interrupts.hpp"

namespace {

using namespace syncyte;
using namespace std::chrono_literals;
using test::simulated_store;
using test::simulated_worker;
using test::timed_operation;
using until = simulated_worker::until;
using key_list = std::vector<std::int64_t>;
using value_list = std::vector<float>;

constexpr int workers = 6;
constexpr std::size_t length = workers;  // of a vector
constexpr std::int64_t shared_keys = 18, keys = shared_keys + 2 * workers;

/// Memory of a node for this many keys of other nodes.
constexpr std::size_t bytes_for(std::size_t records) {
  const std::size_t record = (4 + length / 2) * sizeof(std::uint64_t);
  return (records * record + 63) / 64 * 64;
}

constexpr fabric::time_limits limits{.resend = 5ms, .deadline = 60s};

std::atomic<int> failures = 0;

template <class... Arguments>
void fail(const char* format, Arguments... arguments) {
  if (failures.fetch_add(1, std::memory_order_relaxed) < 20) std::fprintf(stderr, format, arguments...);
}

/// What each worker does now, for the report of a hang. Relaxed order, which hides no race from ThreadSanitizer.
struct activity {
  std::atomic<std::int64_t> done = 0;
  std::atomic<const char*> what = "nothing";
  std::atomic<std::int64_t> key = 0;

  void begin(const char* doing, std::int64_t first_key) {
    what.store(doing, std::memory_order_relaxed);
    key.store(first_key, std::memory_order_relaxed);
    done.fetch_add(1, std::memory_order_relaxed);
  }
};
std::array<activity, workers> activities;

/// Ends the program if nothing is done for long.
class hang_watch {
 public:
  hang_watch()
      : thread_([](const std::stop_token& end) {
          std::int64_t last = -1;
          for (auto moved = std::chrono::steady_clock::now(); !end.stop_requested();
               std::this_thread::sleep_for(50ms)) {
            std::int64_t now = 0;
            for (const activity& each : activities) now += each.done.load(std::memory_order_relaxed);
            if (std::exchange(last, now) != now) moved = std::chrono::steady_clock::now();
            if (std::chrono::steady_clock::now() - moved > longest) report();
          }
        }) {}

 private:
  static constexpr auto longest = 20s;

  [[noreturn]] static void report() {
    std::fprintf(stderr, "hang:\n");
    for (int i = 0; i < workers; ++i)
      std::fprintf(stderr, "worker %d: %s of key %lld\n", i, activities[i].what.load(),
                   static_cast<long long>(activities[i].key.load()));
    std::_Exit(1);
  }

  std::jthread thread_;
};

/// Additions to each element of each key, and sets, that have begun.
class begun_writes {
 public:
  std::int64_t count(std::int64_t key, int worker) const {
    return counts_[index(key, worker)].load(std::memory_order_relaxed);
  }
  void add(std::int64_t key, int worker) { counts_[index(key, worker)].fetch_add(1, std::memory_order_relaxed); }

 private:
  static std::size_t index(std::int64_t key, int worker) {
    return static_cast<std::size_t>(key) * workers + static_cast<std::size_t>(worker);
  }
  std::vector<std::atomic<std::int64_t>> counts_ = std::vector<std::atomic<std::int64_t>>(keys * workers);
};

bool is_shared(std::int64_t key) { return key < shared_keys; }
/// Each worker sets two keys: one of its own rank, and one of another node.
enum class home { own, far };
std::int64_t key_of_setter(int worker, home at) {
  return shared_keys + (at == home::own ? worker : workers + (worker + workers / 2) % workers);
}
int setter_of(std::int64_t key) {
  const auto place = static_cast<int>(key - shared_keys);
  return place < workers ? place : (place + workers / 2) % workers;
}

/// A worker's thread: random operations, whose results it checks in the order of their begins.
class storm_worker {
 public:
  storm_worker(simulated_store& store, begun_writes& begun, int number, std::uint32_t seed)
      : begun_(begun),
        number_(number),
        worker_(store.at(number * store.shape().ranks() / workers)),
        random_(seed * 1000 + static_cast<std::uint32_t>(number)) {}

  void run(std::int64_t operations) {
    for (std::int64_t i = 0; i < operations; ++i) step();
    finish();
  }
  void finish() {
    while (!in_flight_.empty()) check_first();
    while (!windows_.empty()) close_window();
    worker_.flush();
  }

  void push(const key_list& list, until end) {
    note("a push", list);
    value_list values;
    for (const std::int64_t key : list) {
      begun_.add(key, number_);
      for (std::size_t i = 0; i < length; ++i)
        values.push_back(!is_shared(key) || i == static_cast<std::size_t>(number_) ? 1.0f : 0.0f);
    }
    add(kv::push, list, std::move(values), end);
  }

  void pull(const key_list& list, until end) {
    note("a pull", list);
    add(kv::pull, list, value_list(list.size() * length, -1.0f), end);
  }

  void localize(const key_list& list, until end) {
    note("a localize", list);
    const auto started = worker_.localize(list, end);
    if (started) in_flight_.push_back({.what = nullptr, .keys = list, .started = started});
  }

  /// Sets one of this worker's keys several times in one list.
  void set_own(home at, std::int64_t times, until end) {
    const key_list list(static_cast<std::size_t>(times), key_of_setter(number_, at));
    note("a set", list);
    value_list values;
    for (const std::int64_t key : list) {
      begun_.add(key, number_);
      values.insert(values.end(), length, static_cast<float>(begun_.count(key, number_)));
    }
    add(kv::set, list, std::move(values), end);
  }

 private:
  struct operation {
    const kv::operation* what;  // null: localize
    key_list keys;
    value_list values = {};
    value_list own = {};  // this worker's writes to each key when a pull began
    simulated_worker::started started = nullptr;
  };
  static constexpr std::size_t most_in_flight = 24, most_windows = 3;

  std::int64_t draw(std::int64_t end) { return static_cast<std::int64_t>(random_() % static_cast<unsigned>(end)); }
  key_list repeated_key() { return key_list(static_cast<std::size_t>(20 + draw(40)), shared_key()); }
  until any_end() { return draw(5) < 3 ? until::begun : until::done; }
  std::int64_t shared_key() { return draw(3) == 0 ? draw(3) : draw(shared_keys); }

  home any_home() { return draw(2) == 0 ? home::own : home::far; }
  std::int64_t own_key() { return key_of_setter(number_, any_home()); }

  key_list random_keys(bool has_others) {
    key_list result(static_cast<std::size_t>(1 + draw(4)));
    for (auto& key : result) key = has_others && draw(4) == 0 ? shared_keys + draw(keys - shared_keys) : shared_key();
    return result;
  }

  void note(const char* what, const key_list& list) {
    activities[static_cast<std::size_t>(number_)].begin(what, list.front());
  }

  void step() {
    const std::int64_t kind = draw(100);
    if (kind < 30)
      push(random_keys(false), any_end());
    else if (kind < 50)
      pull(random_keys(true), any_end());
    else if (kind < 55)
      pull(repeated_key(), any_end());
    else if (kind < 61)
      localize(random_keys(true), any_end());
    else if (kind < 67)
      change_windows();
    else if (kind < 77)
      set_own(any_home(), 1 + draw(3), any_end());
    else if (kind < 84)
      push({own_key()}, any_end());
    else if (kind < 91)
      pull_here();
    else if (kind < 98)
      chase(draw(2) == 0 ? shared_key() : own_key());
    else
      finish();
    while (in_flight_.size() > most_in_flight) check_first();
  }

  /// Opens a window of an intent, or closes the oldest one.
  void change_windows() {
    if (windows_.size() > most_windows && draw(2) == 0) return close_window();
    windows_.push_back(random_keys(true));
    note("an intent", windows_.back());
    if (windows_.size() <= most_windows + 1) return worker_.open_window(windows_.back());
    worker_.open_and_close_window(windows_.back(), windows_.front());
    windows_.pop_front();
  }
  void close_window() {
    worker_.close_window(windows_.front());
    windows_.pop_front();
  }

  /// Operations in flight on one key, which comes here meanwhile, and is then used at once.
  void chase(std::int64_t key) {
    for (std::int64_t i = 0, count = 1 + draw(3); i < count; ++i) push({key}, until::begun);
    localize({key}, draw(3) == 0 ? until::begun : until::done);
    push({key}, any_end());
    if (draw(2) == 0) pull({key}, until::begun);
    push({key}, any_end());
    pull({key}, until::done);
  }

  void pull_here() {
    const key_list list{draw(3) == 0 ? own_key() : shared_key()};
    note("a pull of local keys", list);
    operation pulled{.what = &kv::pull, .keys = list, .values = value_list(length, -1.0f), .own = own_of(list)};
    if (!worker_.pull_here(list, pulled.values)) {
      if (std::ranges::count(pulled.values, -1.0f) != length)
        fail("a refused pull of key %d has written values\n", static_cast<int>(list[0]));
      return;
    }
    in_flight_.push_back(std::move(pulled));
  }

  value_list own_of(const key_list& list) const {
    value_list result;
    for (const std::int64_t key : list) result.push_back(static_cast<float>(begun_.count(key, number_)));
    return result;
  }

  void add(const kv::operation& what, const key_list& list, value_list values, until end) {
    operation& made = in_flight_.emplace_back(&what, list, std::move(values), own_of(list));
    made.started = worker_.run(what, list, made.values.data(), end);
  }

  void check_first() {
    operation& first = in_flight_.front();
    if (first.started) first.started->wait();
    if (first.what == &kv::pull) check_pull(first);
    in_flight_.pop_front();
  }

  void check_pull(const operation& pulled) {
    for (std::size_t i = 0; i < pulled.keys.size(); ++i) {
      const std::int64_t key = pulled.keys[i];
      const float* const found = pulled.values.data() + i * length;
      is_shared(key) ? check_shared(key, found, pulled.own[i]) : check_set(key, found, pulled.own[i]);
      // A later place of a key that repeats shows no older value.
      for (int other = 0; other < workers; ++other) {
        float& seen = seen_of(key, other);
        seen = std::max(seen, found[other]);
      }
    }
  }

  void check_shared(std::int64_t key, const float* found, float own) {
    for (int other = 0; other < workers; ++other) check(key, other, found[other], own, other == number_);
  }

  void check_set(std::int64_t key, const float* found, float own) {
    for (std::size_t i = 1; i < length; ++i)
      if (found[i] != found[0])
        fail("worker %d: key %d is torn: %g and %g\n", number_, static_cast<int>(key), found[0], found[i]);
    check(key, setter_of(key), found[0], own, setter_of(key) == number_);
  }

  void check(std::int64_t key, int writer, float found, float own, bool is_own) {
    const float least = is_own ? own : seen_of(key, writer);
    const float most = is_own ? own : static_cast<float>(begun_.count(key, writer));
    if (found >= least && found <= most) return;
    fail("worker %d: a pull of key %d has %g writes of worker %d, expected %g to %g\n", number_, static_cast<int>(key),
         found, writer, least, most);
  }

  float& seen_of(std::int64_t key, int writer) {
    return seen_[static_cast<std::size_t>(key) * workers + static_cast<std::size_t>(writer)];
  }

  begun_writes& begun_;
  const int number_;
  std::deque<operation> in_flight_;  // addresses of values stay; destroyed after the worker
  simulated_worker worker_;
  std::minstd_rand random_;
  value_list seen_ = value_list(keys * workers);
  std::deque<key_list> windows_;  // open ones
};

/// Runs a function with each worker's number, each in a thread.
template <class Run>
void in_threads(Run&& run) {
  std::vector<std::jthread> threads;
  for (int number = 0; number < workers; ++number)
    threads.emplace_back([&, number] {
      try {
        run(number);
      } catch (const std::exception& error) {
        fail("worker %d: %s\n", number, error.what());
      }
    });
}

/// All operations have ended: each key is at one node, and has all writes.
void check_end(simulated_store& store, const begun_writes& begun) {
  simulated_worker reader(store.at(0));
  for (std::int64_t key = 0; key < keys; ++key) {
    value_list found(length, -1.0f);
    reader.run(kv::pull, key_list{key}, found.data(), until::done);
    for (std::size_t i = 0; i < length; ++i) {
      const int writer = is_shared(key) ? static_cast<int>(i) : setter_of(key);
      const auto expected = static_cast<float>(begun.count(key, writer));
      if (found[i] != expected)
        fail("key %d has %g writes of worker %d at the end, expected %g\n", static_cast<int>(key), found[i], writer,
             expected);
    }
    int nodes = 0;
    const auto begin = std::chrono::steady_clock::now();
    do {  // a key that a node has given back is on its way for a moment
      nodes = 0;
      for (int node = 0; node < store.shape().nodes; ++node)
        nodes += store.at(store.agent_of(node)).are_here(key_list{key});
    } while (nodes != 1 && std::chrono::steady_clock::now() - begin < 5s);
    if (nodes != 1) fail("key %d is at %d nodes\n", static_cast<int>(key), nodes);
  }
}

constexpr test::loopback_faults faults{.drop = 0.02, .duplicate = 0.05, .reorder = 0.1, .hold = 300us, .keep = 0.1};

/// `records`: how many keys of other nodes a node has memory for.
void storm(std::int64_t operations, std::uint32_t seed, int ranks_per_node, std::size_t records,
           const test::loopback_faults& with) {
  simulated_store store({.nodes = 3,
                         .ranks_per_node = ranks_per_node,
                         .keys = keys,
                         .length = length,
                         .foreign_bytes = bytes_for(records)},
                        seed, limits);
  store.network().set_faults(with);
  begun_writes begun;
  in_threads([&](int number) { storm_worker(store, begun, number, seed).run(operations / workers); });
  check_end(store, begun);
  std::printf("%llu moves\n", static_cast<unsigned long long>(store.moves()));
}

/// In each round two workers take keys that all use, and nobody moves them afterwards: operations that come to the home
/// together with a request for the key, or that a node has sent back, must not wait for ever.
void quiet_moves(int rounds, std::uint32_t seed, std::size_t records) {
  simulated_store store(
      {.nodes = 3, .ranks_per_node = 2, .keys = keys, .length = length, .foreign_bytes = bytes_for(records)}, seed,
      limits);
  store.network().set_faults(faults);
  begun_writes begun;
  std::barrier round_begins(workers);
  in_threads([&](int number) {
    storm_worker mine(store, begun, number, seed);
    for (int round = 0; round < rounds; ++round) {
      round_begins.arrive_and_wait();
      key_list taken;
      for (std::int64_t key = round % 3; key < shared_keys; key += 3) taken.push_back(key);
      const int other = (round + 1 + round / workers % (workers - 1)) % workers;
      if (number == round % workers || number == other) mine.localize(taken, until::done);
      mine.push(taken, until::done);
      mine.pull(taken, until::done);
      mine.finish();
    }
  });
  check_end(store, begun);
  std::printf("%llu moves\n", static_cast<unsigned long long>(store.moves()));
}

/// Half of the workers set their keys many times in one list, while others move the keys: the last set counts.
void long_sets(int rounds, std::uint32_t seed) {
  simulated_store store(
      {.nodes = 3, .ranks_per_node = 2, .keys = keys, .length = length, .foreign_bytes = bytes_for(keys)}, seed,
      limits);
  begun_writes begun;
  std::atomic<int> setting = workers / 2;
  in_threads([&](int number) {
    storm_worker mine(store, begun, number, seed);
    if (number % 2 == 0) {
      for (int round = 0; round < rounds; ++round) {
        const home at = round % 2 == 0 ? home::own : home::far;
        mine.set_own(at, 300, until::done);
        mine.pull({key_of_setter(number, at)}, until::done);
      }
      --setting;
    }
    for (int next = 0; setting.load(std::memory_order_relaxed) > 0; ++next)
      mine.localize({key_of_setter(next * 2 % workers, next / 3 % 2 == 0 ? home::own : home::far)}, until::done);
    mine.finish();
  });
  check_end(store, begun);
}

/// A worker whose operations on two keys are recorded.
class recording_worker {
 public:
  recording_worker(simulated_store& store, int number, std::uint32_t seed)
      : number_(number), worker_(store.at(number)), random_(seed * 77 + static_cast<std::uint32_t>(number)) {}

  void reset(const key_list& list) {
    value_list zeros(list.size() * length);
    worker_.run(kv::set, list, zeros.data(), until::done);
  }

  void round() {
    constexpr int operations = 4;
    for (int i = 0; i < operations; ++i) {
      if (draw(3) == 0) worker_.localize(key_list{draw(2)}, draw(2) == 0 ? until::begun : until::done);
      add(draw(2), static_cast<timed_operation::kind>(draw(3)), draw(3) == 0 ? until::begun : until::done);
    }
    for (running& each : running_) end(each);
    rounds_.push_back(std::exchange(running_, {}));
    worker_.flush();
  }

  /// Operations on a key in a round.
  void append(int round, std::int64_t key, std::vector<timed_operation>& to) const {
    for (const running& each : rounds_[static_cast<std::size_t>(round)])
      if (each.key == key) to.push_back(each.operation);
  }

 private:
  struct running {
    std::int64_t key;
    timed_operation operation;
    value_list values;
    simulated_worker::started started = nullptr;
  };

  std::int64_t draw(std::int64_t end) { return static_cast<std::int64_t>(random_() % static_cast<unsigned>(end)); }

  void add(std::int64_t key, timed_operation::kind what, until end_at) {
    static constexpr std::array operations{&kv::pull, &kv::push, &kv::set};
    activities[static_cast<std::size_t>(number_)].begin(operations[what]->name, key);
    const auto value = static_cast<float>(1 + draw(100000));
    running& made = running_.emplace_back(running{key, {what, value, 0, 0, number_}, value_list(length, value)});
    made.operation.begin = ++clock;
    made.started = worker_.run(*operations[what], key_list{key}, made.values.data(), end_at);
    if (!made.started) end(made);
  }

  void end(running& of) {
    if (of.operation.end != 0) return;
    if (of.started) of.started->wait();
    of.operation.end = ++clock;
    of.operation.value = of.values.front();
    if (std::ranges::count(of.values, of.values.front()) != length) fail("key %d is torn\n", static_cast<int>(of.key));
  }

  static inline std::atomic<std::int64_t> clock = 0;

  const int number_;
  std::deque<running> running_;  // destroyed after the worker
  std::vector<std::deque<running>> rounds_;
  simulated_worker worker_;
  std::minstd_rand random_;
};

/// Short histories of two keys have an order that explains all results.
void histories(int rounds, std::uint32_t seed) {
  simulated_store store({.nodes = 3, .ranks_per_node = 2, .keys = 2, .length = length, .foreign_bytes = bytes_for(2)},
                        seed, limits);
  store.network().set_faults(faults);
  std::deque<recording_worker> all;
  for (int number = 0; number < workers; ++number) all.emplace_back(store, number, seed);
  std::barrier meeting(workers);
  in_threads([&](int number) {
    for (int round = 0; round < rounds; ++round) {
      if (number == 0) all.front().reset({0, 1});
      meeting.arrive_and_wait();
      all[static_cast<std::size_t>(number)].round();
      meeting.arrive_and_wait();
    }
  });
  for (int round = 0; round < rounds; ++round)
    for (std::int64_t key = 0; key < 2; ++key) {
      std::vector<timed_operation> operations;
      for (const recording_worker& each : all) each.append(round, key, operations);
      if (!test::linear_history(operations, 0.0f).is_linear())
        fail("no order explains round %d of key %d\n", round, static_cast<int>(key));
    }
}

/// A worker in a store one of whose processes dies. Its operations have one key each: an operation that fails may have
/// been done or not.
class surviving_worker {
 public:
  /// `ended`: additions of operations that have not failed.
  surviving_worker(simulated_store& store, begun_writes& begun, begun_writes& ended, int number, std::uint32_t seed)
      : begun_(begun),
        ended_(ended),
        number_(number),
        worker_(store.at(number)),
        random_(seed * 55 + static_cast<std::uint32_t>(number)) {}

  void run(int operations, const key_list& of) {
    for (int i = 0; i < operations; ++i) {
      const std::int64_t key = of[random_() % of.size()];
      const until end = random_() % 2 == 0 ? until::begun : until::done;
      switch (random_() % 5) {
        case 0:
          begin("a localize", key, nullptr, end);
          break;
        case 1:
        case 2:
          begin("a pull", key, &kv::pull, end);
          break;
        default:
          begin("a push", key, &kv::push, end);
      }
      while (in_flight_.size() > 8) settle_first();
    }
    finish();
  }
  void finish() {
    while (!in_flight_.empty()) settle_first();
    worker_.flush();
  }

  /// Pulls while no other worker does anything: false if the key is lost; otherwise all that has ended must be there.
  bool pull_all(std::int64_t key) {
    const int before = failed_;
    begin("a pull", key, &kv::pull, until::done);
    for (int writer = 0; writer < workers; ++writer)
      in_flight_.back().least[static_cast<std::size_t>(writer)] = static_cast<float>(ended_.count(key, writer));
    finish();
    return failed_ == before;
  }
  /// Makes a key anew with all additions that have begun.
  bool set_begun(std::int64_t key) {
    value_list values;
    for (int writer = 0; writer < workers; ++writer) {
      values.push_back(static_cast<float>(begun_.count(key, writer)));
      while (ended_.count(key, writer) < begun_.count(key, writer)) ended_.add(key, writer);
    }
    return succeeds([&] { worker_.run(kv::set, key_list{key}, values.data(), until::done); });
  }
  int failed() const { return failed_; }

 private:
  struct operation {
    const kv::operation* what;  // null: localize
    std::int64_t key;
    value_list values;
    value_list least, most;  // of a pull
    bool has_failed = false;
    simulated_worker::started started = nullptr;
  };

  template <class Action>
  static bool succeeds(Action&& action) {
    try {
      action();
      return true;
    } catch (const base::error& error) {
      if (error.status() != SYNCYTE_ERR_PEER_DIED) fail("%s\n", error.what());
      return false;
    }
  }

  void begin(const char* what, std::int64_t key, const kv::operation* of, until end) {
    activities[static_cast<std::size_t>(number_)].begin(what, key);
    operation& made = in_flight_.emplace_back(operation{of, key, value_list(length, 0.0f), {}, {}});
    if (of == &kv::push) {
      begun_.add(key, number_);
      made.values[static_cast<std::size_t>(number_)] = 1.0f;
    }
    if (of == &kv::pull) made.least = least_of(key);
    if (of == &kv::pull) made.most = {static_cast<float>(begun_.count(key, number_))};
    made.has_failed = !succeeds([&] {
      made.started = of == nullptr ? worker_.localize(key_list{key}, end)
                                   : worker_.run(*of, key_list{key}, made.values.data(), end);
    });
  }

  value_list least_of(std::int64_t key) {
    value_list result = seen_[static_cast<std::size_t>(key)];
    result[static_cast<std::size_t>(number_)] = static_cast<float>(ended_.count(key, number_));
    return result;
  }

  void settle_first() {
    operation& first = in_flight_.front();
    if (first.started) first.has_failed = !succeeds([&] { first.started->wait(); });
    failed_ += first.has_failed && first.what != nullptr ? 1 : 0;
    if (!first.has_failed && first.what == &kv::push) ended_.add(first.key, number_);
    if (!first.has_failed && first.what == &kv::pull) check_pull(first);
    in_flight_.pop_front();
  }

  void check_pull(const operation& pulled) {
    value_list& seen = seen_[static_cast<std::size_t>(pulled.key)];
    for (int writer = 0; writer < workers; ++writer) {
      const auto at = static_cast<std::size_t>(writer);
      const float found = pulled.values[at], least = std::max(pulled.least[at], seen[at]);
      const float most = writer == number_ ? pulled.most.front() : static_cast<float>(begun_.count(pulled.key, writer));
      if (found < least || found > most)
        fail("worker %d: a pull of key %d has %g writes of worker %d, expected %g to %g\n", number_,
             static_cast<int>(pulled.key), found, writer, least, most);
      seen[at] = std::max(seen[at], found);
    }
  }

  begun_writes& begun_;
  begun_writes& ended_;
  const int number_;
  std::deque<operation> in_flight_;  // destroyed after the worker
  simulated_worker worker_;
  std::minstd_rand random_;
  std::vector<value_list> seen_ = std::vector<value_list>(keys, value_list(length));
  int failed_ = 0;  // operations on values
};

/// A process dies while all use the keys. Those that do not depend on it stay exact; a set makes the others anew if
/// their home lives.
void death(int operations, std::uint32_t seed, int victim) {
  simulated_store store(
      {.nodes = 3, .ranks_per_node = 2, .keys = keys, .length = length, .foreign_bytes = bytes_for(keys)}, seed,
      limits);
  store.network().set_faults(faults);
  begun_writes begun, ended;
  std::deque<surviving_worker> all;
  for (int number = 0; number < workers; ++number) all.emplace_back(store, begun, ended, number, seed);
  key_list every(keys), of_the_living;
  std::iota(every.begin(), every.end(), 0);
  for (const std::int64_t key : every)
    if (store.homes().owner(key) != victim) of_the_living.push_back(key);
  in_threads([&](int number) {
    const bool dies = number == victim;
    all[static_cast<std::size_t>(number)].run(dies ? operations / 2 : operations, every);
    if (!dies) return;
    // Others wait for the process before it dies.
    for (int other = 0; other < workers; ++other)
      if (other != victim) store.network().cut(victim, other);
    std::this_thread::sleep_for(20ms);
    store.network().kill(victim);
    // The kernel tells the other process of the node.
    store.engine(victim ^ 1).declare_dead(store.engine(victim).process());
  });
  surviving_worker& mender = all[static_cast<std::size_t>((victim + 2) % workers)];
  int lost = 0;
  for (const std::int64_t key : of_the_living) {
    if (mender.pull_all(key)) continue;
    ++lost;
    if (victim % 2 != 0)
      fail("key %d is lost, and only a process without other nodes' keys died\n", static_cast<int>(key));
    if (!mender.set_begun(key)) fail("key %d is not made anew\n", static_cast<int>(key));
  }
  std::vector<int> failed;
  for (const surviving_worker& each : all) failed.push_back(each.failed());
  in_threads([&](int number) {
    if (number != victim) all[static_cast<std::size_t>(number)].run(operations, of_the_living);
  });
  for (int number = 0; number < workers; ++number) {
    if (number == victim) continue;
    surviving_worker& each = all[static_cast<std::size_t>(number)];
    for (const std::int64_t key : of_the_living)
      if (!each.pull_all(key)) fail("worker %d cannot pull key %d\n", number, static_cast<int>(key));
    if (each.failed() != failed[static_cast<std::size_t>(number)])
      fail("operations of worker %d fail after the sets\n", number);
  }
  std::printf("%d keys made anew\n", lost);
}

/// After a barrier all workers see all pushes before it, in copies too, which come and go.
void barriers(int rounds, std::uint32_t seed) {
  simulated_store store(
      {.nodes = 3, .ranks_per_node = 2, .keys = keys, .length = length, .foreign_bytes = 8 * bytes_for(keys)}, seed,
      limits);
  store.network().set_faults(faults);
  begun_writes begun;
  std::barrier all_meet(workers);
  key_list every(shared_keys);
  std::iota(every.begin(), every.end(), 0);
  in_threads([&](int number) {
    simulated_worker mine(store.at(number));
    std::minstd_rand random(seed * 100 + static_cast<std::uint32_t>(number));
    std::deque<key_list> windows;
    for (int round = 0; round < rounds; ++round) {
      activities[static_cast<std::size_t>(number)].begin("a round", round);
      key_list wanted = every;
      std::shuffle(wanted.begin(), wanted.end(), random);
      wanted.resize(shared_keys / 2);
      if (windows.size() < 3) {
        mine.open_window(wanted);
      } else {
        mine.open_and_close_window(wanted, windows.front());
        windows.pop_front();
      }
      windows.push_back(std::move(wanted));
      if (round % 4 == 0) mine.settle();
      for (int push = 0; push < 3; ++push) {
        const key_list one{windows.front()[random() % windows.front().size()]};
        value_list values(length);
        values[static_cast<std::size_t>(number)] = 1.0f;
        begun.add(one[0], number);
        mine.run(kv::push, one, values.data(), until::done);
      }
      for (; round % 4 == 0 && !windows.empty(); windows.pop_front()) mine.close_window(windows.front());
      mine.flush();
      all_meet.arrive_and_wait();
      mine.renew_copies();
      value_list found(every.size() * length);
      mine.run(kv::pull, every, found.data(), until::done);
      for (std::size_t i = 0; i < found.size(); ++i) {
        const auto key = static_cast<std::int64_t>(i / length);
        const int writer = static_cast<int>(i % length);
        if (found[i] != static_cast<float>(begun.count(key, writer)))
          fail("worker %d: after a barrier key %d has %g writes of worker %d, expected %lld\n", number,
               static_cast<int>(key), found[i], writer, static_cast<long long>(begun.count(key, writer)));
      }
      all_meet.arrive_and_wait();
    }
  });
}

/// The application's interrupt ends a wait for copies, though errors of the agent do not.
void interrupted_barrier(std::uint32_t seed) {
  simulated_store store({.nodes = 2, .ranks_per_node = 1, .keys = 2, .length = length, .foreign_bytes = bytes_for(8)},
                        seed, limits);
  simulated_worker mine(store.at(0)), other(store.at(1));
  const key_list of_other{store.homes().owner(0) == 1 ? 0 : 1};
  other.open_window(of_other);
  other.flush();
  mine.open_window(of_other);
  mine.flush();
  if (!store.at(0).are_here(of_other)) fail("%s\n", "there is no copy");
  store.network().cut(0, 1);
  value_list ones(length, 1.0f);
  mine.run(kv::push, of_other, ones.data(), until::done);
  bool is_interrupted = false;
  watchdog::set_interrupt_function([](void*) -> std::int32_t { return 1; }, nullptr);
  try {
    store.at(0).send_pushes();
  } catch (const watchdog::interrupted&) {
    is_interrupted = true;
  }
  watchdog::set_interrupt_function(nullptr, nullptr);
  if (!is_interrupted) fail("%s\n", "an interrupt did not end the wait for pushes");
}

/// A node's agent dies while all nodes have copies of all keys: what others push and set is exact, and nothing waits
/// for the copies of the dead.
void death_of_a_sharer(int rounds, std::uint32_t seed, int victim) {
  simulated_store store(
      {.nodes = 3, .ranks_per_node = 2, .keys = keys, .length = length, .foreign_bytes = 8 * bytes_for(keys)}, seed,
      limits);
  store.network().set_faults(faults);
  begun_writes begun;
  key_list of_the_living;
  for (std::int64_t key = 0; key < keys; ++key)
    if (store.homes().owner(key) != victim) of_the_living.push_back(key);
  const auto is_exact = [&](int writer) { return writer / 2 != victim / 2; };  // it is at another node
  std::barrier have_copies(workers);
  in_threads([&](int number) {
    simulated_worker mine(store.at(number));
    std::minstd_rand random(seed * 100 + static_cast<std::uint32_t>(number));
    mine.open_window(of_the_living);
    mine.flush();
    have_copies.arrive_and_wait();
    for (int round = 0; round < rounds; ++round) {
      if (number == victim && round == rounds / 2) {
        for (int other = 0; other < workers; ++other)
          if (other != victim) store.network().cut(victim, other);
        store.network().kill(victim);
        store.engine(victim ^ 1).declare_dead(store.engine(victim).process());
        return;
      }
      const key_list one{of_the_living[random() % of_the_living.size()]};
      const bool sets = !is_shared(one[0]) && setter_of(one[0]) == number;
      if (!sets && !is_shared(one[0])) continue;
      activities[static_cast<std::size_t>(number)].begin(sets ? "a set" : "a push", one[0]);
      begun.add(one[0], number);
      value_list values(length, sets ? static_cast<float>(begun.count(one[0], number)) : 0.0f), found(length);
      values[static_cast<std::size_t>(number)] = sets ? values[0] : 1.0f;
      mine.run(sets ? kv::set : kv::push, one, values.data(), until::done);
      mine.run(kv::pull, one, found.data(), until::done);
      const float own = found[static_cast<std::size_t>(number)];
      if (is_exact(number) && own != static_cast<float>(begun.count(one[0], number)))
        fail("worker %d: a pull of key %d has %g of its own %lld writes\n", number, static_cast<int>(one[0]), own,
             static_cast<long long>(begun.count(one[0], number)));
    }
    mine.flush();
  });
  simulated_worker reader(store.at((victim + 2) % workers));
  reader.renew_copies();
  for (const std::int64_t key : of_the_living) {
    value_list found(length);
    reader.run(kv::pull, key_list{key}, found.data(), until::done);
    for (int writer = 0; writer < workers; ++writer) {
      const auto most = static_cast<float>(begun.count(key, is_shared(key) ? writer : setter_of(key)));
      const float value = found[static_cast<std::size_t>(writer)];
      const bool is_right = is_exact(is_shared(key) ? writer : setter_of(key)) ? value == most : value <= most;
      if (!is_right)
        fail("key %d has %g writes of worker %d at the end, of %g\n", static_cast<int>(key), value, writer, most);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::int64_t operations = count > 1 ? std::atoll(arguments[1]) : 12000;
  const auto seed = static_cast<std::uint32_t>(count > 2 ? std::atoi(arguments[2]) : 1);
  const auto rounds = static_cast<int>(operations / 200);
  const hang_watch watch;
  const std::vector<std::pair<const char*, std::function<void()>>> parts{
      {"two ranks on a node, little memory", [&] { storm(operations / 3, seed, 2, 4, faults); }},
      {"two threads in a rank, memory for all keys", [&] { storm(operations / 3, seed, 1, keys, faults); }},
      {"no message is lost", [&] { storm(operations / 3, seed, 2, keys, {.delay = 50us}); }},
      {"quiet moves", [&] { quiet_moves(rounds, seed, keys); }},
      {"quiet moves, little memory", [&] { quiet_moves(rounds, seed, 4); }},
      {"long sets", [&] { long_sets(rounds, seed); }},
      {"a death of an agent", [&] { death(rounds * 4, seed, 2); }},
      {"a death of a home", [&] { death(rounds * 4, seed, 3); }},
      {"barriers", [&] { barriers(rounds, seed); }},
      {"an interrupted barrier", [&] { interrupted_barrier(seed); }},
      {"a death of a sharer", [&] { death_of_a_sharer(rounds * 4, seed, 2); }},
      {"histories", [&] { histories(rounds, seed); }},
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (count > 3 && std::atoi(arguments[3]) != static_cast<int>(i)) continue;
    const auto begin = std::chrono::steady_clock::now();
    parts[i].second();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    std::printf("%s: %.1f s\n", parts[i].first, time.count());
    std::fflush(stdout);
  }
  return failures == 0 ? 0 : 1;
}
