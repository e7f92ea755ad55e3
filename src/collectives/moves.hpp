#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/dtype.hpp"
#include "collectives/calls.hpp"
#include "collectives/half_precision.hpp"
#include "collectives/reduction_ops.hpp"
#include "mpi/large_counts.hpp"

namespace syncyte::collectives {

/// Collectives of any number of dense elements, by MPI's calls in one of their forms (calls.hpp). No checks, no
/// agreement: that is the callers', who have agreed. Input and output do not overlap, but for reductions in place.
///
/// Messages or broadcasts in pieces are used if the sum of counts does not fit MPI's int displacements; all ranks must
/// come to the same conclusion, so the sums must be equal on all of them.
template <class Calls>
class moves {
 public:
  explicit moves(Calls& calls) : calls_(calls), rank_(calls.comm().rank()), size_(calls.comm().size()) {}

  void bcast(std::byte* data, std::int64_t count, int root, syncyte_dtype_t dtype) {
    mpi::in_pieces(
        count, [&](std::int64_t first, int length) { calls_.bcast(data + bytes(first, dtype), length, dtype, root); });
  }

  void gather(const std::byte* input, mpi::counts_view counts, int root, std::byte* output, syncyte_dtype_t dtype) {
    if (!calls_.is_long(counts)) return calls_.gather(input, counts, root, output, dtype);
    if (rank_ == root) receive_all(output, counts, dtype);
    send(root, input, counts[at(rank_)], dtype);
    wait_for_messages();
  }

  void allgather(const std::byte* input, mpi::counts_view counts, std::byte* output, syncyte_dtype_t dtype) {
    if (!calls_.is_long(counts)) return calls_.allgather(input, counts, output, dtype);
    if constexpr (has_messages) {
      for (int rank = 0; rank < size_; ++rank) {
        const std::int64_t count = counts[at(rank)];
        if (rank == rank_) copy(input, output, count, dtype);
        bcast(output, count, rank, dtype);
        output += bytes(count, dtype);
      }
    }
  }

  void scatter(const std::byte* input, mpi::counts_view counts, int root, std::byte* output, syncyte_dtype_t dtype) {
    if (!calls_.is_long(counts)) return calls_.scatter(input, counts, root, output, dtype);
    receive(root, output, counts[at(rank_)], dtype);
    if (rank_ == root) send_all(input, counts, dtype);
    wait_for_messages();
  }

  /// `is_long`, equal on all ranks: some rank's counts do not fit.
  void alltoall(const std::byte* input, mpi::counts_view send_counts, mpi::counts_view recv_counts, std::byte* output,
                syncyte_dtype_t dtype, bool is_long) {
    if (!is_long) return calls_.alltoall(input, send_counts, recv_counts, output, dtype);
    receive_all(output, recv_counts, dtype);
    send_all(input, send_counts, dtype);
    wait_for_messages();
  }

  // Messages between any ranks, for what MPI has no call for. A forked child, which is alone, has none.

  void receive(int source, std::byte* data, std::int64_t count, syncyte_dtype_t dtype) {
    if constexpr (has_messages)
      mpi::in_pieces(count, [&](std::int64_t first, int length) {
        calls_.receive(source, data + bytes(first, dtype), length, dtype);
      });
  }
  void send(int dest, const std::byte* data, std::int64_t count, syncyte_dtype_t dtype) {
    if constexpr (has_messages)
      mpi::in_pieces(
          count, [&](std::int64_t first, int length) { calls_.send(dest, data + bytes(first, dtype), length, dtype); });
  }
  void wait_for_messages() {
    if constexpr (has_messages) calls_.wait_for_messages();
  }

  // Reductions in the arithmetic of their dtype: float16 and bfloat16 are reduced as float32, and are rounded once;
  // sums and products of bool are logic. `input` may be `output`. Posted calls take no half precision.

  void allreduce(const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype, syncyte_op_t op) {
    in_reducible_pieces(
        input, output, count, dtype,
        [&](const void* in, void* out, int length, syncyte_dtype_t type) {
          calls_.allreduce(in, out, length, type, op);
        },
        calls_.most_reduced(dtype));
  }

  /// `output` counts on root only.
  void reduce(const void* input, void* output, std::int64_t count, int root, syncyte_dtype_t dtype, syncyte_op_t op) {
    in_reducible_pieces(input, rank_ == root ? output : nullptr, count, dtype,
                        [&](const void* in, void* out, int length, syncyte_dtype_t type) {
                          calls_.reduce(in, out, length, type, op, root);
                        });
  }

  void scan(const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype, syncyte_op_t op,
            bool from_last) {
    in_reducible_pieces(input, output, count, dtype, [&](const void* in, void* out, int length, syncyte_dtype_t type) {
      calls_.scan(in, out, length, type, op, from_last);
    });
  }

  /// The first rank gets identity elements.
  void exscan(const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype, syncyte_op_t op,
              bool from_last) {
    in_reducible_pieces(input, output, count, dtype, [&](const void* in, void* out, int length, syncyte_dtype_t type) {
      calls_.exscan(in, out, length, type, op, from_last);
    });
    if (rank_ == (from_last ? size_ - 1 : 0)) fill_identity(output, count, dtype, op);  // MPI leaves it undefined
  }

  /// Every rank's part is the reduction of all ranks' inputs there; input holds all parts. Not in place, and not of
  /// half precision.
  void reduce_scatter(const std::byte* input, mpi::counts_view counts, std::byte* output, syncyte_dtype_t dtype,
                      syncyte_op_t op) {
    if (!calls_.is_long(counts)) return calls_.reduce_scatter(input, counts, output, dtype, op);
    if constexpr (has_messages) {
      for (int rank = 0; rank < size_; ++rank) {
        reduce(input, output, counts[at(rank)], rank, dtype, op);
        input += bytes(counts[at(rank)], dtype);
      }
    }
  }

 private:
  static constexpr bool has_messages = requires(Calls& calls) { calls.wait_for_messages(); };

  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  static std::size_t bytes(std::int64_t count, syncyte_dtype_t dtype) {
    return static_cast<std::size_t>(count) * base::dtype_size(dtype);
  }

  void copy(const std::byte* input, std::byte* output, std::int64_t count, syncyte_dtype_t dtype) {
    mpi::in_pieces(count, [&](std::int64_t first, int length) {
      calls_.copy(input + bytes(first, dtype), output + bytes(first, dtype), length, dtype);
    });
  }
  /// One message from or to every rank, from one place to the next.
  void receive_all(std::byte* data, mpi::counts_view counts, syncyte_dtype_t dtype) {
    for (int rank = 0; rank < size_; data += bytes(counts[at(rank++)], dtype))
      receive(rank, data, counts[at(rank)], dtype);
  }
  void send_all(const std::byte* data, mpi::counts_view counts, syncyte_dtype_t dtype) {
    for (int rank = 0; rank < size_; data += bytes(counts[at(rank++)], dtype))
      send(rank, data, counts[at(rank)], dtype);
  }

  Calls& calls_;
  int rank_;
  int size_;
};

}  // namespace syncyte::collectives
