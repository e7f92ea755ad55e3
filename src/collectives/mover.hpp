// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/node_collectives.hpp"
#include "mpi/large_counts.hpp"
#include "syncyte/base.h"

namespace syncyte::collectives {

/// The forms of a collective. A started one takes host memory only: MPI libraries take no other in non-blocking
/// collectives.
enum class form { blocking, started };

std::size_t bytes_of(std::int64_t count, syncyte_dtype_t dtype);

/// Sizes of an alltoall, equal on all ranks.
struct alltoall_size {
  bool is_long = false;   ///< some rank's counts do not fit MPI's
  bool is_short = false;  ///< all ranks' parts fit node_collectives::fits_share()
};

/// MPI's collectives of any number of dense elements. No checks and no agreement: callers have agreed. In the blocking
/// form each is complete when it returns; it polls, makes progress of all operations, and throws SYNCYTE_ERR_PEER_DIED
/// after the death of a rank. In the started form test() completes them; any number of them are parts of
/// one operation, and the caller keeps the elements' memory until then. A communicator of one rank in a forked child
/// needs no MPI.
///
/// The ranks' parts lie one after the other in order of ranks; counts hold the elements of each part. Input and output
/// do not overlap, but for reductions in place. If the sum of counts does not fit MPI's int displacements, messages or
/// broadcasts in pieces are used; all ranks must come to the same conclusion, so the sums must be equal on all of them.
/// communicator_handles says over which of MPI's communicators each goes.
class mover {
 public:
  mover(comm::communicator& comm, form how) : comm_(comm), is_started_(how == form::started) {}

  void bcast(std::byte* data, std::int64_t count, int root, syncyte_dtype_t dtype);
  void gather(const std::byte* input, mpi::counts_view counts, int root, std::byte* output, syncyte_dtype_t dtype);
  void allgather(const std::byte* input, mpi::counts_view counts, std::byte* output, syncyte_dtype_t dtype);
  void scatter(const std::byte* input, mpi::counts_view counts, int root, std::byte* output, syncyte_dtype_t dtype);
  bool fits_share(std::int64_t elements, syncyte_dtype_t dtype) const;  ///< for alltoall_size; after the agreement
  void alltoall(const std::byte* input, mpi::counts_view send_counts, mpi::counts_view recv_counts, std::byte* output,
                syncyte_dtype_t dtype, alltoall_size size);

  // Messages between any ranks. A forked child, which is alone, has none.
  void receive(int source, std::byte* data, std::int64_t count, syncyte_dtype_t dtype);
  void send(int dest, const std::byte* data, std::int64_t count, syncyte_dtype_t dtype);
  void wait_for_messages();  // in the started form, test() does

  // Reductions in the arithmetic of their dtype: float16 and bfloat16 are reduced as float32, and are rounded once;
  // sums and products of bool are logic. `input` may be `output`. The started form takes no half precision.

  void allreduce(const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype, syncyte_op_t op);
  /// `output` is used on root only.
  void reduce(const void* input, void* output, std::int64_t count, int root, syncyte_dtype_t dtype, syncyte_op_t op);
  /// Blocking only. Over the ranks from the first to this one, or from the last; without this one if it is exclusive:
  /// then the first rank gets identity elements.
  void scan(const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype, syncyte_op_t op, bool reverse,
            bool is_exclusive);
  /// Every rank's part is the reduction of all ranks' inputs there; input holds all parts. Not in place, and not of
  /// half precision.
  void reduce_scatter(const std::byte* input, mpi::counts_view counts, std::byte* output, syncyte_dtype_t dtype,
                      syncyte_op_t op);

  /// The request of a further MPI call that is part of the operation.
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
  /// Whether some call is not complete.
  bool any() const;
  /// Whether all calls are complete; then new ones may follow.
  bool test();

 private:
  int own(const mpi::int_layout& layout) const { return layout.counts[static_cast<std::size_t>(comm_.rank())]; }
  const mpi::int_layout& kept(mpi::counts_view counts) { return layouts_.emplace_front(counts); }
  static bool is_long(mpi::counts_view counts) { return mpi::sum_of(counts) > mpi::piece_limit(); }
  bool uses_blocking_calls() const;
  comm::node_collectives* node_for_reductions() const;
  comm::node_collectives* node_for_moves() const;
  void wait(MPI_Request& request, const char* call) const;
  template <class Blocking, class Started, class... Given>
  void call(const char* blocking_name, Blocking* blocking, const char* started_name, Started* started, Given... given);
  std::int64_t most_reduced(syncyte_dtype_t dtype) const;
  void copy(const std::byte* input, std::byte* output, std::int64_t count, syncyte_dtype_t dtype);
  void receive_all(std::byte* data, mpi::counts_view counts, syncyte_dtype_t dtype);
  void send_all(const std::byte* data, mpi::counts_view counts, syncyte_dtype_t dtype);

  struct blocks;
  bool fits_ring(std::size_t bytes) const;
  void pass_on(const std::byte* sent, std::int64_t sent_count, std::byte* received, std::int64_t received_count,
               syncyte_dtype_t dtype);
  static void combine(const std::byte* with, std::byte* target, std::int64_t count, syncyte_dtype_t dtype,
                      syncyte_op_t op);
  void reduce_blocks(const blocks& all, const std::byte* input, std::byte* output, syncyte_op_t op);
  void allreduce_by_ring(const std::byte* input, std::byte* output, std::int64_t count, syncyte_dtype_t dtype,
                         syncyte_op_t op);
  void reduce_by_ring(const std::byte* input, std::byte* output, std::int64_t count, int root, syncyte_dtype_t dtype,
                      syncyte_op_t op);
  void reduce_scatter_by_ring(const std::byte* input, const mpi::int_layout& parts, std::byte* output,
                              syncyte_dtype_t dtype, syncyte_op_t op);

  comm::communicator& comm_;
  bool is_started_;
  std::vector<MPI_Request> requests_;
  std::forward_list<mpi::int_layout> layouts_;  // MPI reads them until the end
};

}  // namespace syncyte::collectives
