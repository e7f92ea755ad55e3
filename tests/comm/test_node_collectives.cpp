// SPDX-License-Identifier: BSD-3-Clause
// Small collectives among the ranks of a node: sums in the order of ranks, in many rounds, whichever rank is late.
// Other operations in flight make progress meanwhile.

#include "comm/node_collectives.hpp"

#include <algorithm>
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
  collectives::run<collectives::reduce_scatter_along>(comm, "comm_reduce_scatter_along", {}, &from, 0, SYNCYTE_OP_SUM,
                                                      lengths, &to);
  const std::vector<double> whole = sum_of_all(seed, all);
  const std::vector<double> wanted(whole.begin() + first, whole.begin() + first + *mine);
  ASSERT_EQ(output, wanted) << "longest of " << longest << " elements, seed " << seed;
}

std::vector<double> of_rank(int seed, int rank, std::int64_t count) {
  return reference::random_values<double>(static_cast<std::uint64_t>(seed), rank, count);
}

void expect_reduce(comm::communicator& comm, int seed, std::int64_t count, bool is_in_place) {
  const int root = seed % comm.size();
  const bool is_root = comm.rank() == root;
  std::vector<double> input = of_rank(seed, comm.rank(), count);
  std::vector<double> output(input.size(), -1.0);
  std::vector<double>& result = is_in_place ? input : output;
  const auto from = buffer_of(input, SYNCYTE_FLOAT64);
  const auto to = buffer_of(result, SYNCYTE_FLOAT64);
  collectives::run<collectives::reduce>(comm, "comm_reduce", {}, is_root && is_in_place ? nullptr : &from,
                                        SYNCYTE_OP_SUM, root, is_root ? &to : nullptr);
  ASSERT_EQ(result, is_root       ? sum_of_all(seed, count)
                    : is_in_place ? input
                                  : std::vector<double>(input.size(), -1.0))
      << count << " elements, seed " << seed;
}

void expect_bcast(comm::communicator& comm, int seed, std::int64_t count) {
  const int root = seed % comm.size();
  std::vector<double> data = of_rank(seed, comm.rank(), count);
  const auto buffer = buffer_of(data, SYNCYTE_FLOAT64);
  collectives::run<collectives::bcast>(comm, "comm_bcast", {}, root, &buffer);
  ASSERT_EQ(data, of_rank(seed, root, count)) << count << " elements, seed " << seed;
}

/// Parts of different lengths, some of them 0.
std::int64_t length_of(int seed, int source, int target, std::int64_t longest) {
  return longest * ((source + 2 * target + seed) % 3) / 2;
}

void expect_allgather(comm::communicator& comm, int seed, std::int64_t longest) {
  std::vector<std::int64_t> lengths;
  std::vector<double> wanted;
  for (int rank = 0; rank < comm.size(); ++rank) {
    lengths.push_back(length_of(seed, rank, 0, longest));
    const std::vector<double> part = of_rank(seed, rank, lengths.back());
    wanted.insert(wanted.end(), part.begin(), part.end());
  }
  std::vector<double> input = of_rank(seed, comm.rank(), lengths[static_cast<std::size_t>(comm.rank())]);
  std::vector<double> output(wanted.size(), -1.0);
  const auto from = buffer_of(input, SYNCYTE_FLOAT64);
  const auto to = buffer_of(output, SYNCYTE_FLOAT64);
  collectives::run<collectives::allgatherv>(comm, "comm_allgatherv", {}, &from,
                                            collectives::given_counts{lengths.data(), comm.size()}, &to);
  ASSERT_EQ(output, wanted) << "longest of " << longest << " elements, seed " << seed;
}

/// Elements that rank `source` sends to rank `target`.
std::vector<double> sent(int seed, int source, int target, std::int64_t longest) {
  return of_rank(seed + 1000 * target, source, length_of(seed, source, target, longest));
}

void expect_alltoall(comm::communicator& comm, int seed, std::int64_t longest) {
  std::vector<std::int64_t> sends, receives;
  std::vector<double> input, wanted;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::vector<double> to = sent(seed, comm.rank(), rank, longest),
                              from = sent(seed, rank, comm.rank(), longest);
    sends.push_back(std::ssize(to));
    receives.push_back(std::ssize(from));
    input.insert(input.end(), to.begin(), to.end());
    wanted.insert(wanted.end(), from.begin(), from.end());
  }
  std::vector<double> output(wanted.size(), -1.0);
  const auto from = buffer_of(input, SYNCYTE_FLOAT64);
  const auto to = buffer_of(output, SYNCYTE_FLOAT64);
  collectives::run<collectives::alltoallv>(comm, "comm_alltoallv", {}, &from,
                                           collectives::given_counts{sends.data(), comm.size()},
                                           collectives::given_counts{receives.data(), comm.size()}, &to);
  ASSERT_EQ(output, wanted) << "longest of " << longest << " elements, seed " << seed;
}

std::int64_t most_elements() {
  std::size_t bytes = 8;
  while (world().collectives_on_node()->fits(2 * bytes)) bytes *= 2;
  return static_cast<std::int64_t>(bytes / 8);
}

TEST(node_collectives, is_there_where_several_ranks_share_a_node) {
  const bool is_possible = world().size() > 1 && world().node().count == 1;
  EXPECT_EQ(world().collectives_on_node() != nullptr, is_possible);
  EXPECT_EQ(comm::split(world(), world().rank(), 0, {})->collectives_on_node(), nullptr) << "of one rank";
  if (is_possible) {
    EXPECT_TRUE(world().collectives_on_node()->fits(8192)) << "up to 16 ranks";
  }
}

TEST(node_collectives, sums_in_the_order_of_ranks) {
  if (world().collectives_on_node() == nullptr) GTEST_SKIP();
  const std::int64_t most = most_elements();
  const group unchecked = unchecked_world();
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, most - 1, most, 3 * most})
    for (const bool is_in_place : {false, true}) {
      expect_sum(world(), 3, count, is_in_place);
      expect_sum(*unchecked, 4, count, is_in_place);
    }
}

/// A rank's contribution: reciprocals, whose sums have other last bits in another order.
std::vector<double> reciprocals(int rank, std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(1.0 / static_cast<double>(reference::random_integer(11, rank, i, 1, 1000000)));
  return values;
}

TEST(node_collectives, rounds_sums_as_a_loop_over_the_ranks_does) {
  if (world().collectives_on_node() == nullptr) GTEST_SKIP();
  const int size = world().size();
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{7}, most_elements() / size}) {
    std::vector<double> wanted = reciprocals(0, count * size);
    for (int rank = 1; rank < size; ++rank)
      std::ranges::transform(wanted, reciprocals(rank, count * size), wanted.begin(), std::plus<>());
    std::vector<double> input = reciprocals(world().rank(), count * size), output(input.size()),
                        part(static_cast<std::size_t>(count));
    const auto from = buffer_of(input, SYNCYTE_FLOAT64), to = buffer_of(output, SYNCYTE_FLOAT64),
               to_part = buffer_of(part, SYNCYTE_FLOAT64);
    collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, &from, SYNCYTE_OP_SUM, &to);
    EXPECT_EQ(output, wanted) << count << " elements for each rank";
    const std::vector<std::int64_t> lengths(static_cast<std::size_t>(size), count);
    collectives::run<collectives::reduce_scatter_along>(world(), "comm_reduce_scatter_along", {}, &from, 0,
                                                        SYNCYTE_OP_SUM, lengths, &to_part);
    const auto first = wanted.begin() + world().rank() * count;
    EXPECT_EQ(part, std::vector<double>(first, first + count)) << count << " elements for each rank";
  }
}

TEST(node_collectives, scatters_sums_in_the_order_of_ranks) {
  if (world().collectives_on_node() == nullptr) GTEST_SKIP();
  std::size_t longest_bytes = 8;
  while (world().collectives_on_node()->fits_scatter(2 * longest_bytes)) longest_bytes *= 2;
  const auto most = static_cast<std::int64_t>(longest_bytes / 8);
  for (const std::int64_t longest : {std::int64_t{0}, std::int64_t{2}, std::int64_t{9}, most - 1, most})
    for (int seed = 0; seed < 3; ++seed) expect_part_of_sum(world(), seed, longest);
}

/// Lengths around those of a round, and of a rank's share of it.
TEST(node_collectives, moves_elements_of_every_length) {
  comm::node_collectives* const node = world().collectives_on_node();
  if (node == nullptr) GTEST_SKIP();
  std::int64_t round = 1, share = 1;
  while (node->fits_round(static_cast<std::size_t>(8 * (round + 1)))) ++round;
  while (node->fits_share(static_cast<std::size_t>(8 * (share + 1)))) ++share;
  const group unchecked = unchecked_world();
  for (const std::int64_t count :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, share, share + 2, round, round + 2})
    for (const group& comm : {shared_world(), unchecked}) {
      const int seed = static_cast<int>(count % 100);
      expect_bcast(*comm, seed, count);
      expect_allgather(*comm, seed, count);
      expect_alltoall(*comm, seed, count);
      expect_reduce(*comm, seed, count, false);
      expect_reduce(*comm, seed, count, true);
    }
}

TEST(node_collectives, waits_for_whoever_is_late) {
  if (world().collectives_on_node() == nullptr) GTEST_SKIP();
  const group comm = unchecked_world();
  const std::int64_t most = most_elements();
  std::mt19937 same(1), own(static_cast<unsigned>(world().rank()));
  for (int round = 0; round < 300; ++round) {
    if (own() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own() % 500));
    const bool is_long = same() % 8 == 0;
    const auto count = static_cast<std::int64_t>(same() % static_cast<unsigned>(is_long ? 4 * most : 40));
    switch (same() % 6) {
      case 0:
        expect_part_of_sum(*comm, round, count);
        break;
      case 1:
        expect_bcast(*comm, round, count);
        break;
      case 2:
        expect_allgather(*comm, round, count);
        break;
      case 3:
        expect_alltoall(*comm, round, count);
        break;
      case 4:
        expect_reduce(*comm, round, count, round % 2 == 0);
        break;
      default:
        expect_sum(*comm, round, count, round % 2 == 0);
    }
  }
}

TEST(node_collectives, agreements_go_its_way_and_tell_errors) {
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

TEST(node_collectives, an_application_s_own_messages_go_on_meanwhile) {
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
