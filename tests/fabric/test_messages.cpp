// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "ucx_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

class sizes : public testing::TestWithParam<std::size_t> {};

TEST_P(sizes, arrive_with_their_contents) {
  constexpr std::uint64_t count = 20;
  connected_worker worker;
  for (std::uint64_t number = 0; number < count; ++number) {
    for (auto& each : worker.links) each->send(make_message(id(world_rank()), number, GetParam()));
  }
  EXPECT_TRUE(worker.progress_until([&] { return worker.received.total() == count * worker.links.size(); }));
  worker.meet();
  for (int rank = 0; rank < world_size(); ++rank)
    EXPECT_EQ(worker.received.counts[id(rank)], static_cast<int>(count)) << rank;
  EXPECT_EQ(worker.received.wrong, 0);
  EXPECT_TRUE(worker.received.broken.empty());
  worker.meet();
}
INSTANTIATE_TEST_SUITE_P(ucx, sizes, testing::Values(0, 1, 64, 8192, 65536, fabric::most_payload));

TEST(ucx_messages, thousands_in_both_directions) {
  constexpr int count = 5000;
  connected_worker worker;
  const int peer = (world_rank() + 1) % world_size();
  const int before = (world_rank() + world_size() - 1) % world_size();
  for (std::uint64_t number = 0; number < count; ++number) {
    worker.to(peer).send(make_message(id(world_rank()), number, number % 3000));
    worker.mine->progress();
  }
  EXPECT_TRUE(worker.progress_until([&] { return worker.received.counts[id(before)] == count; }));
  EXPECT_EQ(worker.received.wrong, 0);
  worker.meet();
}

// The receiver answers inside on_message().
TEST(ucx_messages, answers_are_sent_while_receiving) {
  constexpr std::uint64_t rounds = 200;
  connected_worker worker;
  const int peer = world_size() - 1 - world_rank();
  worker.received.then = [&](const fabric::message_header& header) {
    if (header.number < rounds) worker.to(peer).send(make_message(id(world_rank()), header.number + 1, 100));
  };
  worker.to(peer).send(make_message(id(world_rank()), 0, 100));
  EXPECT_TRUE(worker.progress_until([&] { return worker.received.counts[id(peer)] == rounds + 1; }));
  worker.meet();
}

TEST(ucx_messages, an_exception_of_the_receiver_leaves_progress) {
  connected_worker worker;
  worker.received.then = [](const fabric::message_header&) { throw std::runtime_error("refused"); };
  worker.to(world_rank()).send(make_message(id(world_rank()), 0, 1));
  EXPECT_THROW(worker.progress_until([&] { return false; }), std::runtime_error);
  worker.meet();
}

TEST(ucx_messages, a_sleeping_worker_wakes_up) {
  connected_worker worker;
  worker.meet();
  const int sleeper = world_size() - 1;
  if (world_rank() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    worker.to(sleeper).send(make_message(0, 1, 1000));
    worker.mine->progress();
  }
  if (world_rank() == sleeper) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (worker.received.counts[0] == 0 && std::chrono::steady_clock::now() < end) {
      sleep_until_event(*worker.mine, 5000);
      while (worker.mine->progress()) {
      }
    }
    EXPECT_EQ(worker.received.counts[0], 1);
  }
  worker.meet();
}

TEST(ucx_messages, an_armed_worker_uses_no_processor_time) {
  connected_worker worker;
  worker.meet();
  while (worker.mine->progress()) {
  }
  const auto used = [] {
    rusage usage = {};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
           1e-6 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  const double before = used();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  while (std::chrono::steady_clock::now() < end) {
    sleep_until_event(*worker.mine, 500);
    while (worker.mine->progress()) {
    }
  }
  EXPECT_LT(used() - before, 0.2);
  worker.meet();
}

}  // namespace
