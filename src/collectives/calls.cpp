#include "collectives/calls.hpp"

#include <algorithm>
#include <cstring>

#include "base/dtype.hpp"
#include "collectives/reduction_ops.hpp"
#include "comm/node_reduction.hpp"
#include "mpi/call.hpp"

namespace syncyte::collectives {
namespace {

using mpi::check;
using mpi::counts_view;
using mpi::int_layout;
using mpi::type_of;

const void* send_buffer(const void* input, const void* output) { return input == output ? MPI_IN_PLACE : input; }

int own(const comm::communicator& comm, const int_layout& layout) {
  return layout.counts[static_cast<std::size_t>(comm.rank())];
}

}  // namespace

void blocking_calls::bcast(std::byte* data, int count, syncyte_dtype_t dtype, int root) {
  check(MPI_Bcast(data, count, type_of(dtype), root, comm_.data()), "MPI_Bcast");
}

void blocking_calls::gather(const std::byte* input, counts_view counts, int root, std::byte* output,
                            syncyte_dtype_t dtype) {
  const int_layout layout(counts);
  check(MPI_Gatherv(input, own(comm_, layout), type_of(dtype), output, layout.counts.data(), layout.offsets.data(),
                    type_of(dtype), root, comm_.data()),
        "MPI_Gatherv");
}

void blocking_calls::allgather(const std::byte* input, counts_view counts, std::byte* output, syncyte_dtype_t dtype) {
  const int_layout layout(counts);
  check(MPI_Allgatherv(input, own(comm_, layout), type_of(dtype), output, layout.counts.data(), layout.offsets.data(),
                       type_of(dtype), comm_.data()),
        "MPI_Allgatherv");
}

void blocking_calls::scatter(const std::byte* input, counts_view counts, int root, std::byte* output,
                             syncyte_dtype_t dtype) {
  const int_layout layout(counts);
  check(MPI_Scatterv(input, layout.counts.data(), layout.offsets.data(), type_of(dtype), output, own(comm_, layout),
                     type_of(dtype), root, comm_.data()),
        "MPI_Scatterv");
}

void blocking_calls::alltoall(const std::byte* input, counts_view send_counts, counts_view recv_counts,
                              std::byte* output, syncyte_dtype_t dtype) {
  const int_layout sending(send_counts);
  const int_layout receiving(recv_counts);
  check(MPI_Alltoallv(input, sending.counts.data(), sending.offsets.data(), type_of(dtype), output,
                      receiving.counts.data(), receiving.offsets.data(), type_of(dtype), comm_.data()),
        "MPI_Alltoallv");
}

void blocking_calls::allreduce(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t op) {
  const std::size_t bytes = static_cast<std::size_t>(count) * base::dtype_size(dtype);
  comm::node_reduction* const on_node = comm_.reduction_on_node();
  if (on_node != nullptr && on_node->fits(bytes))
    return on_node->allreduce(input, output, count, type_of(dtype), bytes, mpi_op(dtype, op));
  check(MPI_Allreduce(send_buffer(input, output), output, count, type_of(dtype), mpi_op(dtype, op), comm_.data()),
        "MPI_Allreduce");
}

void blocking_calls::reduce(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t op,
                            int root) {
  check(MPI_Reduce(comm_.rank() == root ? send_buffer(input, output) : input, output, count, type_of(dtype),
                   mpi_op(dtype, op), root, comm_.data()),
        "MPI_Reduce");
}

void blocking_calls::scan(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t op,
                          bool from_last) {
  check(MPI_Scan(send_buffer(input, output), output, count, type_of(dtype), mpi_op(dtype, op),
                 from_last ? comm_.reversed() : comm_.data()),
        "MPI_Scan");
}

void blocking_calls::exscan(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t op,
                            bool from_last) {
  check(MPI_Exscan(send_buffer(input, output), output, count, type_of(dtype), mpi_op(dtype, op),
                   from_last ? comm_.reversed() : comm_.data()),
        "MPI_Exscan");
}

void blocking_calls::reduce_scatter(const std::byte* input, counts_view counts, std::byte* output,
                                    syncyte_dtype_t dtype, syncyte_op_t op) {
  const std::size_t element_bytes = base::dtype_size(dtype);
  const auto longest = static_cast<std::size_t>(*std::max_element(counts.begin(), counts.end()));
  if (longest == 0) return;
  const int_layout layout(counts);
  comm::node_reduction* const on_node = comm_.reduction_on_node();
  if (on_node != nullptr && on_node->fits_scatter(longest * element_bytes))
    return on_node->reduce_scatter(input, output, layout.counts, type_of(dtype), element_bytes, mpi_op(dtype, op));
  check(MPI_Reduce_scatter(input, output, layout.counts.data(), type_of(dtype), mpi_op(dtype, op), comm_.data()),
        "MPI_Reduce_scatter");
}

void blocking_calls::receive(int source, std::byte* data, int count, syncyte_dtype_t dtype) {
  check(MPI_Irecv(data, count, type_of(dtype), source, 0, comm_.control(), &messages_.emplace_back()), "MPI_Irecv");
}

void blocking_calls::send(int dest, const std::byte* data, int count, syncyte_dtype_t dtype) {
  check(MPI_Isend(data, count, type_of(dtype), dest, 0, comm_.control(), &messages_.emplace_back()), "MPI_Isend");
}

void blocking_calls::wait_for_messages() {
  // Each by itself: MPICH reports errors of several at once to the handler of MPI_COMM_SELF.
  for (MPI_Request& each : messages_) check(MPI_Wait(&each, MPI_STATUS_IGNORE), "MPI_Wait");
  messages_.clear();
}

void blocking_calls::copy(const std::byte* from, std::byte* to, int count, syncyte_dtype_t dtype) {
  receive(comm_.rank(), to, count, dtype);
  send(comm_.rank(), from, count, dtype);
  wait_for_messages();
}

/// MPI's allreduce takes temporary memory of its input's size, which beyond some megabytes comes fresh from the kernel,
/// page by page: pieces of 8 MiB take half the time of 100 MiB at once (2 ranks, Open MPI 4). Pieces stay long enough
/// for all ranks to have a share.
std::int64_t blocking_calls::most_reduced(syncyte_dtype_t dtype) const {
  constexpr std::int64_t least_bytes = 8 << 20, share_bytes = 256 << 10;
  return std::max(least_bytes, comm_.size() * share_bytes) / static_cast<std::int64_t>(base::dtype_size(dtype));
}

void posted_calls::bcast(std::byte* data, int count, syncyte_dtype_t dtype, int root) {
  check(MPI_Ibcast(data, count, type_of(dtype), root, comm_.messages(), add()), "MPI_Ibcast");
}

void posted_calls::allgather(const std::byte* input, counts_view counts, std::byte* output, syncyte_dtype_t dtype) {
  const int_layout& layout = layouts_.emplace_back(counts);
  check(MPI_Iallgatherv(input, own(comm_, layout), type_of(dtype), output, layout.counts.data(), layout.offsets.data(),
                        type_of(dtype), comm_.messages(), add()),
        "MPI_Iallgatherv");
}

void posted_calls::alltoall(const std::byte* input, counts_view send_counts, counts_view recv_counts, std::byte* output,
                            syncyte_dtype_t dtype) {
  const int_layout& sending = layouts_.emplace_back(send_counts);
  const int_layout& receiving = layouts_.emplace_back(recv_counts);
  check(MPI_Ialltoallv(input, sending.counts.data(), sending.offsets.data(), type_of(dtype), output,
                       receiving.counts.data(), receiving.offsets.data(), type_of(dtype), comm_.messages(), add()),
        "MPI_Ialltoallv");
}

void posted_calls::allreduce(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t op) {
  check(MPI_Iallreduce(send_buffer(input, output), output, count, type_of(dtype), mpi_op(dtype, op), comm_.messages(),
                       add()),
        "MPI_Iallreduce");
}

void posted_calls::reduce(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t op,
                          int root) {
  check(MPI_Ireduce(comm_.rank() == root ? send_buffer(input, output) : input, output, count, type_of(dtype),
                    mpi_op(dtype, op), root, comm_.messages(), add()),
        "MPI_Ireduce");
}

void posted_calls::reduce_scatter(const std::byte* input, counts_view counts, std::byte* output, syncyte_dtype_t dtype,
                                  syncyte_op_t op) {
  const int_layout& layout = layouts_.emplace_back(counts);
  check(MPI_Ireduce_scatter(input, output, layout.counts.data(), type_of(dtype), mpi_op(dtype, op), comm_.messages(),
                            add()),
        "MPI_Ireduce_scatter");
}

void posted_calls::receive(int source, std::byte* data, int count, syncyte_dtype_t dtype) {
  check(MPI_Irecv(data, count, type_of(dtype), source, 0, comm_.control(), add()), "MPI_Irecv");
}

void posted_calls::send(int dest, const std::byte* data, int count, syncyte_dtype_t dtype) {
  check(MPI_Isend(data, count, type_of(dtype), dest, 0, comm_.control(), add()), "MPI_Isend");
}

void posted_calls::copy(const std::byte* from, std::byte* to, int count, syncyte_dtype_t dtype) {
  std::copy_n(from, static_cast<std::size_t>(count) * base::dtype_size(dtype), to);
}

bool posted_calls::any() const {
  return std::any_of(requests_.begin(), requests_.end(), [](MPI_Request each) { return each != MPI_REQUEST_NULL; });
}

bool posted_calls::test() {
  while (!requests_.empty()) {  // most often one: and what is complete is not asked for again
    if (!mpi::has_ended(requests_.back(), "MPI_Test")) return false;
    requests_.pop_back();
  }
  layouts_.clear();
  return true;
}

namespace {

void copy_elements(const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype) {
  if (count > 0 && input != output)
    std::memmove(output, input, static_cast<std::size_t>(count) * base::dtype_size(dtype));
}

}  // namespace

void local_calls::gather(const std::byte* input, counts_view counts, int, std::byte* output, syncyte_dtype_t dtype) {
  copy_elements(input, output, counts[0], dtype);
}

void local_calls::allgather(const std::byte* input, counts_view counts, std::byte* output, syncyte_dtype_t dtype) {
  copy_elements(input, output, counts[0], dtype);
}

void local_calls::scatter(const std::byte* input, counts_view counts, int, std::byte* output, syncyte_dtype_t dtype) {
  copy_elements(input, output, counts[0], dtype);
}

void local_calls::alltoall(const std::byte* input, counts_view, counts_view counts, std::byte* output,
                           syncyte_dtype_t dtype) {
  copy_elements(input, output, counts[0], dtype);
}

void local_calls::allreduce(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t) {
  copy_elements(input, output, count, dtype);
}

void local_calls::reduce(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t, int) {
  copy_elements(input, output, count, dtype);
}

void local_calls::scan(const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t, bool) {
  copy_elements(input, output, count, dtype);
}

void local_calls::reduce_scatter(const std::byte* input, counts_view counts, std::byte* output, syncyte_dtype_t dtype,
                                 syncyte_op_t) {
  copy_elements(input, output, counts[0], dtype);
}

}  // namespace syncyte::collectives
