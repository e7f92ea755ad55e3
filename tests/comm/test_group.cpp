// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "comm/split.hpp"
#include "core_world.hpp"
#include "mpi/process.hpp"
#include "runtime/roots.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::outcome_of;
using test::world;

using list = std::vector<std::int32_t>;

std::shared_ptr<comm::communicator> group(comm::communicator& of, const list& ranks, int tag = 0,
                                          const comm::communicator_options& options = {}) {
  return runtime::group(of, ranks, tag, options);
}

list all_ranks() {
  list all;
  for (int rank = 0; rank < world().size(); ++rank) all.push_back(rank);
  return all;
}

bool names(const list& ranks, int rank) { return std::find(ranks.begin(), ranks.end(), rank) != ranks.end(); }

int sum_of_ranks(comm::communicator& of) {
  std::int32_t number = world().rank();
  const auto buffer = base::make_buffer(&number, SYNCYTE_INT32, {});
  collectives::run<collectives::allreduce>(of, "comm_allreduce", {}, nullptr, SYNCYTE_OP_SUM, &buffer);
  return number;
}

TEST(group, is_made_by_its_ranks_alone_in_the_lists_order) {
  const int size = world().size();
  list odd;
  for (int rank = (size - 2) / 2 * 2 + 1; rank > 0; rank -= 2) odd.push_back(rank);
  if (!names(odd, world().rank())) return;  // other ranks take no part
  const auto made = group(world(), odd);
  EXPECT_EQ(made->size(), size / 2);
  EXPECT_EQ(odd[static_cast<std::size_t>(made->rank())], world().rank());
  EXPECT_EQ(sum_of_ranks(*made), size / 2 * (size / 2));
  EXPECT_EQ(made->name(), "world/group");
}

TEST(group, of_one_rank_and_of_all) {
  EXPECT_EQ(sum_of_ranks(*group(world(), {world().rank()})), world().rank());
  EXPECT_EQ(sum_of_ranks(*group(world(), all_ranks())), world().size() * (world().size() - 1) / 2);
}

TEST(group, overlapping_ones_are_made_along_a_chain) {
  for (int round = 0; round < 10; ++round)  // each rank enters with another delay
    for (int left = 0; left + 1 < world().size(); ++left) {
      const list pair{left, left + 1};
      if (!names(pair, world().rank())) continue;
      EXPECT_EQ(sum_of_ranks(*group(world(), pair)), 2 * left + 1);
    }
}

TEST(group, threads_make_them_at_once_with_different_tags) {
  const int rank = world().rank();
  if (mpi::thread_level() < 3) GTEST_SKIP() << "MPI allows one thread";
  const auto make = [](int tag) { EXPECT_EQ(group(world(), all_ranks(), tag)->size(), world().size()); };
  // Even ranks make the groups in one order, odd ranks in the other.
  std::thread first(make, rank % 2);
  std::thread second(make, 1 - rank % 2);
  first.join();
  second.join();
}

TEST(group, bad_lists_are_every_ranks_error_and_harm_no_later_one) {
  const int size = world().size();
  list twice = all_ranks(), beyond = all_ranks();
  twice.push_back(0);
  beyond.push_back(size);
  expect_error(outcome_of([&] { group(world(), twice); }), SYNCYTE_ERR_ARGUMENT,
               fmt::format("ranks[{}] is 0; expected every rank once", size));
  expect_error(outcome_of([&] { group(world(), beyond); }), SYNCYTE_ERR_ARGUMENT,
               fmt::format("ranks[{0}] is {0}; expected 0 to {1}", size, size - 1));
  comm::communicator_options options;
  options.check = world().rank() == size - 1 ? 9 : 1;
  expect_error(outcome_of([&] { group(world(), all_ranks(), 0, options); }), SYNCYTE_ERR_ARGUMENT,
               "options->check is 9");
  EXPECT_EQ(group(world(), all_ranks())->size(), size);
}

TEST(group, what_one_rank_alone_can_see_is_its_own_error) {
  expect_error(outcome_of([] { group(world(), {world().rank() + 1}); }), SYNCYTE_ERR_ARGUMENT, "expected this rank");
  expect_error(outcome_of([] { group(world(), {world().rank()}, 1024); }), SYNCYTE_ERR_ARGUMENT,
               "tag is 1024; expected 0 to 1023");
}

void expect_mismatch(const list& mine) {
  const auto parent = comm::duplicate(world(), {});
  expect_error(outcome_of([&] { group(*parent, mine); }), SYNCYTE_ERR_MISMATCH, "ranks");
  expect_error(outcome_of([&] { group(*parent, all_ranks()); }), SYNCYTE_ERR_MISMATCH, "an earlier one has failed");
  collectives::barrier(*parent);
}

TEST(group, lists_in_another_order_are_an_error_of_all) {
  if (world().size() < 2) return;
  list mine = all_ranks();
  if (world().rank() == 0) std::reverse(mine.begin(), mine.end());
  expect_mismatch(mine);
}

TEST(group, a_rank_that_some_do_not_name_is_told_by_those_who_do) {
  const int size = world().size();
  if (size < 3) return;
  list mine = all_ranks();
  if (world().rank() == 0) mine.pop_back();
  expect_mismatch(mine);
}

}  // namespace
