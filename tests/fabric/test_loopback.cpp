// SPDX-License-Identifier: BSD-3-Clause
// The transport of the fabric's tests: what it delivers without faults, and that its faults are the ones that are set.

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

#include "loopback.hpp"

namespace {

using namespace syncyte;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

std::shared_ptr<const fabric::message> make_message(std::uint64_t number, std::size_t bytes = 0) {
  fabric::message_header header;
  header.number = number;
  auto made = std::make_shared<fabric::message>(header, bytes);
  for (std::size_t i = 0; i < bytes; ++i) made->payload()[i] = static_cast<std::byte>(number + i);
  return made;
}

bool is_readable(const fabric::worker& worker, std::chrono::milliseconds limit) {
  pollfd event{.fd = worker.event(), .events = POLLIN, .revents = 0};
  return poll(&event, 1, static_cast<int>(limit.count())) == 1;
}

/// A simulated process with one worker, which records what arrives.
class process final : public fabric::receiver {
 public:
  process(const std::shared_ptr<test::loopback_network>& network, int number)
      : transport(network, number), worker(transport.make_worker(*this)) {}

  void on_message(const fabric::message_header& header, std::span<const std::byte> payload) override {
    numbers.push_back(header.number);
    bytes.assign(payload.begin(), payload.end());
    if (then) then(header);
  }
  void on_broken(std::uint64_t tag) override { broken.push_back(tag); }

  std::unique_ptr<fabric::link> connect(const process& other, std::uint64_t tag = 0) const {
    return worker->connect(other.worker->address(), tag);
  }

  /// Makes progress until `done`, and sleeps meanwhile; false after two seconds without an event.
  bool wait_until(const std::function<bool()>& done) {
    while (!done()) {
      if (worker->progress() || !worker->arm()) continue;
      if (!is_readable(*worker, 2s)) return false;
    }
    return true;
  }

  /// Makes progress until nothing has arrived for a while.
  void settle() {
    do {
      while (worker->progress()) {
      }
    } while (!worker->arm() || is_readable(*worker, 20ms));
  }

  test::loopback_transport transport;
  std::vector<std::uint64_t> numbers, broken;
  std::vector<std::byte> bytes;  // of the last message
  std::function<void(const fabric::message_header&)> then;
  std::unique_ptr<fabric::worker> worker;  // destroyed before what it records into
};

using list = std::vector<std::uint64_t>;

list count_to(std::uint64_t last) {
  list all(last);
  std::iota(all.begin(), all.end(), 1);
  return all;
}

class loopback_world : public testing::Test {
 protected:
  void send(std::uint64_t messages) {
    for (std::uint64_t number = 1; number <= messages; ++number) link_->send(make_message(number));
  }

  std::shared_ptr<test::loopback_network> network_ = std::make_shared<test::loopback_network>(7);
  process mine_{network_, 0}, other_{network_, 1};
  std::unique_ptr<fabric::link> link_ = mine_.connect(other_, 5);
  std::unique_ptr<fabric::link> back_ = other_.connect(mine_, 6);
};

TEST_F(loopback_world, headers_and_payloads_arrive) {
  link_->send(make_message(250, 1000));
  EXPECT_TRUE(other_.worker->progress());
  EXPECT_FALSE(other_.worker->progress());
  EXPECT_EQ(other_.numbers, list{250});
  const auto expected = make_message(250, 1000);
  EXPECT_TRUE(std::ranges::equal(other_.bytes, expected->payload()));
}

TEST_F(loopback_world, payloads_may_be_empty_and_long) {
  link_->send(make_message(1));
  other_.settle();
  EXPECT_TRUE(other_.bytes.empty());
  link_->send(make_message(2, fabric::most_payload));
  other_.settle();
  EXPECT_EQ(other_.bytes.size(), fabric::most_payload);
}

TEST_F(loopback_world, messages_stay_in_order_without_faults) {
  send(1000);
  other_.settle();
  EXPECT_EQ(other_.numbers, count_to(1000));
}

TEST_F(loopback_world, messages_stay_in_order_while_they_are_kept_or_delayed) {
  network_->set_faults({.keep = 0.3, .delay = 500us});
  send(1000);
  while (!mine_.worker->arm()) mine_.worker->progress();
  other_.settle();
  EXPECT_EQ(other_.numbers, count_to(1000));
}

TEST_F(loopback_world, drops_its_share) {
  network_->set_faults({.drop = 0.25});
  send(10000);
  other_.settle();
  EXPECT_NEAR(static_cast<double>(other_.numbers.size()), 7500, 250);
}

TEST_F(loopback_world, the_same_seed_drops_the_same_messages) {
  const auto again = std::make_shared<test::loopback_network>(7),
             differently = std::make_shared<test::loopback_network>(8);
  list found[3];
  for (int run = 0; run < 3; ++run) {
    const auto network = run == 2 ? differently : again;
    const auto fresh = run == 0 ? network_ : network;
    fresh->set_faults({.drop = 0.5});
    process sender(fresh, 20), target(fresh, 21);
    const auto link = sender.connect(target);
    for (std::uint64_t number = 1; number <= 100; ++number) link->send(make_message(number));
    target.settle();
    found[run] = target.numbers;
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_NE(found[0], found[2]);
}

TEST_F(loopback_world, duplicates_arrive_twice) {
  network_->set_faults({.duplicate = 1});
  send(3);
  other_.settle();
  EXPECT_EQ(other_.numbers, (list{1, 1, 2, 2, 3, 3}));
}

TEST_F(loopback_world, reordered_messages_arrive_behind_later_ones) {
  network_->set_faults({.reorder = 1, .hold = 100ms});
  link_->send(make_message(1));
  network_->set_faults({});
  link_->send(make_message(2));
  EXPECT_TRUE(other_.wait_until([&] { return other_.numbers.size() == 2; }));
  EXPECT_EQ(other_.numbers, (list{2, 1}));
}

TEST_F(loopback_world, kept_messages_are_sent_by_progress) {
  network_->set_faults({.keep = 1});
  send(2);
  EXPECT_FALSE(other_.worker->progress());
  EXPECT_FALSE(mine_.worker->arm()) << "there are messages to send";
  EXPECT_TRUE(mine_.worker->progress());
  EXPECT_TRUE(mine_.worker->arm());
  other_.settle();
  EXPECT_EQ(other_.numbers, count_to(2));
}

TEST_F(loopback_world, an_open_link_is_needed_for_kept_messages) {
  network_->set_faults({.keep = 1});
  send(2);
  link_.reset();
  mine_.worker->progress();
  other_.settle();
  EXPECT_EQ(other_.numbers, list());
}

TEST_F(loopback_world, delayed_messages_wake_a_sleeper_when_they_are_due) {
  network_->set_faults({.delay = 100ms});
  const auto begin = clock_type::now();
  send(1);
  EXPECT_FALSE(other_.worker->progress());
  EXPECT_TRUE(other_.worker->arm()) << "a message that is not due is nothing to do";
  EXPECT_TRUE(is_readable(*other_.worker, 2s));
  EXPECT_GE(clock_type::now() - begin, 100ms);
  EXPECT_FALSE(other_.worker->arm());
  EXPECT_TRUE(other_.worker->progress());
}

TEST_F(loopback_world, a_sleeper_wakes_for_a_message_that_is_due_before_others) {
  network_->set_faults({.delay = 10s});
  send(1);
  EXPECT_TRUE(other_.worker->arm());
  network_->set_faults({});
  send(1);
  EXPECT_TRUE(is_readable(*other_.worker, 2s));
}

TEST_F(loopback_world, arming_tells_whether_something_is_there) {
  EXPECT_TRUE(other_.worker->arm());
  EXPECT_FALSE(is_readable(*other_.worker, 0ms));
  send(1);
  EXPECT_TRUE(is_readable(*other_.worker, 2s));
  EXPECT_FALSE(other_.worker->arm());
  other_.worker->progress();
  EXPECT_TRUE(other_.worker->arm());
  EXPECT_FALSE(is_readable(*other_.worker, 0ms));
}

TEST_F(loopback_world, cuts_lose_messages_until_they_end) {
  network_->cut(1, 0);
  send(1);
  back_->send(make_message(1));
  network_->restore(0, 1);
  link_->send(make_message(2));
  other_.settle();
  mine_.settle();
  EXPECT_EQ(other_.numbers, list{2});
  EXPECT_EQ(mine_.numbers, list());
  EXPECT_EQ(mine_.broken, list());
}

TEST_F(loopback_world, cuts_break_links_of_both_sides_later) {
  network_->cut(0, 1, 100ms);
  EXPECT_FALSE(mine_.worker->progress());
  EXPECT_TRUE(mine_.wait_until([&] { return !mine_.broken.empty(); }));
  EXPECT_TRUE(other_.wait_until([&] { return !other_.broken.empty(); }));
  EXPECT_EQ(mine_.broken, list{5});
  EXPECT_EQ(other_.broken, list{6});
}

TEST_F(loopback_world, broken_links_stay_broken_and_new_ones_work) {
  network_->cut(0, 1, 0us);
  mine_.settle();
  network_->restore(0, 1);
  send(1);
  other_.settle();
  EXPECT_EQ(other_.numbers, list());
  link_ = mine_.connect(other_, 7);
  send(1);
  other_.settle();
  EXPECT_EQ(other_.numbers, list{1});
  EXPECT_EQ(mine_.broken, list{5});
}

TEST_F(loopback_world, a_short_cut_breaks_nothing) {
  network_->cut(0, 1, 100ms);
  network_->restore(0, 1);
  std::this_thread::sleep_for(105ms);
  mine_.settle();
  EXPECT_EQ(mine_.broken, list());
}

TEST_F(loopback_world, links_made_during_a_cut_break_too) {
  network_->cut(0, 1, 10ms);
  const auto second = mine_.connect(other_, 8);
  EXPECT_TRUE(mine_.wait_until([&] { return mine_.broken.size() == 2; }));
  EXPECT_EQ(mine_.broken, (list{5, 8}));
}

TEST_F(loopback_world, cuts_concern_two_processes_only) {
  process third(network_, 2);
  const auto link = mine_.connect(third);
  network_->cut(0, 1, 0us);
  link->send(make_message(1));
  third.settle();
  EXPECT_EQ(third.numbers, list{1});
}

TEST_F(loopback_world, killed_processes_neither_send_nor_receive) {
  network_->set_faults({.delay = 5ms});
  send(1);
  network_->kill(1);
  back_->send(make_message(1));
  other_.settle();
  mine_.settle();
  EXPECT_EQ(other_.numbers, list());
  EXPECT_EQ(other_.broken, list());
  EXPECT_EQ(mine_.numbers, list());
  EXPECT_EQ(mine_.broken, list{5});
  EXPECT_TRUE(other_.worker->arm());
}

TEST_F(loopback_world, a_kill_within_a_receiver_ends_delivery) {
  other_.then = [&](const fabric::message_header&) { network_->kill(1); };
  send(3);
  other_.settle();
  EXPECT_EQ(other_.numbers, list{1});
}

TEST_F(loopback_world, links_to_nobody_break_later) {
  const auto unknown = mine_.worker->connect("nobody", 1), absent = mine_.worker->connect(std::string(8, '\1'), 2);
  network_->kill(1);
  const auto dead = mine_.connect(other_, 3);
  EXPECT_EQ(mine_.broken, list());
  mine_.settle();
  std::ranges::sort(mine_.broken);
  EXPECT_EQ(mine_.broken, (list{1, 2, 3, 5}));
}

TEST_F(loopback_world, links_to_a_destroyed_worker_break_after_the_next_message) {
  back_.reset();
  other_.worker.reset();
  mine_.settle();
  EXPECT_EQ(mine_.broken, list());
  send(2);
  mine_.settle();
  EXPECT_EQ(mine_.broken, list{5});
}

TEST_F(loopback_world, destroyed_links_report_nothing) {
  network_->cut(0, 1, 0us);
  link_.reset();
  mine_.settle();
  EXPECT_EQ(mine_.broken, list());
}

TEST_F(loopback_world, receivers_may_send) {
  other_.then = [&](const fabric::message_header& header) { back_->send(make_message(header.number + 1)); };
  send(1);
  other_.settle();
  mine_.settle();
  EXPECT_EQ(mine_.numbers, list{2});
}

TEST_F(loopback_world, counts_what_is_sent) {
  network_->set_faults({.drop = 1});
  link_->send(make_message(1, 100));
  link_->send(make_message(2));
  EXPECT_EQ(mine_.transport.messages_sent(), 2);
  EXPECT_EQ(mine_.transport.bytes_sent(), 100 + 2 * static_cast<int>(sizeof(fabric::message_header)));
  EXPECT_EQ(other_.transport.messages_sent(), 0);
}

// Two threads answer each other and sleep in between. After a lost wake-up wait_until() fails.
TEST(loopback_threads, no_wake_up_is_lost) {
  constexpr std::uint64_t rounds = 20000;
  const auto network = std::make_shared<test::loopback_network>();
  process one(network, 1), two(network, 2);
  const auto play = [](process& player, fabric::link& link, bool begins) {
    player.then = [&](const fabric::message_header& header) { link.send(make_message(header.number)); };
    if (begins) link.send(make_message(1));
    EXPECT_TRUE(player.wait_until([&] { return player.numbers.size() == rounds; }));
  };
  const auto there = one.connect(two), back = two.connect(one);
  std::jthread other([&] { play(two, *back, false); });
  play(one, *there, true);
}

/// Makes workers and links to other processes again and again, and sends on them.
void come_and_go(const std::shared_ptr<test::loopback_network>& network, int number,
                 std::array<std::atomic<std::uint64_t>, 3>& addresses) {
  for (int round = 0; round < 200; ++round) {
    process here(network, number);
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, here.worker->address().data(), sizeof bytes);
    addresses[static_cast<std::size_t>(number)] = bytes;
    std::vector<std::unique_ptr<fabric::link>> links;
    for (const auto& each : addresses) {
      const std::uint64_t address = each;
      links.push_back(here.worker->connect({reinterpret_cast<const char*>(&address), sizeof address}, 0));
    }
    for (int i = 0; i < 5; ++i) {
      for (const auto& link : links) link->send(make_message(1, 100));
      here.worker->progress();
    }
  }
}

TEST(loopback_threads, workers_and_links_go_while_others_send) {
  const auto network = std::make_shared<test::loopback_network>();
  network->set_faults({.drop = 0.1, .duplicate = 0.1, .reorder = 0.1, .hold = 100us, .keep = 0.2, .delay = 10us});
  std::array<std::atomic<std::uint64_t>, 3> addresses{};
  std::vector<std::jthread> running;
  for (int number = 0; number < 3; ++number)
    running.emplace_back([&, number] { come_and_go(network, number, addresses); });
  for (int round = 0; round < 100; ++round) {
    network->cut(0, 1, 50us);
    std::this_thread::sleep_for(100us);
    network->restore(0, 1);
  }
  network->kill(2);
}

}  // namespace
