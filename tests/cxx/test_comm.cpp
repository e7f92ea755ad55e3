// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <optional>
#include <syncyte/mpi.hpp>
#include <syncyte/syncyte.hpp>
#include <vector>

#include "expect.hpp"
#include "fortran_handles.h"
#include "reference.hpp"

namespace {

namespace reference = syncyte::reference;
using syncyte::communicator;
using syncyte::test::expect_error;

class cxx_comm : public testing::Test {
 protected:
  communicator world_ = communicator::world();
  int rank_ = world_.rank();
  int size_ = world_.size();
};

TEST_F(cxx_comm, is_started_and_knows_its_ranks) {
  EXPECT_TRUE(syncyte::initialized());
  EXPECT_EQ(syncyte::provided_thread_level(), syncyte::thread_level::multiple);
  EXPECT_TRUE(syncyte::mpi_takes(SYNCYTE_MEMORY_HOST));
  EXPECT_LT(rank_, size_);
  EXPECT_EQ(communicator::self().size(), 1);
  const auto nodes = world_.nodes();
  const communicator node = world_.split_node();
  EXPECT_EQ(node.size(), nodes.node_size);
  EXPECT_EQ(node.rank(), nodes.node_rank);
  EXPECT_LT(nodes.node, nodes.nodes);
  EXPECT_EQ(world_.allreduce_value(nodes.node_rank == 0 ? nodes.node_size : 0), size_) << "each rank is on one node";
}

TEST_F(cxx_comm, a_group_has_the_order_of_its_list) {
  std::vector<std::int32_t> ranks;
  for (std::int32_t rank = size_ - 1; rank >= std::min(1, size_ - 1); --rank) ranks.push_back(rank);
  if (std::ranges::find(ranks, rank_) == ranks.end()) return;  // only the group's ranks call
  const communicator group = world_.create_group(ranks, 3, {.name = "others"});
  EXPECT_EQ(group.size(), std::ssize(ranks));
  EXPECT_EQ(group.rank(), size_ - 1 - rank_);
  EXPECT_EQ(group.allreduce_value(group.id(), syncyte::op::max), group.id());
  EXPECT_NE(group.id(), world_.id());
}

TEST_F(cxx_comm, leaders_are_the_first_ranks_of_nodes) {
  const auto nodes = world_.nodes();
  const communicator leaders = world_.split_leaders({.name = "leaders"});
  EXPECT_EQ(static_cast<bool>(leaders), nodes.node_rank == 0);
  if (leaders) {
    EXPECT_EQ(leaders.size(), nodes.nodes);
    EXPECT_EQ(leaders.rank(), nodes.node);
    EXPECT_EQ(leaders.allreduce_value(nodes.node_size), size_);
  }
  // A sum on each node, a sum among the leaders and a broadcast on each node give the sum of all ranks.
  const communicator node = world_.split_node();
  std::vector<std::int32_t> sum{node.allreduce_value(rank_ + 1)};
  if (leaders) leaders.allreduce(sum);
  node.bcast(0, sum);
  EXPECT_EQ(sum[0], size_ * (size_ + 1) / 2);
}

// A handle that somebody else owns, as a library is given it.
TEST_F(cxx_comm, borrowed_handles_stay_their_owners) {
  const syncyte_comm_t handle = world_.dup().release();
  communicator own;
  {
    const syncyte::borrowed<communicator> given(handle);
    EXPECT_EQ(given->get(), handle);
    EXPECT_EQ(given->rank(), rank_);
    EXPECT_EQ(given->allreduce_value(1), size_);
    (*given).barrier();
    own = given->retain();
  }
  EXPECT_EQ(communicator(handle).size(), size_) << "it was not destroyed; now it is";
  EXPECT_EQ(own.size(), size_);
  own.reset();
  const syncyte::borrowed<communicator> destroyed(handle);
  expect_error(syncyte::status::handle, {"comm"}, [&] { static_cast<void>(destroyed->rank()); });
}

TEST_F(cxx_comm, handles_move_and_share) {
  communicator second = world_.retain();
  communicator third = std::move(second);
  EXPECT_FALSE(static_cast<bool>(second));  // NOLINT: a moved-from handle is empty
  EXPECT_EQ(third.size(), size_);
  third.reset();
  EXPECT_EQ(world_.size(), size_) << "dropping one reference leaves the other";
  expect_error(syncyte::status::handle, {}, [] { static_cast<void>(communicator().size()); });
}

TEST_F(cxx_comm, from_mpi_and_fortran) {
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_, &reversed);
  const communicator ours = syncyte::from_mpi(reversed, {.name = "reversed"});
  const communicator again = communicator::from_fortran(fortran_handle_of(reversed));
  MPI_Comm_free(&reversed);
  EXPECT_EQ(ours.rank(), size_ - 1 - rank_);
  EXPECT_EQ(again.rank(), ours.rank());
  int result = MPI_UNEQUAL;
  MPI_Comm_compare(comm_of_fortran(world_.to_fortran()), MPI_COMM_WORLD, &result);
  EXPECT_EQ(result, MPI_CONGRUENT);
}

TEST_F(cxx_comm, from_mpi_keeps_the_grid) {
  const int extents[] = {1, size_}, periods[] = {0, 1};
  MPI_Comm theirs = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 1, &theirs);
  const syncyte::cartesian_communicator ours(syncyte::from_mpi(theirs));
  int place[2], rank = -1;
  MPI_Comm_rank(theirs, &rank);
  MPI_Cart_coords(theirs, rank, 2, place);
  MPI_Comm_free(&theirs);
  EXPECT_EQ(ours.dims(), (std::vector<std::int32_t>{1, size_}));
  EXPECT_EQ(ours.periods(), (std::vector<bool>{false, true}));
  EXPECT_EQ(ours.coords(), (std::vector<std::int32_t>{place[0], place[1]}));
}

TEST_F(cxx_comm, errors_of_all_ranks_say_which_of_them_this_one_is) {
  EXPECT_THROW(world_.split(-7), syncyte::error);
  EXPECT_EQ(syncyte::agreed_rank(), rank_);
  EXPECT_THROW(static_cast<void>(communicator().size()), syncyte::error);
  EXPECT_EQ(syncyte::agreed_rank(), -1);
}

TEST_F(cxx_comm, dup_and_split) {
  EXPECT_EQ(world_.dup().size(), size_);
  const communicator half = world_.split(rank_ % 2, -rank_);
  const int expected = (size_ + 1 - rank_ % 2) / 2;
  EXPECT_EQ(half.size(), expected);
  EXPECT_EQ(half.rank(), expected - 1 - rank_ / 2);
  const communicator some = world_.split(rank_ == 0 ? communicator::no_part : 0);
  EXPECT_EQ(static_cast<bool>(some), rank_ != 0);
  EXPECT_EQ(world_.split_program().size(), size_);
  EXPECT_EQ(world_.split_program(rank_ == 0 ? "first" : "others").size(), rank_ == 0 ? 1 : std::max(1, size_ - 1));
  world_.collect();
}

template <typename T>
void expect_sums(const communicator& comm) {
  const auto mine = reference::random_values<T>(11, comm.rank(), 97);
  auto result = mine;
  comm.allreduce(result);
  EXPECT_EQ(result, reference::allreduce<T>(11, comm.size(), 97));
  std::fill(result.begin(), result.end(), T{});
  comm.allreduce(mine, result);
  EXPECT_EQ(result, reference::allreduce<T>(11, comm.size(), 97));
}

TEST_F(cxx_comm, allreduce_sums_every_type) {
  expect_sums<float>(world_);
  expect_sums<double>(world_);
  expect_sums<std::complex<float>>(world_);
  expect_sums<std::complex<double>>(world_);
  expect_sums<std::int8_t>(world_);
  expect_sums<std::int16_t>(world_);
  expect_sums<std::int32_t>(world_);
  expect_sums<std::int64_t>(world_);
  expect_sums<std::uint8_t>(world_);
  expect_sums<std::uint16_t>(world_);
  expect_sums<std::uint32_t>(world_);
  expect_sums<std::uint64_t>(world_);
}

TEST_F(cxx_comm, allreduce_value) {
  EXPECT_EQ(world_.allreduce_value(rank_ + 1, syncyte::op::max), size_);
  EXPECT_EQ(world_.allreduce_value(2.5), 2.5 * size_);
  EXPECT_FALSE(world_.allreduce_value(rank_ != 0, syncyte::op::logical_and));
}

/// LXOR is true if an odd number of ranks has true; any number other than zero counts as true.
TEST_F(cxx_comm, logical_xor) {
  const bool is_odd = size_ % 2 == 1;
  EXPECT_EQ(world_.allreduce_value(true, syncyte::op::logical_xor), is_odd);
  EXPECT_FALSE(world_.allreduce_value(false, syncyte::op::logical_xor));
  EXPECT_TRUE(world_.allreduce_value(rank_ == size_ - 1, syncyte::op::logical_xor));
  std::vector<std::int32_t> flags{rank_ + 1, 0, rank_ == 0 ? 6 : 0};
  world_.allreduce(flags, syncyte::op::logical_xor);
  EXPECT_EQ(std::vector<bool>(flags.begin(), flags.end()), (std::vector<bool>{is_odd, false, true}));
  std::vector<float> reals{1.0F};
  expect_error(syncyte::status::unsupported, {"op is LXOR; expected"},
               [&] { world_.allreduce(reals, syncyte::op::logical_xor); });
}

TEST_F(cxx_comm, bcast_and_allgather) {
  for (int root = 0; root < size_; ++root) {
    auto values = reference::random_values<double>(12, rank_, 33);
    world_.bcast(root, values);
    EXPECT_EQ(values, reference::random_values<double>(12, root, 33));
  }
  std::vector<std::int32_t> all(static_cast<std::size_t>(size_ * 5));
  world_.allgather(reference::random_values<std::int32_t>(13, rank_, 5), all);
  EXPECT_EQ(all, reference::allgatherv<std::int32_t>(13, reference::lengths(static_cast<std::size_t>(size_), 5)));
}

TEST_F(cxx_comm, uneven_and_empty_pieces) {
  for (const auto& counts : {reference::uneven_lengths(14, 40, size_), reference::lengths_on_one(40, size_, size_ - 1),
                             reference::lengths_with_gaps(40, size_)}) {
    std::vector<float> all(40);
    const auto mine = reference::random_values<float>(14, rank_, counts[static_cast<std::size_t>(rank_)]);
    world_.allgatherv(mine, counts, all);
    EXPECT_EQ(all, reference::allgatherv<float>(14, counts));
  }
  const auto send = reference::alltoallv_send_counts(15, rank_, size_, 9);
  const auto receive = reference::alltoallv_receive_counts(15, rank_, size_, 9);
  std::vector<std::int16_t> pieces(static_cast<std::size_t>(reference::first_row(receive, size_)));
  world_.alltoallv(reference::random_values<std::int16_t>(15, rank_, reference::first_row(send, size_)), send, receive,
                   pieces);
  EXPECT_EQ(pieces, reference::alltoallv<std::int16_t>(15, rank_, size_, 9));
}

TEST_F(cxx_comm, disagreement_throws_on_all_ranks) {
  world_.agree("test", std::vector<syncyte::fact>{{"size", size_}});
  if (size_ > 1) {
    expect_error(syncyte::status::mismatch, {"rank", "number"},
                 [&] { world_.agree("test", std::vector<syncyte::fact>{{"number", rank_ == 0 ? 1 : 2}}); });
    std::vector<double> values(rank_ == 0 ? 3 : 4);
    expect_error(syncyte::status::mismatch, {"allreduce"}, [&] { world_.allreduce(values); });
  }
  expect_error(syncyte::status::io, {"the disk is full"}, [&] {
    syncyte_status_t own = SYNCYTE_SUCCESS;
    if (rank_ == size_ - 1) own = syncyte_error_set(SYNCYTE_ERR_IO, "the disk is full");
    world_.agree_unlimited(static_cast<syncyte::status>(own), "test");
  });
}

TEST_F(cxx_comm, wrong_arguments_on_one_rank_throw_on_all) {
  std::vector<double> values(4);
  std::vector<double> all(static_cast<std::size_t>(4 * size_));
  reference::lengths counts(static_cast<std::size_t>(size_), 4);
  if (rank_ == 0) counts.push_back(4);
  expect_error(syncyte::status::shape, {"allgatherv", "counts", "expected"},
               [&] { world_.allgatherv(values, counts, all); });
  expect_error(syncyte::status::argument, {"root"}, [&] { world_.bcast(rank_ == 0 ? -3 : 0, values); });
  world_.barrier();
}

}  // namespace
