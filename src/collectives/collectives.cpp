#include "collectives/collectives.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <vector>

#include "collectives/alone.hpp"
#include "collectives/checks.hpp"
#include "collectives/transport.hpp"
#include "comm/collective.hpp"
#include "comm/facts.hpp"
#include "mpi/call.hpp"
#include "mpi/large_counts.hpp"

namespace syncyte::collectives {
namespace {

std::span<const std::int64_t> for_ranks(const comm::communicator& comm, const std::int64_t* counts) {
  return {counts, static_cast<std::size_t>(comm.size())};
}

/// What i sends to j must be what j expects from i: finds the pairs where it is not, and throws on all ranks.
void compare_count_matrix(comm::collective_call& call, const std::int64_t* send_counts,
                          const std::int64_t* recv_counts) {
  comm::communicator& comm = call.comm();
  std::vector<std::int64_t> announced(static_cast<std::size_t>(comm.size()));
  mpi::check(MPI_Alltoall(send_counts, 1, MPI_INT64_T, announced.data(), 1, MPI_INT64_T, comm.control()),
             "MPI_Alltoall");
  call.attempt([&] {
    for (int rank = 0; rank < comm.size(); ++rank)
      base::require(announced[static_cast<std::size_t>(rank)] == recv_counts[rank], SYNCYTE_ERR_MISMATCH,
                    "rank {} sends {} elements, but recv_counts[{}] is {}", rank,
                    announced[static_cast<std::size_t>(rank)], rank, recv_counts[rank]);
  });
  call.agree();
}

/// Hash of "source sends count elements to target"; nothing sent counts nothing.
std::uint64_t pair_hash(int source, int target, std::int64_t count) {
  const std::int64_t pair[3] = {source, target, count};
  return count == 0 ? 0 : XXH3_64bits(pair, sizeof pair);
}

/// What this rank adds to a sum over all ranks (modulo 2^64) that is 0 where all expect what is sent to them.
std::uint64_t count_difference(const comm::communicator& comm, const std::int64_t* send_counts,
                               const std::int64_t* recv_counts) {
  std::uint64_t result = 0;
  for (int rank = 0; rank < comm.size(); ++rank)
    result += pair_hash(comm.rank(), rank, send_counts[rank]) - pair_hash(rank, comm.rank(), recv_counts[rank]);
  return result;
}

}  // namespace

void barrier(comm::communicator& comm) {
  comm::collective_call call(comm, "comm_barrier", comm::collective_call::lifecycle);
  call.agree();  // nobody leaves an Allreduce before all have entered it
}

void bcast(comm::communicator& comm, const syncyte_buffer_t* raw, int root, const extras& extras) {
  comm::collective_call call(comm, "comm_bcast");
  std::optional<base::buffer> buffer;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    require_root(comm, root);
    buffer = checked_to_move(raw, "buffer");
    call.named_fact("dtype of buffer", buffer->dtype(), base::dtype_name);
    call.fact("elements of buffer", buffer->elements());
    call.fact("root", root);
    add_facts(call, extras);
  });
  call.agree();
  if (comm.is_alone()) return;
  mpi::in_pieces(buffer->elements(), [&](std::int64_t first, int count) {
    mpi::check(MPI_Bcast(buffer->data() + static_cast<std::size_t>(first) * buffer->element_bytes(), count,
                         mpi::type_of(buffer->dtype()), root, comm.data()),
               "MPI_Bcast");
  });
}

void allgather(comm::communicator& comm, const syncyte_buffer_t* raw_input, const syncyte_buffer_t* raw_output,
               const extras& extras) {
  comm::collective_call call(comm, "comm_allgather");
  std::optional<base::buffer> input;
  std::optional<base::buffer> output;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    input = checked_to_move(raw_input, "input");
    output = checked_to_move(raw_output, "output");
    output->require_dtype(input->dtype()).require_elements(input->elements() * comm.size());
    require_apart(*input, *output);
    call.named_fact("dtype of input", input->dtype(), base::dtype_name);
    call.fact("elements of input", input->elements());
    add_facts(call, extras);
  });
  call.agree();
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(comm.size()), input->elements());
  allgather_pieces(comm, input->data(), counts, output->data(), input->dtype());
}

void allgatherv(comm::communicator& comm, const syncyte_buffer_t* raw_input, const std::int64_t* counts,
                const syncyte_buffer_t* raw_output, const extras& extras) {
  comm::collective_call call(comm, "comm_allgatherv");
  std::optional<base::buffer> input;
  std::optional<base::buffer> output;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    const std::int64_t total = checked_sum(counts, comm.size(), "counts");
    input = checked_to_move(raw_input, "input").require_elements(counts[comm.rank()]);
    output = checked_to_move(raw_output, "output").require_dtype(input->dtype()).require_elements(total);
    require_apart(*input, *output);
    call.named_fact("dtype of input", input->dtype(), base::dtype_name);
    comm::add_counts(call, for_ranks(comm, counts), "sum of counts", "hash of counts");
    add_facts(call, extras);
  });
  call.agree();
  allgather_pieces(comm, input->data(), for_ranks(comm, counts), output->data(), input->dtype());
}

void alltoallv(comm::communicator& comm, const syncyte_buffer_t* raw_input, const std::int64_t* send_counts,
               const std::int64_t* recv_counts, const syncyte_buffer_t* raw_output, const extras& extras) {
  comm::collective_call call(comm, "comm_alltoallv");
  std::optional<base::buffer> input;
  std::optional<base::buffer> output;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    input = checked_to_move(raw_input, "input").require_elements(checked_sum(send_counts, comm.size(), "send_counts"));
    output = checked_to_move(raw_output, "output").require_dtype(input->dtype());
    output->require_elements(checked_sum(recv_counts, comm.size(), "recv_counts"));
    require_apart(*input, *output);
    base::require(send_counts[comm.rank()] == recv_counts[comm.rank()], SYNCYTE_ERR_ARGUMENT,
                  "send_counts[{0}] is {1}, but recv_counts[{0}], from this rank itself, is {2}", comm.rank(),
                  send_counts[comm.rank()], recv_counts[comm.rank()]);
    call.named_fact("dtype of input", input->dtype(), base::dtype_name);
    add_facts(call, extras);
  });
  call.agree();
  if (comm.is_alone()) return copy_alone(input->data(), output->data(), input->elements(), input->dtype());
  // One rank may have much to send and another little: all must choose the same way. The sum of the differences
  // travels with it.
  const std::uint64_t is_long = std::max(input->elements(), output->elements()) > mpi::piece_limit();
  std::uint64_t sums[2] = {is_long, count_difference(comm, send_counts, recv_counts)};
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, comm.control()), "MPI_Allreduce");
  const bool differ = sums[1] != 0 && comm.check() != comm::check_level::off;
  if (differ || comm.check() == comm::check_level::full) compare_count_matrix(call, send_counts, recv_counts);
  exchange_pieces(comm, input->data(), for_ranks(comm, send_counts), for_ranks(comm, recv_counts), output->data(),
                  input->dtype(), sums[0] != 0);
}

}  // namespace syncyte::collectives
