// SPDX-License-Identifier: BSD-3-Clause
// Started operations of windows: the same results as the blocking ones, several at once, in any order of their ends.
#include <gtest/gtest.h>

#include <chrono>
#include <complex>
#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "fabric/process_engine.hpp"
#include "window_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

using started = std::unique_ptr<access::started>;

constexpr std::size_t word = sizeof(std::int64_t);

/// Operations of a rank that take long by MPI.
int rounds() { return goes_through_mpi() ? 20 : 200; }

TEST(started_window, puts_and_gets_of_every_rank) {
  constexpr std::size_t length = 100'000;  // several requests
  const auto memory = make_window(static_cast<std::size_t>(ranks()) * length * word);
  std::vector<std::int64_t> mine(length);
  std::iota(mine.begin(), mine.end(), 1000 * rank());
  const auto place = static_cast<std::int64_t>(static_cast<std::size_t>(rank()) * length * word);
  std::deque<started> all;
  const syncyte_buffer_t source = elements_at(mine.data(), SYNCYTE_INT64, length);
  for (int other = 0; other < ranks(); ++other)
    all.push_back(access::start<window::put>(memory, other, place, &source));
  for (auto each = all.rbegin(); each != all.rend(); ++each) (*each)->wait();
  memory->fence();
  std::vector<std::vector<std::int64_t>> found(static_cast<std::size_t>(ranks()), std::vector<std::int64_t>(length));
  all.clear();
  for (int other = 0; other < ranks(); ++other) {
    const syncyte_buffer_t target = elements_at(found[static_cast<std::size_t>(other)].data(), SYNCYTE_INT64, length);
    all.push_back(access::start<window::get>(memory, other, place, &target));
  }
  for (auto& each : all) each->wait();
  for (const auto& each : found) EXPECT_EQ(each, mine);
  memory->fence();
}

TEST(started_window, ends_without_calls) {
  std::string reason;
  if (test::goes_through_mpi() && fabric::process_engine(reason) == nullptr)
    GTEST_SKIP() << "by MPI RMA a put is complete at the target when its request has ended";
  const auto memory = make_window(word);
  const std::int64_t value = rank() + 5;
  const int next = (rank() + 1) % ranks();
  const syncyte_buffer_t source = bytes_at(&value, word);
  const started put = access::start<window::put>(memory, next, 0, &source);
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t expected = (rank() + ranks() - 1) % ranks() + 5;  // of the rank before, which calls nothing for it
  std::int64_t found = 0;
  while (found != expected && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    found = get<std::int64_t>(*memory, rank(), 0);
  }
  EXPECT_EQ(found, expected);
  memory->fence();
  put->wait();
}

TEST(started_window, loses_no_accumulate) {
  const auto memory = make_window(3 * word);
  const std::vector<std::int64_t> ones{1, 2, 3};
  const syncyte_buffer_t source = elements_at(ones.data(), SYNCYTE_INT64, 3);
  std::deque<started> all;
  for (int i = 0; i < rounds(); ++i)
    for (int other = 0; other < ranks(); ++other)
      all.push_back(access::start<window::accumulate>(memory, other, 0, &source, SYNCYTE_OP_SUM));
  for (auto& each : all) each->wait();
  memory->fence();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(get<std::int64_t>(*memory, rank(), i), ones[i] * rounds() * ranks());
  memory->fence();
}

TEST(started_window, fetches_different_tickets) {
  const auto memory = make_window(word);
  const auto count = static_cast<std::size_t>(rounds());
  std::vector<std::int64_t> tickets(count, -1);
  std::deque<started> all;
  for (std::int64_t& ticket : tickets) {
    std::int64_t one = 1;
    all.push_back(access::start<window::fetch_op>(memory, 0, 0, SYNCYTE_INT64, &one, SYNCYTE_OP_SUM, &ticket));
    one = -100;  // it has been copied
  }
  for (auto& each : all) each->wait();
  EXPECT_EQ(std::set(tickets.begin(), tickets.end()).size(), count);
  memory->fence();
  EXPECT_EQ(get<std::int64_t>(*memory, 0, 0), rounds() * ranks());
  memory->fence();
}

/// A complex number of 16 bytes has no atomics of the processor.
TEST(started_window, adds_long_elements) {
  using number = std::complex<double>;
  const auto memory = make_window(sizeof(number));
  std::deque<started> all;
  std::vector<number> previous(static_cast<std::size_t>(rounds()));
  for (number& old : previous) {
    const number one{1, -1};
    all.push_back(access::start<window::fetch_op>(memory, 0, 0, SYNCYTE_COMPLEX128, &one, SYNCYTE_OP_SUM, &old));
  }
  for (auto& each : all) each->wait();
  for (const number& old : previous) EXPECT_EQ(old.real(), -old.imag());
  memory->fence();
  EXPECT_EQ(get<number>(*memory, 0, 0), number(rounds() * ranks(), -rounds() * ranks()));
  memory->fence();
}

TEST(started_window, swaps_once) {
  const auto memory = make_window(word);
  std::int64_t old = -1;
  started swap;
  {
    const std::int64_t expected = 0, desired = rank() + 1;
    swap = access::start<window::compare_swap>(memory, 0, 0, SYNCYTE_INT64, &expected, &desired, &old);
  }
  swap->wait();
  memory->fence();
  const auto winner = get<std::int64_t>(*memory, 0, 0);
  EXPECT_EQ(old, winner == rank() + 1 ? 0 : winner);
  memory->fence();
}

TEST(started_window, keeps_the_window) {
  auto memory = make_window(word);
  const std::int64_t value = 3;
  std::int64_t found = 0;
  const int next = (rank() + 1) % ranks();
  const syncyte_buffer_t source = bytes_at(&value, word), target = bytes_at(&found, word);
  access::start<window::put>(memory, next, 0, &source)->wait();
  const started read = access::start<window::get>(memory, next, 0, &target);
  memory.reset();
  read->wait();
  EXPECT_EQ(found, value);
  comm::collective_call(world(), "test_barrier", comm::collective_call::always_agrees).agree();
}

TEST(started_window, wrong_arguments_fail_at_once) {
  const auto memory = make_window(word);
  std::int64_t value = 0;
  const syncyte_buffer_t given = bytes_at(&value, word), nothing = bytes_at(nullptr, 0);
  expect_error(outcome_of([&] { access::start<window::put>(memory, 0, 1, &given); }), SYNCYTE_ERR_INDEX, "offset");
  expect_error(outcome_of([&] { access::start<window::get>(memory, ranks(), 0, &given); }), SYNCYTE_ERR_ARGUMENT,
               "rank");
  expect_error(outcome_of([&] {
                 access::start<window::fetch_op>(memory, 0, 0, SYNCYTE_INT64, nullptr, SYNCYTE_OP_SUM, &value);
               }),
               SYNCYTE_ERR_ARGUMENT, "operand");
  EXPECT_TRUE(access::start<window::put>(memory, 0, static_cast<std::int64_t>(word), &nothing)->test());
  memory->fence();
}

}  // namespace
