// Small reductions among the ranks of a node: sums in the order of ranks, in many rounds, whichever rank is late. Other
// operations in flight make progress meanwhile.

#include "comm/node_reduction.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "comm/split.hpp"
#include "reference.hpp"
#include "trials.hpp"

namespace {

using namespace syncyte;
using test::buffer_of;
using test::expect_error;
using test::group;
using test::outcome_of;
using test::shared_world;
using test::unchecked_world;
using test::world;

/// The expected sum, added in the order of ranks: results must be equal to the last bit.
std::vector<double> sum_of_all(int seed, std::int64_t count) {
  return reference::reduce<double>(static_cast<std::uint64_t>(seed), world().size(), count, std::plus<>());
}

void expect_sum(comm::communicator& comm, int seed, std::int64_t count, bool is_in_place) {
  std::vector<double> input = reference::random_values<double>(static_cast<std::uint64_t>(seed), world().rank(), count);
  std::vector<double> output(input.size(), -1.0);
  const auto from = buffer_of(input, SYNCYTE_FLOAT64);
  const auto to = buffer_of(is_in_place ? input : output, SYNCYTE_FLOAT64);
  collectives::run<collectives::allreduce>(comm, "comm_allreduce", {}, is_in_place ? nullptr : &from, SYNCYTE_OP_SUM,
                                           &to);
  ASSERT_EQ(is_in_place ? input : output, sum_of_all(seed, count)) << count << " elements, seed " << seed;
}

/// Checks a reduce_scatter with parts of different lengths, some of them 0, against the parts of sum_of_all().
void expect_part_of_sum(comm::communicator& comm, int seed, std::int64_t longest) {
  std::vector<std::int64_t> lengths;
  for (int rank = 0; rank < world().size(); ++rank) lengths.push_back(longest * ((rank + seed) % 3) / 2);
  const auto mine = lengths.begin() + world().rank();
  const auto first = std::accumulate(lengths.begin(), mine, std::int64_t{0});
  const std::int64_t all = test::sum(lengths);
  std::vector<double> input = reference::random_values<double>(static_cast<std::uint64_t>(seed), world().rank(), all);
  std::vector<double> output(static_cast<std::size_t>(*mine), -1.0);
  const auto from = buffer_of(input, SYNCYTE_FLOAT64);
  const auto to = buffer_of(output, SYNCYTE_FLOAT64);
  collectives::run<collectives::reduce_scatter_along>(comm, "comm_reduce_scatter_along", {}, &from, 0, lengths,
                                                      SYNCYTE_OP_SUM, &to);
  const std::vector<double> whole = sum_of_all(seed, all);
  const std::vector<double> wanted(whole.begin() + first, whole.begin() + first + *mine);
  ASSERT_EQ(output, wanted) << "longest of " << longest << " elements, seed " << seed;
}

std::int64_t most_elements() {
  std::size_t bytes = 8;
  while (world().reduction_on_node()->fits(2 * bytes)) bytes *= 2;
  return static_cast<std::int64_t>(bytes / 8);
}

TEST(node_reduction, is_there_where_several_ranks_share_a_node) {
  const bool is_possible = world().size() > 1 && world().node().count == 1;
  EXPECT_EQ(world().reduction_on_node() != nullptr, is_possible);
  EXPECT_EQ(comm::split(world(), world().rank(), 0, {})->reduction_on_node(), nullptr) << "of one rank";
  if (is_possible) {
    EXPECT_TRUE(world().reduction_on_node()->fits(8192)) << "up to 16 ranks";
  }
}

TEST(node_reduction, sums_in_the_order_of_ranks) {
  if (world().reduction_on_node() == nullptr) GTEST_SKIP();
  const std::int64_t most = most_elements();
  const group unchecked = unchecked_world();
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, most - 1, most, 3 * most})
    for (const bool is_in_place : {false, true}) {
      expect_sum(world(), 3, count, is_in_place);
      expect_sum(*unchecked, 4, count, is_in_place);
    }
}

TEST(node_reduction, scatters_sums_in_the_order_of_ranks) {
  if (world().reduction_on_node() == nullptr) GTEST_SKIP();
  std::size_t longest_bytes = 8;
  while (world().reduction_on_node()->fits_scatter(2 * longest_bytes)) longest_bytes *= 2;
  const auto most = static_cast<std::int64_t>(longest_bytes / 8);
  for (const std::int64_t longest : {std::int64_t{0}, std::int64_t{2}, std::int64_t{9}, most - 1, most})
    for (int seed = 0; seed < 3; ++seed) expect_part_of_sum(world(), seed, longest);
}

TEST(node_reduction, waits_for_whoever_is_late) {
  if (world().reduction_on_node() == nullptr) GTEST_SKIP();
  const group comm = unchecked_world();
  const std::int64_t most = most_elements();
  std::mt19937 same(1), own(static_cast<unsigned>(world().rank()));
  for (int round = 0; round < 200; ++round) {
    if (own() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own() % 500));
    const bool is_long = same() % 8 == 0;
    const auto count = static_cast<std::int64_t>(same() % static_cast<unsigned>(is_long ? 4 * most : 40));
    if (same() % 2 == 0)
      expect_part_of_sum(*comm, round, count);
    else
      expect_sum(*comm, round, count, same() % 2 == 0);
  }
}

TEST(node_reduction, agreements_go_its_way_and_tell_errors) {
  std::vector<double> values(4, 1.0);
  const auto buffer = buffer_of(values, SYNCYTE_FLOAT64);
  const group comm = comm::duplicate(*shared_world(), {});
  for (int i = 0; i < 3; ++i) {
    collectives::run<collectives::allreduce>(*comm, "comm_allreduce", {}, nullptr, SYNCYTE_OP_SUM, &buffer);
    const bool is_last = world().rank() == world().size() - 1;
    const syncyte_op_t op = is_last ? syncyte_op_t{77} : SYNCYTE_OP_SUM;
    expect_error(outcome_of([&] {
                   collectives::run<collectives::allreduce>(*comm, "comm_allreduce", {}, nullptr, op, &buffer);
                 }),
                 SYNCYTE_ERR_ARGUMENT, "op is 77; expected");
    if (world().size() == 1) continue;
    const syncyte_op_t other = is_last ? SYNCYTE_OP_MAX : SYNCYTE_OP_SUM;
    expect_error(outcome_of([&] {
                   collectives::run<collectives::allreduce>(*comm, "comm_allreduce", {}, nullptr, other, &buffer);
                 }),
                 SYNCYTE_ERR_MISMATCH, "op");
  }
  comm::split(*comm, 0, 0, {});
}

TEST(node_reduction, an_application_s_own_messages_go_on_meanwhile) {
  if (world().size() == 1) GTEST_SKIP();
  for (const group& comm : {shared_world(), unchecked_world()}) {
    std::vector<char> letter(4 << 20, static_cast<char>(world().rank()));
    MPI_Request sending = MPI_REQUEST_NULL;
    const int length = static_cast<int>(letter.size());
    if (world().rank() == 0) MPI_Isend(letter.data(), length, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &sending);
    if (world().rank() == 1) MPI_Recv(letter.data(), length, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_sum(*comm, 9, 5, false);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    const std::vector<char> wanted(letter.size(), static_cast<char>(world().rank() < 2 ? 0 : world().rank()));
    EXPECT_EQ(letter, wanted);
  }
}

}  // namespace
