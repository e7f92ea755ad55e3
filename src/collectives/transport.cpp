#include "collectives/transport.hpp"

#include <vector>

#include "collectives/alone.hpp"
#include "collectives/reduce.hpp"
#include "mpi/call.hpp"
#include "mpi/large_counts.hpp"

namespace syncyte::collectives {
namespace {

std::int64_t own(const comm::communicator& comm, mpi::counts_view counts) {
  return counts[static_cast<std::size_t>(comm.rank())];
}

/// Messages in pieces, for what MPI's int displacements cannot say; all are waited for together. On the control
/// communicator, whose messages nobody else sees: the data communicator is shown to users.
class messages {
 public:
  messages(comm::communicator& comm, syncyte_dtype_t dtype)
      : comm_(comm.control()), type_(mpi::type_of(dtype)), element_bytes_(base::dtype_size(dtype)) {}

  void receive(int source, std::byte* data, std::int64_t count) {
    mpi::in_pieces(count, [&](std::int64_t first, int length) {
      mpi::check(MPI_Irecv(data + bytes(first), length, type_, source, 0, comm_, &requests_.emplace_back()),
                 "MPI_Irecv");
    });
  }
  void send(int target, const std::byte* data, std::int64_t count) {
    mpi::in_pieces(count, [&](std::int64_t first, int length) {
      mpi::check(MPI_Isend(data + bytes(first), length, type_, target, 0, comm_, &requests_.emplace_back()),
                 "MPI_Isend");
    });
  }
  /// One message from or to every rank, from one place to the next.
  void receive_all(std::byte* data, mpi::counts_view counts) {
    for (std::size_t rank = 0; rank < counts.size(); data += bytes(counts[rank++]))
      receive(static_cast<int>(rank), data, counts[rank]);
  }
  void send_all(const std::byte* data, mpi::counts_view counts) {
    for (std::size_t rank = 0; rank < counts.size(); data += bytes(counts[rank++]))
      send(static_cast<int>(rank), data, counts[rank]);
  }
  void wait() {
    // Each by itself: MPICH reports errors of several at once to the handler of MPI_COMM_SELF.
    for (MPI_Request& each : requests_) mpi::check(MPI_Wait(&each, MPI_STATUS_IGNORE), "MPI_Wait");
  }

 private:
  std::size_t bytes(std::int64_t elements) const { return static_cast<std::size_t>(elements) * element_bytes_; }

  MPI_Comm comm_;
  MPI_Datatype type_;
  std::size_t element_bytes_;
  std::vector<MPI_Request> requests_;
};

/// Copies elements of memory that MPI takes.
void copy_by_mpi(comm::communicator& comm, const std::byte* input, std::int64_t count, std::byte* output,
                 syncyte_dtype_t dtype) {
  messages all(comm, dtype);
  all.receive(comm.rank(), output, count);
  all.send(comm.rank(), input, count);
  all.wait();
}

/// Each rank's piece by a broadcast.
void gather_by_broadcasts(comm::communicator& comm, const std::byte* input, mpi::counts_view counts, std::byte* output,
                          syncyte_dtype_t dtype) {
  const std::size_t element_bytes = base::dtype_size(dtype);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::int64_t count = counts[static_cast<std::size_t>(rank)];
    const std::size_t bytes = static_cast<std::size_t>(count) * element_bytes;
    if (rank == comm.rank()) copy_by_mpi(comm, input, count, output, dtype);
    mpi::in_pieces(count, [&](std::int64_t first, int length) {
      mpi::check(MPI_Bcast(output + static_cast<std::size_t>(first) * element_bytes, length, mpi::type_of(dtype), rank,
                           comm.data()),
                 "MPI_Bcast");
    });
    output += bytes;
  }
}

}  // namespace

void gather_pieces(comm::communicator& comm, const std::byte* input, mpi::counts_view counts, int root,
                   std::byte* output, syncyte_dtype_t dtype) {
  if (comm.is_alone()) return copy_alone(input, output, mpi::sum_of(counts), dtype);
  if (mpi::sum_of(counts) > mpi::piece_limit()) {
    messages all(comm, dtype);
    if (comm.rank() == root) all.receive_all(output, counts);
    all.send(root, input, own(comm, counts));
    return all.wait();
  }
  const mpi::int_layout layout(counts);
  const MPI_Datatype type = mpi::type_of(dtype);
  mpi::check(MPI_Gatherv(input, static_cast<int>(own(comm, counts)), type, output, layout.counts.data(),
                         layout.offsets.data(), type, root, comm.data()),
             "MPI_Gatherv");
}

void allgather_pieces(comm::communicator& comm, const std::byte* input, mpi::counts_view counts, std::byte* output,
                      syncyte_dtype_t dtype) {
  if (comm.is_alone()) return copy_alone(input, output, mpi::sum_of(counts), dtype);
  if (mpi::sum_of(counts) > mpi::piece_limit()) return gather_by_broadcasts(comm, input, counts, output, dtype);
  const mpi::int_layout layout(counts);
  const MPI_Datatype type = mpi::type_of(dtype);
  mpi::check(MPI_Allgatherv(input, static_cast<int>(own(comm, counts)), type, output, layout.counts.data(),
                            layout.offsets.data(), type, comm.data()),
             "MPI_Allgatherv");
}

void scatter_pieces(comm::communicator& comm, const std::byte* input, mpi::counts_view counts, int root,
                    std::byte* output, syncyte_dtype_t dtype) {
  if (comm.is_alone()) return copy_alone(input, output, mpi::sum_of(counts), dtype);
  if (mpi::sum_of(counts) > mpi::piece_limit()) {
    messages all(comm, dtype);
    all.receive(root, output, own(comm, counts));
    if (comm.rank() == root) all.send_all(input, counts);
    return all.wait();
  }
  const mpi::int_layout layout(counts);
  const MPI_Datatype type = mpi::type_of(dtype);
  mpi::check(MPI_Scatterv(input, layout.counts.data(), layout.offsets.data(), type, output,
                          static_cast<int>(own(comm, counts)), type, root, comm.data()),
             "MPI_Scatterv");
}

void exchange_pieces(comm::communicator& comm, const std::byte* input, mpi::counts_view send_counts,
                     mpi::counts_view recv_counts, std::byte* output, syncyte_dtype_t dtype, bool is_long) {
  if (comm.is_alone()) return copy_alone(input, output, mpi::sum_of(send_counts), dtype);
  if (is_long) {
    messages all(comm, dtype);
    all.receive_all(output, recv_counts);
    all.send_all(input, send_counts);
    return all.wait();
  }
  const mpi::int_layout sending(send_counts);
  const mpi::int_layout receiving(recv_counts);
  const MPI_Datatype type = mpi::type_of(dtype);
  mpi::check(MPI_Alltoallv(input, sending.counts.data(), sending.offsets.data(), type, output, receiving.counts.data(),
                           receiving.offsets.data(), type, comm.data()),
             "MPI_Alltoallv");
}

void reduce_scatter_pieces(comm::communicator& comm, const std::byte* input, mpi::counts_view counts, std::byte* output,
                           syncyte_dtype_t dtype, syncyte_op_t op, std::byte* scratch) {
  if (comm.is_alone()) return copy_alone(input, output, mpi::sum_of(counts), dtype);
  const std::int64_t total = mpi::sum_of(counts);
  if (total == 0) return;
  if (total <= mpi::piece_limit()) {
    const mpi::int_layout layout(counts);
    return reduce_scatter(comm.data(), comm.nearby(), input, output, layout.counts, dtype, op, scratch);
  }
  const std::size_t element_bytes = base::dtype_size(dtype);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::int64_t count = counts[static_cast<std::size_t>(rank)];
    reduce_to(comm.data(), input, rank == comm.rank() ? output : nullptr, count, rank, dtype, op);
    input += static_cast<std::size_t>(count) * element_bytes;
  }
}

}  // namespace syncyte::collectives
