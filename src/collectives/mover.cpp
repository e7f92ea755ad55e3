// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/mover.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/dtype.hpp"
#include "collectives/half_precision.hpp"
#include "collectives/reduction_ops.hpp"
#include "comm/dead_ranks.hpp"
#include "comm/node_collectives.hpp"
#include "mpi/call.hpp"
#include "mpi/memory_kinds.hpp"
#include "mpi/progress.hpp"

namespace syncyte::collectives {

std::size_t bytes_of(std::int64_t count, syncyte_dtype_t dtype) {
  return static_cast<std::size_t>(count) * base::dtype_size(dtype);
}

namespace {

using collectives::bytes_of;
using mpi::check;
using mpi::counts_view;
using mpi::int_layout;
using mpi::type_of;

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

std::vector<std::size_t> bytes_of(counts_view counts, syncyte_dtype_t dtype) {
  std::vector<std::size_t> result;
  for (const std::int64_t each : counts) result.push_back(bytes_of(each, dtype));
  return result;
}

/// Moves the elements of a communicator of one rank.
void copy_alone(const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype) {
  if (count > 0 && input != output) std::memmove(output, input, bytes_of(count, dtype));
}

const void* send_buffer(const void* input, const void* output) { return input == output ? MPI_IN_PLACE : input; }

/// call(input, output, count, dtype) reduces a piece that MPI's int can count, of at most `most` elements; equal
/// addresses mean in place. Half-precision elements go through float32 in pieces that fit the cache; a null output is
/// not written.
template <class Call>
void in_reducible_pieces(const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype, std::int64_t most,
                         Call&& call) {
  const auto source = [&](std::int64_t first) { return static_cast<const std::byte*>(input) + bytes_of(first, dtype); };
  const auto target = [&](std::int64_t first) {
    return output != nullptr ? static_cast<std::byte*>(output) + bytes_of(first, dtype) : nullptr;
  };
  if (!base::is_half_precision(dtype))
    return mpi::in_pieces(
        count, [&](std::int64_t first, int length) { call(source(first), target(first), length, dtype); }, most);
  constexpr std::int64_t fits_cache = 1 << 16;
  std::vector<float> wide(static_cast<std::size_t>(std::min(count, fits_cache)));
  mpi::in_pieces(
      count,
      [&](std::int64_t first, int length) {
        widen_half(source(first), length, dtype, wide.data());
        call(wide.data(), wide.data(), length, SYNCYTE_FLOAT32);
        if (output != nullptr) round_half(wide.data(), length, dtype, target(first));
      },
      fits_cache);
}

constexpr std::int64_t any_length = std::numeric_limits<int>::max();

}  // namespace

/// MPI takes memory of devices in blocking collectives only. A rank that dies while others are in one is seen by the
/// watchdog alone. Equal on all ranks: blocking and non-blocking calls do not match.
bool mover::uses_blocking_calls() const { return mpi::job_takes_device_memory(); }

/// Collectives in memory of the node; null where there are none, and in the started form.
comm::node_collectives* mover::node_for_reductions() const {
  return is_started_ ? nullptr : comm_.collectives_on_node();
}

/// node_for_reductions() for elements that may be in device memory.
comm::node_collectives* mover::node_for_moves() const {
  return uses_blocking_calls() ? nullptr : node_for_reductions();
}

/// Polls as often as a blocking call would. There is no interrupt: the other ranks move the same data.
void mover::wait(MPI_Request& request, const char* call) const {
  constexpr unsigned often = 64;
  for (unsigned round = 1;; ++round) {
    if (mpi::knows_death()) [[unlikely]]
      comm::fail_by_death(comm_);
    if (mpi::has_ended(request, call)) return;
    if (round % often != 0) continue;
    if (mpi::needs_progress()) mpi::progress_all();
    mpi::look_for_deaths();
  }
}

/// Starts MPI's function with the communicator behind the arguments; the blocking form waits for its end. Calls the
/// blocking function where it must.
template <class Blocking, class Started, class... Given>
void mover::call(const char* blocking_name, Blocking* blocking, const char* started_name, Started* started,
                 Given... given) {
  if (is_started_) return check(started(given..., comm_.messages(), add()), started_name);
  if (uses_blocking_calls()) return check(blocking(given..., comm_.data()), blocking_name);
  MPI_Request request = MPI_REQUEST_NULL;
  check(started(given..., comm_.data(), &request), started_name);
  wait(request, started_name);
}

void mover::bcast(std::byte* data, std::int64_t count, int root, syncyte_dtype_t dtype) {
  if (comm_.bypasses_mpi()) return;
  comm::node_collectives* const node = node_for_moves();
  if (node != nullptr && node->fits_round(bytes_of(count, dtype)))
    return node->bcast(data, bytes_of(count, dtype), root);
  mpi::in_pieces(count, [&](std::int64_t first, int length) {
    call("MPI_Bcast", MPI_Bcast, "MPI_Ibcast", MPI_Ibcast, data + bytes_of(first, dtype), length, type_of(dtype), root);
  });
}

void mover::gather(const std::byte* input, counts_view counts, int root, std::byte* output, syncyte_dtype_t dtype) {
  if (comm_.bypasses_mpi()) return copy_alone(input, output, counts[0], dtype);
  if (is_long(counts)) {
    if (comm_.rank() == root) receive_all(output, counts, dtype);
    send(root, input, counts[at(comm_.rank())], dtype);
    return wait_for_messages();
  }
  const int_layout& layout = kept(counts);
  call("MPI_Gatherv", MPI_Gatherv, "MPI_Igatherv", MPI_Igatherv, input, own(layout), type_of(dtype), output,
       layout.counts.data(), layout.offsets.data(), type_of(dtype), root);
}

void mover::allgather(const std::byte* input, counts_view counts, std::byte* output, syncyte_dtype_t dtype) {
  if (comm_.bypasses_mpi()) return copy_alone(input, output, counts[0], dtype);
  comm::node_collectives* const node = node_for_moves();
  if (node != nullptr && node->fits_round(bytes_of(std::ranges::max(counts), dtype)))
    return node->allgather(input, bytes_of(counts, dtype), output);
  if (is_long(counts)) {
    for (int rank = 0; rank < comm_.size(); ++rank) {
      const std::int64_t count = counts[at(rank)];
      if (rank == comm_.rank()) copy(input, output, count, dtype);
      bcast(output, count, rank, dtype);
      output += bytes_of(count, dtype);
    }
    return;
  }
  const int_layout& layout = kept(counts);
  call("MPI_Allgatherv", MPI_Allgatherv, "MPI_Iallgatherv", MPI_Iallgatherv, input, own(layout), type_of(dtype), output,
       layout.counts.data(), layout.offsets.data(), type_of(dtype));
}

void mover::scatter(const std::byte* input, counts_view counts, int root, std::byte* output, syncyte_dtype_t dtype) {
  if (comm_.bypasses_mpi()) return copy_alone(input, output, counts[0], dtype);
  if (is_long(counts)) {
    receive(root, output, counts[at(comm_.rank())], dtype);
    if (comm_.rank() == root) send_all(input, counts, dtype);
    return wait_for_messages();
  }
  const int_layout& layout = kept(counts);
  call("MPI_Scatterv", MPI_Scatterv, "MPI_Iscatterv", MPI_Iscatterv, input, layout.counts.data(), layout.offsets.data(),
       type_of(dtype), output, own(layout), type_of(dtype), root);
}

bool mover::fits_share(std::int64_t elements, syncyte_dtype_t dtype) const {
  const comm::node_collectives* const node = node_for_reductions();
  return node != nullptr && node->fits_share(bytes_of(elements, dtype));
}

void mover::alltoall(const std::byte* input, counts_view send_counts, counts_view recv_counts, std::byte* output,
                     syncyte_dtype_t dtype, alltoall_size size) {
  if (comm_.bypasses_mpi()) return copy_alone(input, output, recv_counts[0], dtype);
  comm::node_collectives* const node = node_for_moves();
  if (size.is_short && node != nullptr)
    return node->alltoall(input, bytes_of(send_counts, dtype), bytes_of(recv_counts, dtype), output);
  if (size.is_long) {
    receive_all(output, recv_counts, dtype);
    send_all(input, send_counts, dtype);
    return wait_for_messages();
  }
  const int_layout& sending = kept(send_counts);
  const int_layout& receiving = kept(recv_counts);
  call("MPI_Alltoallv", MPI_Alltoallv, "MPI_Ialltoallv", MPI_Ialltoallv, input, sending.counts.data(),
       sending.offsets.data(), type_of(dtype), output, receiving.counts.data(), receiving.offsets.data(),
       type_of(dtype));
}

void mover::receive(int source, std::byte* data, std::int64_t count, syncyte_dtype_t dtype) {
  mpi::in_pieces(count, [&](std::int64_t first, int length) {
    check(MPI_Irecv(data + bytes_of(first, dtype), length, type_of(dtype), source, 0, comm_.control(), add()),
          "MPI_Irecv");
  });
}

void mover::send(int dest, const std::byte* data, std::int64_t count, syncyte_dtype_t dtype) {
  mpi::in_pieces(count, [&](std::int64_t first, int length) {
    check(MPI_Isend(data + bytes_of(first, dtype), length, type_of(dtype), dest, 0, comm_.control(), add()),
          "MPI_Isend");
  });
}

void mover::wait_for_messages() {
  if (is_started_) return;
  // Each by itself: MPICH reports errors of several at once to the handler of MPI_COMM_SELF.
  for (MPI_Request& each : requests_) wait(each, "MPI_Test");
  requests_.clear();
}

/// Copies within this rank. In the blocking form elements may be in device memory, so MPI moves them by a message.
void mover::copy(const std::byte* input, std::byte* output, std::int64_t count, syncyte_dtype_t dtype) {
  if (is_started_) return copy_alone(input, output, count, dtype);
  receive(comm_.rank(), output, count, dtype);
  send(comm_.rank(), input, count, dtype);
  wait_for_messages();
}

/// One message from or to every rank, from one part to the next.
void mover::receive_all(std::byte* data, counts_view counts, syncyte_dtype_t dtype) {
  for (int rank = 0; rank < comm_.size(); data += bytes_of(counts[at(rank++)], dtype))
    receive(rank, data, counts[at(rank)], dtype);
}

void mover::send_all(const std::byte* data, counts_view counts, syncyte_dtype_t dtype) {
  for (int rank = 0; rank < comm_.size(); data += bytes_of(counts[at(rank++)], dtype))
    send(rank, data, counts[at(rank)], dtype);
}

/// Elements of one call. MPI's blocking allreduce takes temporary memory of its input's size, which beyond some
/// megabytes comes fresh from the kernel, page by page: pieces of 8 MiB take half the time of 100 MiB at once (2 ranks,
/// Open MPI 4). Pieces stay long enough for all ranks to have a share.
std::int64_t mover::most_reduced(syncyte_dtype_t dtype) const {
  constexpr std::int64_t least_bytes = 8 << 20, share_bytes = 256 << 10;
  if (is_started_) return any_length;
  return std::max(least_bytes, comm_.size() * share_bytes) / static_cast<std::int64_t>(base::dtype_size(dtype));
}

void mover::allreduce(const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype, syncyte_op_t op) {
  if (comm_.bypasses_mpi()) return copy_alone(input, output, count, dtype);
  in_reducible_pieces(input, output, count, dtype, most_reduced(dtype),
                      [&](const void* in, void* out, int length, syncyte_dtype_t type) {
                        const std::size_t bytes = bytes_of(length, type);
                        comm::node_collectives* const node = node_for_reductions();
                        if (node != nullptr && node->fits(bytes))
                          return node->allreduce(in, out, length, type_of(type), bytes, mpi_op(type, op));
                        if (fits_ring(bytes))
                          return allreduce_by_ring(static_cast<const std::byte*>(in), static_cast<std::byte*>(out),
                                                   length, type, op);
                        call("MPI_Allreduce", MPI_Allreduce, "MPI_Iallreduce", MPI_Iallreduce, send_buffer(in, out),
                             out, length, type_of(type), mpi_op(type, op));
                      });
}

void mover::reduce(const void* input, void* output, std::int64_t count, int root, syncyte_dtype_t dtype,
                   syncyte_op_t op) {
  if (comm_.bypasses_mpi()) return copy_alone(input, output, count, dtype);
  const bool is_root = comm_.rank() == root;
  in_reducible_pieces(input, is_root ? output : nullptr, count, dtype, most_reduced(dtype),
                      [&](const void* in, void* out, int length, syncyte_dtype_t type) {
                        const std::size_t bytes = bytes_of(length, type);
                        comm::node_collectives* const node = node_for_reductions();
                        if (node != nullptr && node->fits(bytes))
                          return node->allreduce(in, is_root ? out : nullptr, length, type_of(type), bytes,
                                                 mpi_op(type, op));
                        if (fits_ring(bytes))
                          return reduce_by_ring(static_cast<const std::byte*>(in), static_cast<std::byte*>(out), length,
                                                root, type, op);
                        call("MPI_Reduce", MPI_Reduce, "MPI_Ireduce", MPI_Ireduce, is_root ? send_buffer(in, out) : in,
                             out, length, type_of(type), mpi_op(type, op), root);
                      });
}

void mover::scan(const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype, syncyte_op_t op,
                 bool reverse, bool is_exclusive) {
  const int first_rank = reverse ? comm_.size() - 1 : 0;
  if (comm_.bypasses_mpi() && !is_exclusive) return copy_alone(input, output, count, dtype);
  if (!comm_.bypasses_mpi())
    in_reducible_pieces(
        input, output, count, dtype, any_length, [&](const void* in, void* out, int length, syncyte_dtype_t type) {
          MPI_Request request = MPI_REQUEST_NULL;
          const char* const name = is_exclusive ? "MPI_Iexscan" : "MPI_Iscan";
          check((is_exclusive ? MPI_Iexscan : MPI_Iscan)(send_buffer(in, out), out, length, type_of(type),
                                                         mpi_op(type, op), reverse ? comm_.reversed() : comm_.data(),
                                                         &request),
                name);
          wait(request, name);
        });
  if (is_exclusive && comm_.rank() == first_rank) fill_identity(output, count, dtype, op);  // MPI leaves it undefined
}

void mover::reduce_scatter(const std::byte* input, counts_view counts, std::byte* output, syncyte_dtype_t dtype,
                           syncyte_op_t op) {
  if (comm_.bypasses_mpi()) return copy_alone(input, output, counts[0], dtype);
  if (is_long(counts)) {
    for (int rank = 0; rank < comm_.size(); ++rank) {
      reduce(input, output, counts[at(rank)], rank, dtype, op);
      input += bytes_of(counts[at(rank)], dtype);
    }
    return;
  }
  const std::size_t longest = bytes_of(std::ranges::max(counts), dtype);
  if (longest == 0) return;
  const int_layout& layout = kept(counts);
  comm::node_collectives* const node = node_for_reductions();
  if (node != nullptr && node->fits_scatter(longest))
    return node->reduce_scatter(input, output, layout.counts, type_of(dtype), base::dtype_size(dtype),
                                mpi_op(dtype, op));
  if (fits_ring(longest * at(comm_.size()))) return reduce_scatter_by_ring(input, layout, output, dtype, op);
  call("MPI_Reduce_scatter", MPI_Reduce_scatter, "MPI_Ireduce_scatter", MPI_Ireduce_scatter, input, output,
       layout.counts.data(), type_of(dtype), mpi_op(dtype, op));
}

bool mover::any() const {
  return std::ranges::any_of(requests_, [](MPI_Request each) { return each != MPI_REQUEST_NULL; });
}

bool mover::test() {
  while (!requests_.empty()) {  // usually one; a request that has ended is not tested again
    if (!mpi::has_ended(requests_.back(), "MPI_Test")) return false;
    requests_.pop_back();
  }
  layouts_.clear();
  return true;
}

}  // namespace syncyte::collectives
