#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "mpi/large_counts.hpp"

namespace syncyte::collectives {

/// MPI's non-blocking collectives of dense elements, any number of them, as parts of one operation; over the
/// communicator of the messages. Keeps what MPI reads of counts until the end; the elements are the caller's to keep.
/// No checks, no agreement.
class transfers {
 public:
  void bcast(const comm::communicator& comm, std::byte* data, std::int64_t count, int root, syncyte_dtype_t dtype);
  /// `input` may be `output`: in place. Not for float16 and bfloat16; nor is reduce_scatter().
  void allreduce(const comm::communicator& comm, const void* input, void* output, std::int64_t count,
                 syncyte_dtype_t dtype, syncyte_op_t op);
  void allgather(const comm::communicator& comm, const std::byte* input, std::span<const std::int64_t> counts,
                 std::byte* output, syncyte_dtype_t dtype);
  /// `is_long`, equal on all ranks: some rank's counts do not fit MPI's int.
  void exchange(const comm::communicator& comm, const std::byte* input, std::span<const std::int64_t> send_counts,
                std::span<const std::int64_t> recv_counts, std::byte* output, syncyte_dtype_t dtype, bool is_long);
  void reduce_scatter(const comm::communicator& comm, const std::byte* input, std::span<const std::int64_t> counts,
                      std::byte* output, syncyte_dtype_t dtype, syncyte_op_t op);

  /// For a further request, which has to be started at once. The address is good until the next.
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  /// Whether something is under way, as far as test() has seen.
  bool any() const;

  /// Whether all is complete; then it starts anew.
  bool test();

 private:
  std::vector<MPI_Request> requests_;
  std::deque<mpi::int_layout> layouts_;  // their addresses stay
};

}  // namespace syncyte::collectives
