// SPDX-License-Identifier: BSD-3-Clause
// The engine over the loopback transport: several engines in one process, each with threads that call it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "fabric/engine.hpp"
#include "loopback.hpp"
#include "mpi/deaths.hpp"
#include "process_tables.hpp"
#include "shared_bytes.hpp"

namespace {

using namespace syncyte;
using namespace std::chrono_literals;

constexpr fabric::object_name counters_name{7, 1};
enum operation : std::uint16_t { add = 1, read = 2, refuse = 3, read_once = 4 };

/// Counters of one process. `add` adds the first argument to a counter and answers its old value; the second argument
/// is the counter. `read` and `read_once` answer it. The numbers of `add` requests of each caller must ascend.
class counters final : public fabric::target {
 public:
  bool serve(fabric::served_request& request, fabric::answer& reply) override {
    const auto& arguments = request.header.arguments;
    if (request.header.operation == refuse) base::fail(SYNCYTE_ERR_INDEX, "no counter {}", arguments[1]);
    if (is_locked && request.done == 0 && request.header.operation == add) return false;
    std::int64_t& counter = values[arguments[1]];
    std::memcpy(reply.resize(sizeof counter + request.payload.size()).data(), &counter, sizeof counter);
    if (request.header.operation != add) return true;
    counter += static_cast<std::int64_t>(arguments[0]);
    auto& last = last_numbers[{request.header.sender, request.header.session}];
    is_in_order &= request.header.number > last;
    last = request.header.number;
    return true;
  }

  std::atomic<bool> is_locked{false};
  std::int64_t values[8] = {};
  bool is_in_order = true;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> last_numbers;
};

/// Requests of one kind, as many as asked for; collects the answers.
class requests final : public fabric::request_source {
 public:
  requests(operation kind, int count, std::size_t payload = 0, std::uint64_t counter = 0)
      : kind_(kind), count_(count), payload_(payload), counter_(counter) {}

  std::shared_ptr<fabric::message> next() override {
    if (made_ == count_) return nullptr;
    ++made_;
    return std::make_shared<fabric::message>(fabric::message_header{.communicator = counters_name.communicator,
                                                                    .object = counters_name.number,
                                                                    .operation = kind_,
                                                                    .changes = kind_ == add || kind_ == read_once,
                                                                    .arguments = {1, counter_}},
                                             payload_);
  }
  void on_answer(const fabric::message_header&, std::span<const std::byte> payload) override {
    std::int64_t old = 0;
    ASSERT_EQ(payload.size(), sizeof old + payload_);
    std::memcpy(&old, payload.data(), sizeof old);
    answers.push_back(old);
  }
  std::string owner_name() const override { return "rank 1 of pairs"; }

  std::vector<std::int64_t> answers;

 private:
  operation kind_;
  int count_;
  std::size_t payload_;
  std::uint64_t counter_;
  int made_ = 0;
};

/// Some processes with an engine and counters each.
class processes {
 public:
  explicit processes(int count, fabric::time_limits limits = {.resend = 5ms, .deadline = 8s})
      : deaths(static_cast<std::size_t>(count)) {
    for (int i = 0; i < count; ++i) {
      std::atomic<int>* const seen = &deaths[static_cast<std::size_t>(i)];
      engines.push_back(std::make_unique<fabric::engine>(std::make_unique<test::loopback_transport>(network, i), limits,
                                                         [seen](fabric::peer&) { ++*seen; }));
      served.push_back(std::make_shared<counters>());
      engines.back()->targets().add(counters_name, served.back());
    }
    std::vector<fabric::process_entry> entries;
    std::vector<std::string> addresses;
    for (int i = 0; i < count; ++i) {
      const fabric::engine& each = *engines[static_cast<std::size_t>(i)];
      entries.push_back({each.process(), each.key(), first_world_rank + i, 0});
      addresses.push_back(each.address());
    }
    members = test::table_of(entries, addresses);
    for (const auto& each : engines) each->peers().add(communicator, members);
  }

  fabric::peer& peer(int at, int other) {
    return engines[static_cast<std::size_t>(at)]->peers().at(*members, static_cast<std::size_t>(other));
  }

  /// All processes are one communicator.
  void watch_each_other() {
    for (const auto& each : engines) each->add_ring(communicator, members);
  }

  /// Runs requests from one process to another.
  void run(int from, int to, requests& all) {
    fabric::exchange exchange(*engines[static_cast<std::size_t>(from)]);
    exchange.add(peer(from, to), all);
    exchange.wait([] {});
  }

  static constexpr int first_world_rank = 1000;
  static constexpr std::uint64_t communicator = 7;
  std::shared_ptr<const fabric::process_table> members;
  std::shared_ptr<test::loopback_network> network = std::make_shared<test::loopback_network>();
  std::vector<std::atomic<int>> deaths;  // that each process has been told of; outlives the engines
  std::vector<std::unique_ptr<fabric::engine>> engines;
  std::vector<std::shared_ptr<counters>> served;
};

TEST(engine, answers_requests) {
  processes all(2);
  requests adds(add, 100);
  all.run(0, 1, adds);
  EXPECT_EQ(all.served[1]->values[0], 100);
  std::vector<std::int64_t> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(adds.answers, expected);
  requests reads(read, 1, 1000);
  all.run(0, 1, reads);
  EXPECT_EQ(reads.answers, (std::vector<std::int64_t>{100}));
}

TEST(engine, serves_its_own_process) {
  processes all(1);
  requests adds(add, 3);
  all.run(0, 0, adds);
  EXPECT_EQ(all.served[0]->values[0], 3);
}

TEST(engine, passes_errors_on) {
  processes all(2);
  requests bad(refuse, 20);
  try {
    all.run(0, 1, bad);
    FAIL() << "no error";
  } catch (const base::error& error) {
    EXPECT_EQ(error.status(), SYNCYTE_ERR_INDEX);
    EXPECT_STREQ(error.what(), "no counter 0");
  }
  requests adds(add, 1);
  all.run(0, 1, adds);  // the callers still work
  EXPECT_EQ(all.served[1]->values[0], 1);
}

TEST(engine, refuses_requests_for_freed_objects) {
  processes all(2);
  all.engines[1]->targets().remove(counters_name);
  requests adds(add, 1);
  try {
    all.run(0, 1, adds);
    FAIL() << "no error";
  } catch (const base::error& error) {
    EXPECT_EQ(error.status(), SYNCYTE_ERR_HANDLE);
  }
}

/// Several threads of each process add to counters of all processes while messages are lost, doubled, delayed and
/// overtaken: each request counts once, and in order.
TEST(engine, applies_each_request_once_despite_faults) {
  constexpr int count = 3, threads = 2, rounds = 6, adds_per_round = 30;
  processes all(count);
  all.network->set_faults({.drop = 0.05, .duplicate = 0.1, .reorder = 0.1, .hold = 300us, .keep = 0.1});
  std::vector<std::thread> callers;
  for (int from = 0; from < count; ++from)
    for (int thread = 0; thread < threads; ++thread)
      callers.emplace_back([&, from] {
        for (int round = 0; round < rounds; ++round) {
          fabric::exchange exchange(*all.engines[static_cast<std::size_t>(from)]);
          std::deque<requests> sources;
          for (int to = 0; to < count; ++to)
            exchange.add(all.peer(from, to), sources.emplace_back(add, adds_per_round, 100, round % 8));
          exchange.wait([] {});
          for (const requests& source : sources) EXPECT_EQ(source.answers.size(), std::size_t{adds_per_round});
        }
      });
  for (auto& caller : callers) caller.join();
  all.engines.clear();  // its threads have ended: the counters can be read
  for (const auto& each : all.served) {
    EXPECT_TRUE(each->is_in_order);
    EXPECT_EQ(std::accumulate(std::begin(each->values), std::end(each->values), std::int64_t{0}),
              count * threads * rounds * adds_per_round);
  }
}

TEST(engine, goes_on_after_a_cut_that_breaks_links) {
  processes all(2);
  requests before(add, 10);
  all.run(0, 1, before);
  std::thread cutter([&] {
    for (int i = 0; i < 5; ++i) {
      all.network->cut(0, 1, 1ms);
      std::this_thread::sleep_for(20ms);
      all.network->restore(0, 1);
      std::this_thread::sleep_for(20ms);
    }
  });
  for (int i = 0; i < 100; ++i) {
    requests adds(add, 10);
    all.run(0, 1, adds);
    std::this_thread::sleep_for(1ms);
  }
  cutter.join();
  EXPECT_EQ(all.served[1]->values[0], 1010);
}

TEST(engine, reports_a_dead_owner) {
  processes all(3, {.resend = 5ms, .deadline = 100ms});
  requests before(add, 1);
  all.run(0, 1, before);
  all.network->kill(1);
  for (int i = 0; i < 2; ++i) {
    requests adds(add, 20);
    try {
      all.run(0, 1, adds);
      FAIL() << "no error";
    } catch (const base::error& error) {
      EXPECT_EQ(error.status(), SYNCYTE_ERR_PEER_DIED);
      EXPECT_NE(std::string(error.what()).find("rank 1 of pairs"), std::string::npos);
    }
  }
  requests others(add, 20);
  all.run(0, 2, others);
  EXPECT_EQ(all.served[2]->values[0], 20);
}

/// Heartbeats keep all alive that live; the deaths of two neighbours become known to all, also to those who watch
/// neither.
TEST(engine, all_learn_of_deaths) {
  constexpr int count = 9;
  processes all(count, {.resend = 50ms, .deadline = 200ms});
  all.watch_each_other();
  std::this_thread::sleep_for(600ms);
  for (const auto& seen : all.deaths) EXPECT_EQ(seen, 0);
  all.network->kill(3);
  all.network->kill(4);
  std::this_thread::sleep_for(1500ms);
  for (int i = 0; i < count; ++i)
    EXPECT_TRUE(i == 3 || i == 4 || all.deaths[static_cast<std::size_t>(i)] == 2) << "process " << i;
  requests adds(add, 1);
  EXPECT_THROW(all.run(0, 3, adds), base::error);  // at once
}

/// A death that one process learns of by other means is known to all before the deadline.
TEST(engine, news_of_a_death_are_faster_than_the_deadline) {
  constexpr int count = 16;
  processes all(count, {.resend = 10s, .deadline = 60s});
  all.watch_each_other();
  requests to_the_dead(add, 1);
  all.network->kill(5);
  std::thread waiting([&] { EXPECT_THROW(all.run(12, 5, to_the_dead), base::error); });
  std::this_thread::sleep_for(20ms);
  all.engines[0]->declare_dead(all.engines[5]->process());
  waiting.join();
  const auto begin = fabric::now();
  const auto all_know = [&] {
    for (int i = 0; i < count; ++i)
      if (i != 5 && all.deaths[static_cast<std::size_t>(i)] != 1) return false;
    return true;
  };
  while (!all_know() && fabric::now() - begin < 10s) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(all_know());
}

/// A death that another part of the process has found is known to all after a heartbeat.
TEST(engine, takes_over_deaths_that_the_process_knows) {
  constexpr int count = 4;
  // In a child: this process must not know of a death.
  const pid_t child = test::fork_to([&] {
    processes all(count, {.resend = 20ms, .deadline = 60s});
    all.watch_each_other();
    mpi::declare_dead(processes::first_world_rank + 2);
    const auto all_know = [&] { return all.deaths[0] == 1 && all.deaths[1] == 1 && all.deaths[3] == 1; };
    for (const auto begin = fabric::now(); !all_know() && fabric::now() - begin < 10s;)
      std::this_thread::sleep_for(1ms);
    if (!all_know()) throw std::runtime_error("a process has not heard of the death");
  });
  EXPECT_EQ(test::exit_code(child), 0);
}

/// Heartbeats bring the news of a death to those whose news were lost.
TEST(engine, lost_news_of_a_death_come_later) {
  constexpr int count = 6;
  processes all(count, {.resend = 200ms, .deadline = 800ms});
  all.watch_each_other();
  std::this_thread::sleep_for(200ms);  // links are made
  all.network->set_faults({.drop = 1});
  all.engines[0]->declare_dead(all.engines[2]->process());
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(all.deaths[4], 0);
  all.network->set_faults({});
  const auto all_know = [&] {
    for (int i = 0; i < count; ++i)
      if (i != 2 && all.deaths[static_cast<std::size_t>(i)] != 1) return false;
    return true;
  };
  for (const auto begin = fabric::now(); !all_know() && fabric::now() - begin < 10s;) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(all_know());
}

TEST(engine, a_link_that_breaks_while_it_is_idle_is_made_again_at_once) {
  processes all(2, {.resend = 16s, .deadline = 64s});
  requests first(add, 1), second(add, 1);
  all.run(0, 1, first);
  all.network->cut(0, 1, 1ms);
  std::this_thread::sleep_for(20ms);
  all.network->restore(0, 1);
  const auto begin = fabric::now();
  all.run(0, 1, second);
  EXPECT_LT(fabric::now() - begin, 1s);
  EXPECT_EQ(all.served[1]->values[0], 2);
}

TEST(engine, heartbeats_to_former_neighbours_end) {
  processes all(4, {.resend = 50ms, .deadline = 100ms});
  all.watch_each_other();
  std::this_thread::sleep_for(100ms);
  for (const auto& each : all.engines) each->remove_ring(7);
  const auto sent = [&] { return all.engines[1]->sent().messages.load(); };
  bool is_quiet = false;
  for (const auto begin = fabric::now(); !is_quiet && fabric::now() - begin < 10s;) {
    const std::int64_t before = sent();
    std::this_thread::sleep_for(200ms);  // of 16 heartbeats to each
    is_quiet = sent() == before;
  }
  EXPECT_TRUE(is_quiet);
  for (const auto& seen : all.deaths) EXPECT_EQ(seen, 0);
}

/// A program that is not of the job, and knows addresses.
class stranger final : private fabric::receiver {
 public:
  explicit stranger(const std::shared_ptr<test::loopback_network>& network)
      : transport_(network, 99), worker_(transport_.make_worker(*this)) {}

  std::string address() const { return worker_->address(); }

  void send(const std::string& to, const fabric::message_header& header, std::size_t bytes = 0) {
    send(to, header, std::string(bytes, 'x'));
  }
  void send(const std::string& to, const fabric::message_header& header, const std::string& payload) {
    const auto made = std::make_shared<fabric::message>(header, payload.size());
    std::memcpy(made->payload().data(), payload.data(), payload.size());
    const auto way = worker_->connect(to, 1);
    way->send(made);
    ++sent;
  }
  bool gets(int count) {
    const auto end = std::chrono::steady_clock::now() + 5s;
    while (answers < count && std::chrono::steady_clock::now() < end) worker_->progress();
    return answers == count;
  }

  int sent = 0, answers = 0;

 private:
  void on_message(const fabric::message_header&, std::span<const std::byte>) override { ++answers; }
  void on_broken(std::uint64_t) override {}

  test::loopback_transport transport_;
  std::unique_ptr<fabric::worker> worker_;
};

bool waits_for(const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + 5s;
  while (!done() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  return done();
}

std::string address_of(std::uint64_t process, std::uint32_t worker) {
  const std::uint64_t number = process << 32 | worker;
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

/// A key that is wrong in one bit, whichever it is, is wrong. The messages would replace a link, add to a counter,
/// answer a request, and end processes.
TEST(engine, drops_messages_without_its_key) {
  processes all(2);
  all.watch_each_other();
  requests first(add, 1), next(add, 1);
  all.run(0, 1, first);
  stranger outside(all.network);
  const std::uint64_t asker = all.engines[0]->process(), owner = all.engines[1]->process();
  const std::string serving = all.engines[1]->address(), caller = address_of(0, 2);
  using enum fabric::message_kind;
  for (std::size_t bit = 0; bit < 128; ++bit) {
    fabric::process_key owners = all.engines[1]->key();
    owners[bit / 64] ^= std::uint64_t{1} << bit % 64;
    outside.send(serving, {.key = owners, .sender = asker, .number = 99, .kind = hello}, outside.address());
    outside.send(serving, {.key = owners,
                           .sender = asker,
                           .number = 2,
                           .communicator = counters_name.communicator,
                           .object = counters_name.number,
                           .kind = request,
                           .operation = add,
                           .changes = 1,
                           .arguments = {1, 0}});
    outside.send(serving, {.key = owners, .sender = asker, .kind = death, .arguments = {asker}});
    outside.send(serving, {.key = owners, .sender = asker, .kind = heartbeat, .arguments = {asker}});
  }
  EXPECT_TRUE(waits_for([&] { return all.engines[1]->refused() == outside.sent; }));
  stranger other(all.network);
  other.send(caller, {.sender = owner, .number = 2, .kind = answer}, 8);
  other.send(all.engines[0]->address(), {.sender = owner, .kind = death, .arguments = {owner}});
  all.run(0, 1, next);
  EXPECT_TRUE(waits_for([&] { return all.engines[0]->refused() == other.sent; }));
  EXPECT_EQ(next.answers, std::vector<std::int64_t>{1});
  EXPECT_EQ(outside.answers, 0);
  for (const auto& seen : all.deaths) EXPECT_EQ(seen, 0);
}

/// Only processes that are known from MPI are answered, and what is kept for them has bounds.
TEST(engine, keeps_little_for_callers) {
  processes all(2, {.resend = 2s, .deadline = 8s});  // a hello that is sent again would make one more link
  stranger outside(all.network);
  const auto key = all.engines[1]->key();
  const std::uint64_t asker = all.engines[0]->process();
  const std::string serving = all.engines[1]->address();
  const auto say_hello = [&](std::uint64_t sender, std::uint32_t session, const std::string& address) {
    outside.send(serving,
                 {.key = key, .sender = sender, .number = 1, .session = session, .kind = fabric::message_kind::hello},
                 address);
  };
  const auto ask = [&](std::uint64_t sender, std::uint64_t number, std::uint32_t session) {
    outside.send(serving,
                 {.key = key,
                  .sender = sender,
                  .number = number,
                  .communicator = counters_name.communicator,
                  .object = counters_name.number,
                  .session = session,
                  .kind = fabric::message_kind::request,
                  .operation = read},
                 1000);
  };
  say_hello(asker + 1, 0, outside.address());  // unknown
  say_hello(asker, fabric::most_callers, outside.address());
  say_hello(asker, 7, "");
  say_hello(asker, 8, std::string(fabric::most_address + 1, 'x'));
  requests first(add, 1);
  all.run(0, 1, first);
  EXPECT_EQ(all.engines[1]->sent().links, 1);
  EXPECT_EQ(all.engines[1]->refused(), 0);
  say_hello(asker, 9, outside.address());
  EXPECT_TRUE(waits_for([&] { return all.engines[1]->sent().links == 2; }));
  for (std::uint64_t number = 2; number < 1000; ++number) ask(asker, number, 9);
  ask(asker, 1, 9);
  EXPECT_TRUE(outside.gets(fabric::most_unanswered)) << outside.answers;
}

/// A process that is taken for dead and comes back is not listened to.
TEST(engine, the_dead_stay_dead) {
  processes all(2, {.resend = 5ms, .deadline = 100ms});
  all.watch_each_other();
  all.network->cut(0, 1);
  requests adds(add, 1);
  EXPECT_THROW(all.run(0, 1, adds), base::error);
  all.network->restore(0, 1);
  requests more(add, 1), back(add, 1);
  EXPECT_THROW(all.run(0, 1, more), base::error);
  EXPECT_THROW(all.run(1, 0, back), base::error);
  EXPECT_EQ(all.served[0]->values[0], 0);
}

/// A request that has to wait for a lock keeps its caller waiting, not other callers, and its owner is not taken for
/// dead.
TEST(engine, puts_requests_aside) {
  processes all(2, {.resend = 5ms, .deadline = 100ms});
  all.served[1]->is_locked = true;
  requests adds(add, 5);
  std::thread adder([&] { all.run(0, 1, adds); });
  for (int i = 0; i < 60; ++i) {
    requests reads(read, 1);
    all.run(0, 1, reads);
    EXPECT_EQ(reads.answers, (std::vector<std::int64_t>{0}));
    std::this_thread::sleep_for(10ms);
  }
  all.served[1]->is_locked = false;
  adder.join();
  EXPECT_EQ(adds.answers, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

/// Does something ten times, a pause after the time before, and counts the calls.
class due_at_times final : public fabric::target {
 public:
  explicit due_at_times(std::chrono::nanoseconds pause) : pause_(pause) {}
  bool serve(fabric::served_request&, fabric::answer&) override { return true; }
  bool makes_progress() const override { return true; }
  bool progress() override {
    ++calls;
    if (done == 10 || fabric::now() < next_) return false;
    next_ = fabric::now() + pause_;
    ++done;
    return true;
  }
  std::chrono::nanoseconds time_left(std::chrono::nanoseconds now) const override {
    return done == 10 ? -1ns : std::max<std::chrono::nanoseconds>(0ns, next_ - now);
  }
  std::atomic<int> done = 0, calls = 0;

 private:
  std::chrono::nanoseconds pause_, next_{};
};

TEST(engine, calls_objects_when_they_are_due_and_sleeps_between) {
  processes all(1);
  const auto object = std::make_shared<due_at_times>(20ms);
  all.engines[0]->targets().add({7, 2}, object);
  requests adds(add, 1);
  all.run(0, 0, adds);  // wakes the serving thread
  for (int i = 0; i < 400 && object->done < 10; ++i) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(object->done, 10);
  const int calls = object->calls;
  std::this_thread::sleep_for(200ms);
  EXPECT_LE(object->calls, calls + 20);  // it looks after idle callers
}

/// A caller that gets no link fails at once; what it asks later is served.
TEST(engine, goes_on_after_a_caller_had_no_link) {
  processes all(2, {.resend = 5ms, .deadline = 500ms});
  all.network->refuse_links(0, 1);
  requests lost(add, 20), later(add, 20);
  try {
    all.run(0, 1, lost);
    FAIL() << "no error";
  } catch (const base::error& error) {
    EXPECT_EQ(error.status(), SYNCYTE_ERR_IO);
  }
  all.run(0, 1, later);
  EXPECT_EQ(all.served[1]->values[0], 20);
}

/// An owner that gets no link to a caller tries again.
TEST(engine, goes_on_after_an_owner_had_no_link) {
  processes all(2, {.resend = 5ms, .deadline = 500ms});
  all.network->refuse_links(1, 3);
  requests adds(add, 20);
  all.run(0, 1, adds);
  EXPECT_EQ(all.served[1]->values[0], 20);
}

/// An error of a source is the error of its exchange, and of no other.
TEST(engine, passes_errors_of_sources_on) {
  class failing final : public fabric::request_source {
    std::shared_ptr<fabric::message> next() override { throw std::bad_alloc(); }
    void on_answer(const fabric::message_header&, std::span<const std::byte>) override {}
    std::string owner_name() const override { return "rank 1 of pairs"; }
  };
  processes all(2);
  failing source;
  requests adds(add, 5);
  fabric::stream stream(*all.engines[0]);
  fabric::exchange bad(stream), good(stream);
  good.add(all.peer(0, 1), adds);
  bad.add(all.peer(0, 1), source);
  good.wait([] {});
  EXPECT_THROW(bad.wait([] {}), base::error);
  EXPECT_EQ(all.served[1]->values[0], 5);
}

TEST(engine, an_exchange_can_be_given_up) {
  processes all(2);
  all.served[1]->is_locked = true;
  {
    requests adds(add, 20);
    fabric::exchange exchange(*all.engines[0]);
    exchange.add(all.peer(0, 1), adds);
    int looks = 0;
    EXPECT_THROW(exchange.wait([&] {
      if (++looks == 10) throw std::runtime_error("enough");
    }),
                 std::runtime_error);
  }
  requests reads(read, 1);
  all.run(0, 1, reads);  // does not wait behind requests that were given up
  all.served[1]->is_locked = false;
  requests adds(add, 1);
  all.run(0, 1, adds);
}

/// Nobody calls test() or wait() until the answers are here.
TEST(engine, the_serving_thread_goes_on_with_exchanges) {
  processes all(2);
  requests adds(add, 100, 1000);
  fabric::exchange exchange(*all.engines[0]);
  exchange.add(all.peer(0, 1), adds);
  exchange.drive();
  fabric::exchange waited(*all.engines[0]);
  requests reads(read, 1);
  std::int64_t seen = 0;
  for (const auto begin = fabric::now(); seen < 100 && fabric::now() - begin < 10s;) {
    requests now(read, 1);
    all.run(0, 1, now);
    seen = now.answers.at(0);
  }
  EXPECT_EQ(seen, 100);
  while (!exchange.test()) std::this_thread::yield();
  EXPECT_EQ(adds.answers.size(), 100u);
}

/// A source without requests; counts how often it is asked.
class counting_source final : public fabric::request_source {
 public:
  std::shared_ptr<fabric::message> next() override {
    ++asked;
    return nullptr;
  }
  void on_answer(const fabric::message_header&, std::span<const std::byte>) override {}
  std::string owner_name() const override { return "this process"; }

  std::atomic<int> asked = 0;
};

std::int64_t read_counter(processes& all, int from, int to) {
  requests reads(read, 1);
  all.run(from, to, reads);
  return reads.answers.at(0);
}

/// The last request, to a third process, waits for the others; nobody calls test() or wait().
TEST(engine, the_serving_thread_begins_the_last_request) {
  processes all(3);
  all.served[1]->is_locked = true;
  requests adds(add, 30, 1000), last(add, 1);
  fabric::exchange exchange(*all.engines[0]);
  exchange.add(all.peer(0, 1), adds);
  exchange.add_last(&all.peer(0, 2), last);
  exchange.drive();
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(read_counter(all, 1, 2), 0);
  EXPECT_FALSE(exchange.test());
  all.served[1]->is_locked = false;
  const auto begin = fabric::now();
  while (read_counter(all, 1, 2) == 0 && fabric::now() - begin < 10s) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(read_counter(all, 1, 2), 1);
  EXPECT_EQ(read_counter(all, 2, 1), 30);
  exchange.wait([] {});
  EXPECT_EQ(adds.answers.size(), 30u);
}

TEST(engine, last_requests_of_many_exchanges_despite_faults) {
  processes all(3);
  all.network->set_faults({.drop = 0.05, .duplicate = 0.05, .reorder = 0.05});
  constexpr int many = 60;
  std::deque<requests> adds, lasts;
  std::optional<fabric::stream> stream(std::in_place, *all.engines[0]);
  std::deque<fabric::exchange> exchanges;
  for (int i = 0; i < many; ++i) {
    fabric::exchange& started = exchanges.emplace_back(*stream);
    started.add(all.peer(0, 1), adds.emplace_back(add, 3));
    started.add(all.peer(0, 2), adds.emplace_back(add, 3));
    started.add_last(&all.peer(0, 1 + i % 2), lasts.emplace_back(add, 1, 0, 1));
    started.drive();
  }
  for (auto& exchange : exchanges) exchange.wait([] {});
  exchanges.clear();
  stream.reset();
  all.engines.clear();  // its threads have ended: the counters can be read
  EXPECT_EQ(all.served[1]->values[0], 3 * many);
  EXPECT_EQ(all.served[1]->values[1] + all.served[2]->values[1], many);
}

TEST(engine, a_last_source_without_requests_is_asked_once) {
  processes all(2);
  requests adds(add, 3);
  counting_source last;
  fabric::exchange exchange(*all.engines[0]);
  exchange.add(all.peer(0, 1), adds);
  exchange.add_last(nullptr, last);
  while (!exchange.test()) std::this_thread::yield();
  EXPECT_TRUE(exchange.test());
  EXPECT_EQ(last.asked, 1);
  fabric::exchange alone(*all.engines[0]);
  alone.add_last(nullptr, last);
  EXPECT_TRUE(alone.test());
  EXPECT_EQ(last.asked, 2);
}

TEST(engine, no_last_request_after_an_error) {
  processes all(2);
  requests refused(refuse, 1), last(add, 1);
  fabric::exchange exchange(*all.engines[0]);
  exchange.add(all.peer(0, 1), refused);
  exchange.add_last(&all.peer(0, 1), last);
  EXPECT_THROW(exchange.wait([] {}), base::error);
  EXPECT_EQ(read_counter(all, 0, 1), 0);
}

TEST(engine, no_last_request_after_a_death) {
  processes all(3, {.resend = 5ms, .deadline = 200ms});
  all.served[1]->is_locked = true;
  requests adds(add, 1), last(add, 1);
  fabric::exchange exchange(*all.engines[0]);
  exchange.add(all.peer(0, 1), adds);
  exchange.add_last(&all.peer(0, 2), last);
  exchange.drive();
  all.engines[0]->declare_dead(all.engines[1]->process());
  EXPECT_THROW(exchange.wait([] {}), base::error);
  EXPECT_EQ(read_counter(all, 0, 2), 0);
}

TEST(engine, no_last_request_if_given_up) {
  processes all(3);
  all.served[1]->is_locked = true;
  {
    requests adds(add, 1), last(add, 1);
    fabric::exchange exchange(*all.engines[0]);
    exchange.add(all.peer(0, 1), adds);
    exchange.add_last(&all.peer(0, 2), last);
    exchange.drive();
  }
  all.served[1]->is_locked = false;
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(read_counter(all, 0, 2), 0);
}

TEST(engine, a_held_request_ends_with_the_engine) {
  processes all(2);
  all.served[1]->is_locked = true;
  requests adds(add, 1), last(add, 1);
  fabric::exchange exchange(*all.engines[0]);
  exchange.add(all.peer(0, 1), adds);
  exchange.add_last(&all.peer(0, 1), last);
  all.engines[0]->stop();
  EXPECT_THROW(exchange.test(), base::error);
}

/// A transport that holds a token while it lives.
class held_transport final : public fabric::transport {
 public:
  explicit held_transport(std::shared_ptr<int> token) : token_(std::move(token)) {}
  std::unique_ptr<fabric::worker> make_worker(fabric::receiver& target) override { return way_.make_worker(target); }

 private:
  const std::shared_ptr<int> token_;
  test::loopback_transport way_{std::make_shared<test::loopback_network>(), 0};
};

TEST(engine, the_transport_ends_before_the_engine) {
  const auto token = std::make_shared<int>();
  fabric::engine one(std::make_unique<held_transport>(token));
  {
    const fabric::exchange borrowed(one);
  }  // the engine has made a worker for it
  one.stop();
  EXPECT_EQ(token.use_count(), 2);
  one.end_transport();
  EXPECT_EQ(token.use_count(), 1);
}

/// Threads start several exchanges each, wait for most of them while others are in flight, and give one up.
TEST(engine, driven_exchanges_share_callers_with_waits_for_others) {
  processes all(2);
  constexpr int threads = 3, rounds = 30, in_flight = 6;
  fabric::stream stream(*all.engines[0]);
  std::atomic<int> answered = 0;
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        std::deque<requests> adds;
        std::deque<fabric::exchange> exchanges;
        for (int i = 0; i < in_flight; ++i) {
          fabric::exchange& started = exchanges.emplace_back(stream);
          started.add(all.peer(0, 1), adds.emplace_back(add, 3));
          started.drive();
        }
        for (int i = 1; i < in_flight; ++i) {
          if (round % 3 == 0) std::this_thread::sleep_for(1ms);
          exchanges[static_cast<std::size_t>(i)].wait([] {});
          answered += static_cast<int>(adds[static_cast<std::size_t>(i)].answers.size());
        }
        exchanges.clear();  // before the requests; gives the first one up
      }
    });
  running.clear();  // joins
  EXPECT_EQ(answered, threads * rounds * (in_flight - 1) * 3);
}

/// Exchanges of one request or many, reads and adds, to two owners, while messages are lost, doubled and overtaken:
/// each owner sees the requests in the order of the program.
TEST(engine, owners_serve_a_stream_in_order_despite_faults) {
  processes all(3);
  all.network->set_faults({.drop = 0.03, .duplicate = 0.1, .reorder = 0.2, .hold = 300us});
  std::mt19937_64 random(3);
  std::int64_t sums[3] = {};
  std::deque<requests> sources;
  std::deque<std::vector<std::int64_t>> expected;
  std::optional<fabric::stream> stream(std::in_place, *all.engines[0]);
  std::deque<fabric::exchange> exchanges;
  for (int i = 0; i < 200; ++i) {
    fabric::exchange& started = exchanges.emplace_back(*stream);
    const bool adds = random() % 3 != 0;
    const int count = random() % 4 == 0 ? 20 : 1;
    for (int owner = 1; owner <= 2; ++owner) {
      started.add(all.peer(0, owner), sources.emplace_back(adds ? add : read_once, count));
      auto& right = expected.emplace_back();
      for (int each = 0; each < count; ++each) right.push_back(adds ? sums[owner]++ : sums[owner]);
    }
    if (random() % 2 == 0) started.drive();
    if (random() % 10 == 0) started.wait([] {});
  }
  for (auto& exchange : exchanges) exchange.wait([] {});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::ranges::sort(sources[i].answers);  // answers come in any order
    ASSERT_EQ(sources[i].answers, expected[i]) << i;
  }
  exchanges.clear();
  stream.reset();
}

/// The owner keeps the answers of an idle caller only if they are short.
TEST(engine, large_answers_are_forgotten_when_they_have_arrived) {
  processes all(2, {.resend = 2s, .deadline = 8s});  // nothing is sent again
  requests first(read_once, 1), small(read_once, 1, 1000), large(read_once, 8, 100000);
  const auto sent = [&] { return all.engines[0]->sent().messages.load(); };
  all.run(0, 1, first);
  const std::int64_t before = sent();
  all.run(0, 1, small);
  all.run(0, 1, large);
  const auto begin = fabric::now();
  while (sent() - before < 10 && fabric::now() - begin < 2s) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(sent() - before, 10);  // the requests, and one message that the answers are here
}

TEST(engine, several_exchanges_share_a_caller) {
  processes all(2);
  constexpr int many = 3 * static_cast<int>(fabric::most_callers);
  std::deque<requests> sources;
  std::deque<fabric::exchange> exchanges;
  for (int i = 0; i < many; ++i) {
    exchanges.emplace_back(*all.engines[0]).add(all.peer(0, 1), sources.emplace_back(add, 10));
  }
  for (auto& exchange : exchanges)
    while (!exchange.test()) std::this_thread::yield();
  EXPECT_EQ(all.served[1]->values[0], 10 * many);
}

}  // namespace
