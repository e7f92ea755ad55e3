// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "comm/split.hpp"
#include "window_world.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::make_window;
using test::outcome_of;
using test::rank;
using test::ranks;

TEST(window_create, fails_on_all_ranks_if_one_asks_for_too_much) {
  const std::size_t much = rank() == ranks() - 1 ? std::size_t{1} << 50 : 8;
  const auto result = outcome_of([&] { make_window(much); });
  expect_error(result, SYNCYTE_ERR_MEMORY, "available");
  const auto overflow = outcome_of([&] { make_window(rank() == 0 ? ~std::size_t{0} : 8); });
  expect_error(overflow, SYNCYTE_ERR_MEMORY, "size is");
  EXPECT_EQ(make_window(8)->size(0), 8u);  // the communicator still works
}

TEST(window_create, fails_on_all_ranks_if_the_caller_found_an_error_on_one) {
  const auto result = outcome_of([] {
    comm::collective_call call(test::world(), "test_window_create", comm::collective_call::always_agrees);
    call.attempt([] { base::require(rank() != 0, SYNCYTE_ERR_ARGUMENT, "options are wrong"); });
    window::window::create(call, 8, "never");
  });
  expect_error(result, SYNCYTE_ERR_ARGUMENT, "options are wrong");
}

TEST(window_create, refuses_names_that_differ) {
  if (ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const bool is_odd = rank() == ranks() - 1;
  expect_error(outcome_of([&] { make_window(8, is_odd ? "flags" : "data"); }), SYNCYTE_ERR_MISMATCH,
               fmt::format("but \"flags\" on rank {}", ranks() - 1));
  expect_error(outcome_of([&] { make_window(8, is_odd ? "" : "data"); }), SYNCYTE_ERR_MISMATCH, "is \"data\" on rank");
}

TEST(window_fence, tells_windows_apart) {
  const auto first = make_window(8);
  const auto second = make_window(8);
  const auto result = outcome_of([&] { (rank() == 0 ? first : second)->fence(); });
  if (ranks() == 1)
    EXPECT_EQ(result.status, SYNCYTE_SUCCESS);
  else
    expect_error(result, SYNCYTE_ERR_MISMATCH, "window");
  first->fence();
  second->fence();
}

/// Memory lives until all ranks have dropped it and have met.
TEST(window_lifetime, ends_where_all_ranks_meet) {
  if (ranks() == 1) GTEST_SKIP() << "MPI RMA is between ranks";
  std::vector<std::byte> mine(64);
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = owner;
  std::optional<test::remote_memory> memory(std::in_place, mine, std::move(owner));
  const auto other = make_window(8);
  if (rank() == 0) memory.reset();
  other->fence();
  EXPECT_FALSE(watched.expired()) << "rank 0 has dropped it, the others have not";
  memory.reset();
  other->fence();
  EXPECT_TRUE(watched.expired());
}

TEST(window_lifetime, takes_any_order_of_dropping) {
  std::vector<test::window_pointer> all;
  for (std::size_t i = 0; i < 12; ++i) all.push_back(make_window(8 * (i + 1)));
  const auto keeper = make_window(8);
  std::rotate(all.begin(), all.begin() + rank() % 12, all.end());
  if (rank() % 2 == 1) std::reverse(all.begin(), all.end());
  while (!all.empty()) {
    all.pop_back();
    if (all.size() % 3 == 0) keeper->fence();
  }
  keeper->fence();
  const auto fresh = make_window(16);
  test::put<std::int64_t>(*fresh, (rank() + 1) % ranks(), 1, 5);
  fresh->fence();
  EXPECT_EQ(test::get<std::int64_t>(*fresh, rank(), 1), 5);
}

TEST(window_lifetime, keeps_its_communicator) {
  auto half = comm::split(test::world(), rank() % 2, 0, {});
  test::window_pointer memory;
  {
    comm::collective_call call(*half, "test_window_create", comm::collective_call::always_agrees);
    memory = window::window::create(call, 8, "of a half");
  }
  half.reset();
  const int next = (memory->comm()->rank() + 1) % memory->comm()->size();
  test::put<std::int64_t>(*memory, next, 0, rank());
  memory->fence();
  EXPECT_EQ(test::get<std::int64_t>(*memory, memory->comm()->rank(), 0) % 2, rank() % 2);
}

TEST(window_lifetime, survives_many) {
  for (int turn = 0; turn < 60; ++turn) {
    const auto memory = make_window(4096);
    test::put<std::int32_t>(*memory, (rank() + 1) % ranks(), 3, turn);
    memory->fence();
    ASSERT_EQ(test::get<std::int32_t>(*memory, rank(), 3), turn);
  }
}

}  // namespace
