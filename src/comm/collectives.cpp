#include "comm/collectives.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "comm/mpi.hpp"
#include "comm/reduce.hpp"

namespace syncyte::comm {
namespace {

std::int64_t the_piece_limit = std::numeric_limits<int>::max();

/// Calls step(first, count) for pieces of at most the limit.
template <class Step>
void in_pieces(std::int64_t elements, Step&& step) {
  for (std::int64_t first = 0; first < elements; first += the_piece_limit)
    step(first, static_cast<int>(std::min(the_piece_limit, elements - first)));
}

bool overlap(const base::buffer& a, const base::buffer& b) {
  return a.bytes() > 0 && b.bytes() > 0 && a.data() < b.data() + b.bytes() && b.data() < a.data() + a.bytes();
}

base::buffer checked(const syncyte_buffer_t* raw, const char* argument) {
  return base::buffer(raw, argument).require_host().require_contiguous();
}

void require_apart(const base::buffer& input, const base::buffer& output) {
  base::require(!overlap(input, output), SYNCYTE_ERR_ARGUMENT, "input and output overlap; expected separate memory");
}

void add_facts(collective_call& call, const collective_extras& extras) {
  call.fact("options->fact", extras.fact);
  for (const syncyte_fact_t& each : extras.facts) call.fact(each.name, each.value);
}

/// Sum of counts, each 0 or more; throws naming the rank otherwise.
std::int64_t checked_sum(const std::int64_t* counts, int size, const char* argument) {
  base::require(counts != nullptr, SYNCYTE_ERR_ARGUMENT, "{} is null; expected {} counts", argument, size);
  std::int64_t sum = 0;
  for (int rank = 0; rank < size; ++rank) {
    base::require(counts[rank] >= 0, SYNCYTE_ERR_ARGUMENT, "{}[{}] is {}; expected 0 or more", argument, rank,
                  counts[rank]);
    base::require(!__builtin_add_overflow(sum, counts[rank], &sum), SYNCYTE_ERR_ARGUMENT,
                  "{} add up to more than 2^63 - 1 elements", argument);
  }
  return sum;
}

/// What i sends to j must be what j expects from i: finds the pairs where it is not, and throws on all ranks.
void compare_count_matrix(collective_call& call, const std::int64_t* send_counts, const std::int64_t* recv_counts) {
  communicator& comm = call.comm();
  std::vector<std::int64_t> announced(static_cast<std::size_t>(comm.size()));
  check_mpi(MPI_Alltoall(send_counts, 1, MPI_INT64_T, announced.data(), 1, MPI_INT64_T, comm.control()),
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
std::uint64_t count_difference(const communicator& comm, const std::int64_t* send_counts,
                               const std::int64_t* recv_counts) {
  std::uint64_t result = 0;
  for (int rank = 0; rank < comm.size(); ++rank)
    result += pair_hash(comm.rank(), rank, send_counts[rank]) - pair_hash(rank, comm.rank(), recv_counts[rank]);
  return result;
}

/// Counts and prefix sums that fit MPI's int; empty vectors where they do not.
struct int_layout {
  std::vector<int> counts;
  std::vector<int> offsets;
  explicit int_layout(const std::int64_t* wide, int size) : counts(wide, wide + size), offsets(counts.size()) {
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  }
};

/// Each rank's piece by a broadcast: for totals that MPI's int displacements cannot say.
void gather_by_broadcasts(communicator& comm, const base::buffer& input, const std::int64_t* counts,
                          const base::buffer& output) {
  std::byte* place = output.data();
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::size_t bytes = static_cast<std::size_t>(counts[rank]) * output.element_bytes();
    if (rank == comm.rank()) std::copy_n(input.data(), bytes, place);
    in_pieces(counts[rank], [&](std::int64_t first, int count) {
      check_mpi(MPI_Bcast(place + static_cast<std::size_t>(first) * output.element_bytes(), count,
                          mpi_type(output.dtype()), rank, comm.data()),
                "MPI_Bcast");
    });
    place += bytes;
  }
}

void gather_pieces(communicator& comm, const base::buffer& input, const std::int64_t* counts,
                   const base::buffer& output) {
  if (output.elements() > the_piece_limit) return gather_by_broadcasts(comm, input, counts, output);
  const int_layout layout(counts, comm.size());
  const MPI_Datatype type = mpi_type(output.dtype());
  check_mpi(MPI_Allgatherv(input.data(), static_cast<int>(input.elements()), type, output.data(), layout.counts.data(),
                           layout.offsets.data(), type, comm.data()),
            "MPI_Allgatherv");
}

/// Pairwise messages in pieces: for totals that MPI's int displacements cannot say.
void exchange_by_messages(communicator& comm, const base::buffer& input, const std::int64_t* send_counts,
                          const std::int64_t* recv_counts, const base::buffer& output) {
  const MPI_Datatype type = mpi_type(input.dtype());
  const std::size_t size = input.element_bytes();
  std::vector<MPI_Request> requests;
  std::byte* target = output.data();
  const std::byte* source = input.data();
  for (int rank = 0; rank < comm.size(); ++rank) {
    in_pieces(recv_counts[rank], [&](std::int64_t first, int count) {
      check_mpi(MPI_Irecv(target + static_cast<std::size_t>(first) * size, count, type, rank, 0, comm.data(),
                          &requests.emplace_back()),
                "MPI_Irecv");
    });
    target += static_cast<std::size_t>(recv_counts[rank]) * size;
  }
  for (int rank = 0; rank < comm.size(); ++rank) {
    in_pieces(send_counts[rank], [&](std::int64_t first, int count) {
      check_mpi(MPI_Isend(source + static_cast<std::size_t>(first) * size, count, type, rank, 0, comm.data(),
                          &requests.emplace_back()),
                "MPI_Isend");
    });
    source += static_cast<std::size_t>(send_counts[rank]) * size;
  }
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

}  // namespace

std::int64_t piece_limit() { return the_piece_limit; }

void set_piece_limit(std::int64_t elements) { the_piece_limit = elements; }

void barrier(communicator& comm) {
  collective_call call(comm, "comm_barrier", collective_call::lifecycle);
  call.agree();  // nobody leaves an Allreduce before all have entered it
}

void bcast(communicator& comm, const syncyte_buffer_t* raw, int root, const collective_extras& extras) {
  collective_call call(comm, "comm_bcast");
  std::optional<base::buffer> buffer;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    base::require(root >= 0 && root < comm.size(), SYNCYTE_ERR_ARGUMENT, "root is {}; expected 0 to {}", root,
                  comm.size() - 1);
    buffer = checked(raw, "buffer");
    call.named_fact("dtype of buffer", buffer->dtype(), base::dtype_name);
    call.fact("elements of buffer", buffer->elements());
    call.fact("root", root);
    add_facts(call, extras);
  });
  call.agree();
  in_pieces(buffer->elements(), [&](std::int64_t first, int count) {
    check_mpi(MPI_Bcast(buffer->data() + static_cast<std::size_t>(first) * buffer->element_bytes(), count,
                        mpi_type(buffer->dtype()), root, comm.data()),
              "MPI_Bcast");
  });
}

void allreduce(communicator& comm, const syncyte_buffer_t* raw_input, const syncyte_buffer_t* raw_output,
               syncyte_op_t op, const collective_extras& extras) {
  collective_call call(comm, "comm_allreduce");
  std::optional<base::buffer> input;
  std::optional<base::buffer> output;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    output = checked(raw_output, "output");
    if (raw_input != nullptr) {
      input = checked(raw_input, "input");
      output->require_dtype(input->dtype()).require_elements(input->elements());
      require_apart(*input, *output);
    }
    require_reducible(output->dtype(), op);
    call.named_fact("dtype of output", output->dtype(), base::dtype_name);
    call.fact("elements of output", output->elements());
    call.named_fact("op", op, base::op_name);
    add_facts(call, extras);
  });
  call.agree();
  const std::size_t size = output->element_bytes();
  in_pieces(output->elements(), [&](std::int64_t first, int count) {
    const std::size_t offset = static_cast<std::size_t>(first) * size;
    reduce_piece(comm.data(), input ? input->data() + offset : nullptr, output->data() + offset, count, output->dtype(),
                 op);
  });
}

void allgather(communicator& comm, const syncyte_buffer_t* raw_input, const syncyte_buffer_t* raw_output,
               const collective_extras& extras) {
  collective_call call(comm, "comm_allgather");
  std::optional<base::buffer> input;
  std::optional<base::buffer> output;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    input = checked(raw_input, "input");
    output = checked(raw_output, "output");
    output->require_dtype(input->dtype()).require_elements(input->elements() * comm.size());
    require_apart(*input, *output);
    call.named_fact("dtype of input", input->dtype(), base::dtype_name);
    call.fact("elements of input", input->elements());
    add_facts(call, extras);
  });
  call.agree();
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(comm.size()), input->elements());
  gather_pieces(comm, *input, counts.data(), *output);
}

void allgatherv(communicator& comm, const syncyte_buffer_t* raw_input, const std::int64_t* counts,
                const syncyte_buffer_t* raw_output, const collective_extras& extras) {
  collective_call call(comm, "comm_allgatherv");
  std::optional<base::buffer> input;
  std::optional<base::buffer> output;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    const std::int64_t total = checked_sum(counts, comm.size(), "counts");
    input = checked(raw_input, "input").require_elements(counts[comm.rank()]);
    output = checked(raw_output, "output").require_dtype(input->dtype()).require_elements(total);
    require_apart(*input, *output);
    const auto size = static_cast<std::size_t>(comm.size());
    call.named_fact("dtype of input", input->dtype(), base::dtype_name);
    call.fact("sum of counts", total);
    call.fact("hash of counts", static_cast<std::int64_t>(XXH3_64bits(counts, size * sizeof *counts)));
    add_facts(call, extras);
  });
  call.agree();
  gather_pieces(comm, *input, counts, *output);
}

void alltoallv(communicator& comm, const syncyte_buffer_t* raw_input, const std::int64_t* send_counts,
               const std::int64_t* recv_counts, const syncyte_buffer_t* raw_output, const collective_extras& extras) {
  collective_call call(comm, "comm_alltoallv");
  std::optional<base::buffer> input;
  std::optional<base::buffer> output;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    input = checked(raw_input, "input").require_elements(checked_sum(send_counts, comm.size(), "send_counts"));
    output = checked(raw_output, "output").require_dtype(input->dtype());
    output->require_elements(checked_sum(recv_counts, comm.size(), "recv_counts"));
    require_apart(*input, *output);
    base::require(send_counts[comm.rank()] == recv_counts[comm.rank()], SYNCYTE_ERR_ARGUMENT,
                  "send_counts[{0}] is {1}, but recv_counts[{0}], from this rank itself, is {2}", comm.rank(),
                  send_counts[comm.rank()], recv_counts[comm.rank()]);
    call.named_fact("dtype of input", input->dtype(), base::dtype_name);
    add_facts(call, extras);
  });
  call.agree();
  // One rank may have much to send and another little: all must choose the same way. The sum of the differences
  // travels with it.
  const std::uint64_t is_long = std::max(input->elements(), output->elements()) > the_piece_limit;
  std::uint64_t sums[2] = {is_long, count_difference(comm, send_counts, recv_counts)};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, comm.control()), "MPI_Allreduce");
  const bool differ = sums[1] != 0 && comm.check() != check_level::off;
  if (differ || comm.check() == check_level::full) compare_count_matrix(call, send_counts, recv_counts);
  if (sums[0] != 0) return exchange_by_messages(comm, *input, send_counts, recv_counts, *output);
  const int_layout sending(send_counts, comm.size());
  const int_layout receiving(recv_counts, comm.size());
  const MPI_Datatype type = mpi_type(input->dtype());
  check_mpi(MPI_Alltoallv(input->data(), sending.counts.data(), sending.offsets.data(), type, output->data(),
                          receiving.counts.data(), receiving.offsets.data(), type, comm.data()),
            "MPI_Alltoallv");
}

}  // namespace syncyte::comm
