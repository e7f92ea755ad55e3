// SPDX-License-Identifier: BSD-3-Clause
// Links and workers that end while others use them, and resources that run out.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>

#include "ucx_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

TEST(ucx_ends, a_link_is_destroyed_while_it_sends) {
  connected_worker worker;
  for (int round = 0; round < 20; ++round) {
    const std::size_t peer = id(world_size() - 1 - world_rank());
    for (std::uint64_t number = 0; number < 16; ++number) {
      worker.links[peer]->send(make_message(id(world_rank()), number, fabric::most_payload));
    }
    if (round % 2 == 0) worker.mine->progress();
    worker.links[peer].reset();
    worker.links[peer] = worker.mine->connect(worker.addresses[peer], peer);
  }
  worker.meet();
  EXPECT_EQ(worker.received.wrong, 0);
}

TEST(ucx_ends, a_worker_ends_with_messages_not_sent) {
  for (int round = 0; round < 10; ++round) {
    connected_worker worker;
    for (auto& each : worker.links) {
      for (std::uint64_t number = 0; number < 16; ++number) {
        each->send(make_message(id(world_rank()), number, fabric::most_payload));
      }
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(ucx_ends, a_worker_that_is_gone_breaks_links) {
  connected_worker worker;
  worker.meet();
  const bool goes = world_rank() == 0;
  if (goes) {
    worker.links.clear();
    worker.mine.reset();
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  std::uint64_t number = 0;
  EXPECT_TRUE(worker.progress_until([&] {
    worker.to(0).send(make_message(id(world_rank()), ++number, 100));
    return std::ranges::count(worker.received.broken, 0u) == 1;
  }));
}

TEST(ucx_ends, a_link_to_nobody_breaks) {
  checking_receiver received;
  const auto mine = ucx().make_worker(received);
  std::string address;
  {
    checking_receiver ignored;
    address = ucx().make_worker(ignored)->address();
  }
  const auto link = mine->connect(address, 77);
  link->send(make_message(1, 1, 100));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(8);
  while (received.broken.empty() && std::chrono::steady_clock::now() < end) mine->progress();
  EXPECT_EQ(received.broken, std::vector<std::uint64_t>{77});
}

TEST(ucx_ends, an_empty_address_is_refused) {
  checking_receiver received;
  const auto mine = ucx().make_worker(received);
  EXPECT_THROW(mine->connect("", 0), std::runtime_error);
}

/// Makes a worker and connects it to itself.
bool works() {
  checking_receiver received;
  try {
    const auto made = ucx().make_worker(received);
    made->connect(made->address(), 0)->send(make_message(0, 0, 1));
    made->progress();
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

TEST(ucx_ends, an_interval_that_ucx_cannot_hold_is_refused) {
  ucx();
  const char* const name = "SYNCYTE_UCX_KEEPALIVE_INTERVAL";
  const char* const before = std::getenv(name);
  const std::string kept = before != nullptr ? before : "1s";
  const auto reason_of = [&](const char* value) {
    ::setenv(name, value, 1);
    std::string reason;
    fabric::open_module(fabric::ucx_module, reason);
    return reason;
  };
  for (const char* const value : {"1e30s", "1e300", "1e10", "99999999m", "-1s", "0", "nan", "-inf"}) {
    const std::string expected = "environment variable SYNCYTE_UCX_KEEPALIVE_INTERVAL is \"" + std::string(value) +
                                 "\"; expected inf, or a time";
    EXPECT_EQ(reason_of(value).substr(0, expected.size()), expected);
  }
  EXPECT_NE(reason_of("soon"), "");
  for (const char* const value : {"inf", "20ms", "5m", "1e9"}) EXPECT_EQ(reason_of(value), "");
  ::setenv(name, kept.c_str(), 1);
}

TEST(ucx_ends, too_few_descriptors_are_an_error) {
  ucx();
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  int failures = 0;
  for (rlim_t most = 8; most < 200; ++most) {
    const rlimit small = {most, limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &small);
    if (works()) break;
    ++failures;
  }
  setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_GT(failures, 0);
  EXPECT_TRUE(works());
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
