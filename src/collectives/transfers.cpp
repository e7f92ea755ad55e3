#include "collectives/transfers.hpp"

#include <algorithm>

#include "collectives/reduce.hpp"
#include "mpi/call.hpp"
#include "mpi/large_counts.hpp"

namespace syncyte::collectives {
namespace {

std::size_t bytes_of(std::int64_t count, syncyte_dtype_t dtype) {
  return static_cast<std::size_t>(count) * base::dtype_size(dtype);
}

}  // namespace

void transfers::bcast(const comm::communicator& comm, std::byte* data, std::int64_t count, int root,
                      syncyte_dtype_t dtype) {
  mpi::in_pieces(count, [&](std::int64_t first, int length) {
    mpi::check(MPI_Ibcast(data + bytes_of(first, dtype), length, mpi::type_of(dtype), root, comm.messages(), add()),
               "MPI_Ibcast");
  });
}

void transfers::allreduce(const comm::communicator& comm, const void* input, void* output, std::int64_t count,
                          syncyte_dtype_t dtype, syncyte_op_t op) {
  mpi::in_pieces(count, [&](std::int64_t first, int length) {
    const std::size_t offset = bytes_of(first, dtype);
    const void* const source = input == output ? MPI_IN_PLACE : static_cast<const std::byte*>(input) + offset;
    mpi::check(MPI_Iallreduce(source, static_cast<std::byte*>(output) + offset, length, mpi::type_of(dtype),
                              mpi_op(dtype, op), comm.messages(), add()),
               "MPI_Iallreduce");
  });
}

void transfers::allgather(const comm::communicator& comm, const std::byte* input, mpi::counts_view counts,
                          std::byte* output, syncyte_dtype_t dtype) {
  if (mpi::sum_of(counts) <= mpi::piece_limit()) {
    const mpi::int_layout& layout = layouts_.emplace_back(counts);
    const MPI_Datatype type = mpi::type_of(dtype);
    mpi::check(MPI_Iallgatherv(input, layout.counts[static_cast<std::size_t>(comm.rank())], type, output,
                               layout.counts.data(), layout.offsets.data(), type, comm.messages(), add()),
               "MPI_Iallgatherv");
    return;
  }
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::int64_t count = counts[static_cast<std::size_t>(rank)];
    if (rank == comm.rank()) std::copy_n(input, bytes_of(count, dtype), output);
    bcast(comm, output, count, rank, dtype);
    output += bytes_of(count, dtype);
  }
}

void transfers::exchange(const comm::communicator& comm, const std::byte* input, mpi::counts_view send_counts,
                         mpi::counts_view recv_counts, std::byte* output, syncyte_dtype_t dtype, bool is_long) {
  const MPI_Datatype type = mpi::type_of(dtype);
  if (!is_long) {
    const mpi::int_layout& sending = layouts_.emplace_back(send_counts);
    const mpi::int_layout& receiving = layouts_.emplace_back(recv_counts);
    mpi::check(MPI_Ialltoallv(input, sending.counts.data(), sending.offsets.data(), type, output,
                              receiving.counts.data(), receiving.offsets.data(), type, comm.messages(), add()),
               "MPI_Ialltoallv");
    return;
  }
  // Messages as those of the blocking one: tag 0 of the control communicator, where nobody else receives.
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::int64_t count = recv_counts[static_cast<std::size_t>(rank)];
    mpi::in_pieces(count, [&](std::int64_t first, int length) {
      mpi::check(MPI_Irecv(output + bytes_of(first, dtype), length, type, rank, 0, comm.control(), add()), "MPI_Irecv");
    });
    output += bytes_of(count, dtype);
  }
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::int64_t count = send_counts[static_cast<std::size_t>(rank)];
    mpi::in_pieces(count, [&](std::int64_t first, int length) {
      mpi::check(MPI_Isend(input + bytes_of(first, dtype), length, type, rank, 0, comm.control(), add()), "MPI_Isend");
    });
    input += bytes_of(count, dtype);
  }
}

void transfers::reduce_scatter(const comm::communicator& comm, const std::byte* input, mpi::counts_view counts,
                               std::byte* output, syncyte_dtype_t dtype, syncyte_op_t op) {
  const MPI_Datatype type = mpi::type_of(dtype);
  if (mpi::sum_of(counts) <= mpi::piece_limit()) {
    const mpi::int_layout& layout = layouts_.emplace_back(counts);
    mpi::check(
        MPI_Ireduce_scatter(input, output, layout.counts.data(), type, mpi_op(dtype, op), comm.messages(), add()),
        "MPI_Ireduce_scatter");
    return;
  }
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::int64_t count = counts[static_cast<std::size_t>(rank)];
    mpi::in_pieces(count, [&](std::int64_t first, int length) {
      const std::size_t offset = bytes_of(first, dtype);
      mpi::check(MPI_Ireduce(input + offset, rank == comm.rank() ? output + offset : nullptr, length, type,
                             mpi_op(dtype, op), rank, comm.messages(), add()),
                 "MPI_Ireduce");
    });
    input += bytes_of(count, dtype);
  }
}

bool transfers::any() const {
  return std::any_of(requests_.begin(), requests_.end(), [](MPI_Request each) { return each != MPI_REQUEST_NULL; });
}

bool transfers::test() {
  while (!requests_.empty()) {  // most often one: and what is complete is not asked for again
    int is_complete = 0;
    mpi::check(MPI_Test(&requests_.back(), &is_complete, MPI_STATUS_IGNORE), "MPI_Test");
    if (is_complete == 0) return false;
    requests_.pop_back();
  }
  layouts_.clear();
  return true;
}

}  // namespace syncyte::collectives
