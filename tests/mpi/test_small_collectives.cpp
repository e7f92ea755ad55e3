// SPDX-License-Identifier: BSD-3-Clause
// Collectives of a few values, against values that each rank computes for all others.

#include "mpi/small_collectives.hpp"

#include <functional>
#include <memory>
#include <vector>

#include "mpi_world.hpp"
#include "reference.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::in_child;
using test::outcome_of;
using test::own_comm;
using test::world_rank;
using test::world_size;

constexpr std::int64_t counts[] = {0, 1, 3, 1000};

/// Has padding, and is no number.
struct record {
  char letter = 0;
  std::int64_t number = 0;
  friend bool operator==(const record&, const record&) = default;
};

record record_of(int rank, std::int64_t i) { return {static_cast<char>('a' + rank), 1000 * rank - i}; }

TEST(small_collectives, rank_and_size) {
  int rank = -1, size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(mpi::rank_in(MPI_COMM_WORLD), rank);
  EXPECT_EQ(mpi::size_of(MPI_COMM_WORLD), size);
  EXPECT_EQ(mpi::rank_in(MPI_COMM_SELF), 0);
  EXPECT_EQ(mpi::size_of(MPI_COMM_SELF), 1);
}

template <class T>
void expect_allgather() {
  const own_comm comm;
  for (const std::int64_t count : counts) {
    const auto mine = reference::random_values<T>(5, world_rank(), count);
    const auto all = mpi::allgather(std::span<const T>(mine), comm);
    EXPECT_EQ(all, reference::allgatherv<T>(5, reference::lengths(static_cast<std::size_t>(world_size()), count)));
  }
}

TEST(small_collectives, allgather_is_the_reference) {
  expect_allgather<char>();
  expect_allgather<std::int64_t>();
  expect_allgather<double>();
}

TEST(small_collectives, allgather_of_one_value_each_is_in_the_order_of_ranks) {
  const own_comm comm;
  const auto all = mpi::allgather(record_of(world_rank(), 7), comm);
  ASSERT_EQ(all.size(), static_cast<std::size_t>(world_size()));
  for (int rank = 0; rank < world_size(); ++rank)
    EXPECT_EQ(all[static_cast<std::size_t>(rank)], record_of(rank, 7)) << rank;
}

TEST(small_collectives, bcast_gives_all_the_values_of_each_root) {
  const own_comm comm;
  for (int root = 0; root < world_size(); ++root) {
    for (const std::int64_t count : counts) {
      std::vector<record> values, expected;
      for (std::int64_t i = 0; i < count; ++i) {
        values.push_back(record_of(world_rank(), i));
        expected.push_back(record_of(root, i));
      }
      mpi::bcast(std::span(values), root, comm);
      EXPECT_EQ(values, expected);
    }
    int number = world_rank();
    mpi::bcast(number, root, comm);
    EXPECT_EQ(number, root);
  }
}

TEST(small_collectives, alltoall_has_one_number_for_each_rank) {
  const own_comm comm;
  const auto number = [](int from, int to) { return (std::int64_t{1} << 40) * from - to; };
  std::vector<std::int64_t> to_ranks, from_ranks(static_cast<std::size_t>(world_size())), expected;
  for (int rank = 0; rank < world_size(); ++rank) {
    to_ranks.push_back(number(world_rank(), rank));
    expected.push_back(number(rank, world_rank()));
  }
  mpi::alltoall(to_ranks, from_ranks, comm);
  EXPECT_EQ(from_ranks, expected);
}

TEST(small_collectives, allreduce_is_the_reference) {
  using number = std::uint64_t;
  const own_comm comm;
  const std::pair<MPI_Op, number (*)(const number&, const number&)> ops[] = {
      {MPI_SUM, [](const number& a, const number& b) { return a + b; }},
      {MPI_MAX, [](const number& a, const number& b) { return std::max(a, b); }},
      {MPI_MIN, [](const number& a, const number& b) { return std::min(a, b); }},
      {MPI_BOR, [](const number& a, const number& b) { return a | b; }},
      {MPI_BAND, [](const number& a, const number& b) { return a & b; }},
  };
  const auto number_of = [](int rank, std::int64_t i) { return reference::random_bits(9, rank, i); };
  for (const auto& [op, combine] : ops)
    for (const std::int64_t count : counts) {
      std::vector<number> values, expected;
      for (std::int64_t i = 0; i < count; ++i) {
        values.push_back(number_of(world_rank(), i));
        number result = number_of(0, i);
        for (int rank = 1; rank < world_size(); ++rank) result = combine(result, number_of(rank, i));
        expected.push_back(result);
      }
      mpi::allreduce(std::span(values), op, comm);
      EXPECT_EQ(values, expected);
    }
}

TEST(small_collectives, allreduce_of_one_number_or_truth_value) {
  const own_comm comm;
  const bool is_last = world_rank() == world_size() - 1;
  EXPECT_TRUE(mpi::allreduce(is_last, MPI_MAX, comm));
  EXPECT_EQ(mpi::allreduce(is_last, MPI_MIN, comm), world_size() == 1);
  EXPECT_EQ(mpi::allreduce(static_cast<std::uint8_t>(7 + world_rank()), MPI_MIN, comm), 7);
  EXPECT_EQ(mpi::allreduce(~std::uint64_t{0} - static_cast<std::uint64_t>(world_rank()), MPI_MAX, comm),
            ~std::uint64_t{0});
}

TEST(small_collectives, communicators_are_separate) {
  const own_comm part(mpi::split(MPI_COMM_WORLD, world_rank() % 2, -world_rank()));
  EXPECT_EQ(mpi::allgather(world_rank(), part), mpi::world_ranks(part));
  int number = world_rank();
  mpi::bcast(number, 0, part);
  EXPECT_EQ(number, mpi::world_ranks(part).front());
}

TEST(small_collectives, an_error_of_the_start_is_thrown) {
  expect_error(outcome_of([] { mpi::run("MPI_Ibcast", nullptr, [](MPI_Request*) { return MPI_ERR_COUNT; }); }),
               SYNCYTE_ERR_MPI, "MPI_Ibcast failed: ");
  const own_comm comm;
  int number = 0;
  expect_error(outcome_of([&] { mpi::bcast(number, world_size(), comm); }), SYNCYTE_ERR_MPI, "MPI_Ibcast failed: ");
}

TEST(small_collectives, memory_stays_if_the_wait_fails) {
  in_child([] {
    auto memory = std::make_shared<int>(1);
    const std::weak_ptr<int> observer = memory;
    const auto dying = [](MPI_Request*) {
      mpi::declare_dead(1000);
      return MPI_SUCCESS;
    };
    expect_error(outcome_of([&] { mpi::run("MPI_Ibcast", std::move(memory), dying); }), SYNCYTE_ERR_PEER_DIED,
                 "rank 1000");
    EXPECT_FALSE(observer.expired());
  });
}

TEST(small_collectives, memory_is_freed_after_a_success) {
  auto memory = std::make_shared<int>(1);
  const std::weak_ptr<int> observer = memory;
  mpi::run("MPI_Ibcast", std::move(memory), [](MPI_Request*) { return MPI_SUCCESS; });
  EXPECT_TRUE(observer.expired());
}

TEST(small_collectives, nothing_starts_after_a_death) {
  in_child([] {
    mpi::declare_dead(1000);
    bool has_started = false;
    const auto start = [&](MPI_Request*) {
      has_started = true;
      return MPI_SUCCESS;
    };
    expect_error(outcome_of([&] { mpi::run("MPI_Ibcast", nullptr, start); }), SYNCYTE_ERR_PEER_DIED, "rank 1000");
    EXPECT_FALSE(has_started);
  });
}

}  // namespace
