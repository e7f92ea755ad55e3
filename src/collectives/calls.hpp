#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "comm/communicator.hpp"
#include "mpi/large_counts.hpp"
#include "syncyte/base.h"

namespace syncyte::collectives {

/// MPI's collectives of dense elements whose counts fit an int, in three forms with the same functions: moves.hpp does
/// the rest. All collective. Ranks' parts lie one after the other in order of ranks; counts hold the elements of each.
/// Messages go over the control communicator, whose messages nobody else sees: the data communicator is shown to users.

/// Each is done when it returns.
class blocking_calls {
 public:
  explicit blocking_calls(comm::communicator& comm) : comm_(comm) {}
  comm::communicator& comm() const { return comm_; }

  void bcast(std::byte* data, int count, syncyte_dtype_t dtype, int root);
  void gather(const std::byte* input, mpi::counts_view counts, int root, std::byte* output, syncyte_dtype_t dtype);
  void allgather(const std::byte* input, mpi::counts_view counts, std::byte* output, syncyte_dtype_t dtype);
  void scatter(const std::byte* input, mpi::counts_view counts, int root, std::byte* output, syncyte_dtype_t dtype);
  void alltoall(const std::byte* input, mpi::counts_view send_counts, mpi::counts_view recv_counts, std::byte* output,
                syncyte_dtype_t dtype);

  // `input` may be `output`: in place.
  void allreduce(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t op);
  void reduce(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t op, int root);
  /// Over the ranks from the first to this one, or from the last.
  void scan(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t op, bool from_last);
  void exscan(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t op, bool from_last);
  /// Not in place.
  void reduce_scatter(const std::byte* input, mpi::counts_view counts, std::byte* output, syncyte_dtype_t dtype,
                      syncyte_op_t op);

  void receive(int source, std::byte* data, int count, syncyte_dtype_t dtype);
  void send(int dest, const std::byte* data, int count, syncyte_dtype_t dtype);
  void wait_for_messages();
  /// Within this rank, of memory that MPI takes.
  void copy(const std::byte* from, std::byte* to, int count, syncyte_dtype_t dtype);

  /// Whether the counts' sum does not fit.
  static bool is_long(mpi::counts_view counts) { return mpi::sum_of(counts) > mpi::piece_limit(); }
  /// Elements that are best reduced at once.
  std::int64_t most_reduced(syncyte_dtype_t dtype) const;

 private:
  comm::communicator& comm_;
  std::vector<MPI_Request> messages_;
};

/// Each is started, over the communicator of the messages; test() completes them. Any number of them are parts of one
/// operation. Keeps what MPI reads of counts until the end; the elements are the caller's to keep. Of host memory.
class posted_calls {
 public:
  explicit posted_calls(comm::communicator& comm) : comm_(comm) {}
  comm::communicator& comm() const { return comm_; }

  void bcast(std::byte* data, int count, syncyte_dtype_t dtype, int root);
  void allgather(const std::byte* input, mpi::counts_view counts, std::byte* output, syncyte_dtype_t dtype);
  void alltoall(const std::byte* input, mpi::counts_view send_counts, mpi::counts_view recv_counts, std::byte* output,
                syncyte_dtype_t dtype);
  void allreduce(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t op);
  void reduce(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t op, int root);
  void reduce_scatter(const std::byte* input, mpi::counts_view counts, std::byte* output, syncyte_dtype_t dtype,
                      syncyte_op_t op);

  void receive(int source, std::byte* data, int count, syncyte_dtype_t dtype);
  void send(int dest, const std::byte* data, int count, syncyte_dtype_t dtype);
  void wait_for_messages() {}
  void copy(const std::byte* from, std::byte* to, int count, syncyte_dtype_t dtype);
  static bool is_long(mpi::counts_view counts) { return mpi::sum_of(counts) > mpi::piece_limit(); }
  std::int64_t most_reduced(syncyte_dtype_t) const { return mpi::piece_limit(); }

  /// A further request, which has to be started at once. The address is good until the next.
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
  /// Whether something is under way, as far as test() has seen.
  bool any() const;
  /// Whether all is complete; then it starts anew.
  bool test();

 private:
  comm::communicator& comm_;
  std::vector<MPI_Request> requests_;
  std::deque<mpi::int_layout> layouts_;  // their addresses stay
};

/// Calls of a communicator of one rank, without MPI: for forked children.
class local_calls {
 public:
  explicit local_calls(comm::communicator& comm) : comm_(comm) {}
  comm::communicator& comm() const { return comm_; }

  static bool is_long(mpi::counts_view) { return false; }
  std::int64_t most_reduced(syncyte_dtype_t) const { return mpi::piece_limit(); }
  void bcast(std::byte*, int, syncyte_dtype_t, int) {}
  void gather(const std::byte* input, mpi::counts_view counts, int, std::byte* output, syncyte_dtype_t dtype);
  void allgather(const std::byte* input, mpi::counts_view counts, std::byte* output, syncyte_dtype_t dtype);
  void scatter(const std::byte* input, mpi::counts_view counts, int, std::byte* output, syncyte_dtype_t dtype);
  void alltoall(const std::byte* input, mpi::counts_view, mpi::counts_view counts, std::byte* output,
                syncyte_dtype_t dtype);
  void allreduce(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t);
  void reduce(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t, int);
  void scan(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t, bool);
  void exscan(const void*, void*, int, syncyte_dtype_t, syncyte_op_t, bool) {}
  void reduce_scatter(const std::byte* input, mpi::counts_view counts, std::byte* output, syncyte_dtype_t dtype,
                      syncyte_op_t);

 private:
  comm::communicator& comm_;
};

}  // namespace syncyte::collectives
