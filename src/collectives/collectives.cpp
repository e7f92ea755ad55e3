// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/collectives.hpp"

#include <algorithm>
#include <vector>

#include "base/hash.hpp"
#include "comm/node_collectives.hpp"

namespace syncyte::collectives {
namespace {

/// Hash of "source sends count elements to target"; nothing sent counts nothing.
std::uint64_t pair_hash(int source, int target, std::int64_t count) {
  const std::int64_t pair[3] = {source, target, count};
  return count == 0 ? 0 : XXH3_64bits(pair, sizeof pair);
}

/// This rank's term of a sum over all ranks (modulo 2^64) that is 0 if every rank expects what is sent to it.
std::uint64_t count_difference(int rank, mpi::counts_view send_counts, mpi::counts_view recv_counts) {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < send_counts.size(); ++i) {
    const int other = static_cast<int>(i);
    result += pair_hash(rank, other, send_counts[i]) - pair_hash(other, rank, recv_counts[i]);
  }
  return result;
}

/// Compares the counts that i sends to j with those that j expects from i; throws on all ranks if a pair differs.
void compare_count_matrix(comm::collective_call& call, mpi::counts_view send_counts, mpi::counts_view recv_counts) {
  comm::communicator& comm = call.comm();
  std::vector<std::int64_t> announced(static_cast<std::size_t>(comm.size()));
  mpi::alltoall(send_counts, announced, comm.data());
  call.attempt([&] {
    for (std::size_t rank = 0; rank < announced.size(); ++rank)
      base::expect(announced[rank] == recv_counts[rank], SYNCYTE_ERR_MISMATCH, {"recv_counts", rank}, recv_counts[rank],
                   "{}, which rank {} sends", announced[rank], rank);
  });
  call.agree();
}

/// Replaces numbers by their sums over all ranks.
void add_up(comm::communicator& comm, std::span<std::uint64_t> numbers) {
  if (comm::node_collectives* const node = comm.collectives_on_node())
    node->allreduce(numbers.data(), numbers.data(), static_cast<int>(numbers.size()), MPI_UINT64_T,
                    numbers.size_bytes(), MPI_SUM);
  else
    mpi::allreduce(numbers, MPI_SUM, comm.data());
}

}  // namespace

void alltoallv::compare(comm::collective_call& call) {
  comm::communicator& comm = call.comm();
  const std::uint64_t is_long = std::max(input_.elements(), output_.elements()) > mpi::piece_limit();
  const std::int64_t longest = std::max(std::ranges::max(send_counts_), std::ranges::max(recv_counts_));
  const std::uint64_t is_not_short = !mover(comm, form::blocking).fits_share(longest, input_.dtype());
  std::uint64_t sums[3] = {is_long, is_not_short, count_difference(comm.rank(), send_counts_, recv_counts_)};
  add_up(comm, sums);
  const bool differ = sums[2] != 0 && comm.check() != comm::check_level::off;
  if (differ || comm.check() == comm::check_level::full) compare_count_matrix(call, send_counts_, recv_counts_);
  size_ = {sums[0] != 0, sums[1] == 0};
}

void barrier(comm::communicator& comm) {
  comm::collective_call call(comm, "comm_barrier", comm::collective_call::always_agrees);
  call.agree();  // no rank leaves an agreement before all have entered it
}

}  // namespace syncyte::collectives
