#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/shared_segment.hpp"
#include "topology/node_group.hpp"
#include "watchdog/long_wait.hpp"

namespace syncyte::comm {

/// Reductions of few bytes among ranks of one node, through memory that they share: each rank shows its elements to the
/// others, waits for theirs, and reduces all of them by itself in the order of ranks, so that results are the same on
/// all ranks, and from run to run. This takes less time than messages do (bench/allreduce.py).
///
/// Elements go in pieces, one a round. A round's lie in one half of a rank's slot, the next round's in the other. A
/// rank that has arrived in a round has read all slots of the round before; so what is overwritten has been read by
/// all.
class node_reduction {
 public:
  /// Collective over `node`, whose ranks are all of a communicator's. On all ranks null where there is one rank, or
  /// where memory could not be had, or where ranks are too many.
  static std::unique_ptr<node_reduction> make(const topology::node_group& node);

  /// Whether allreduce() takes so many bytes: up to 1 MiB with 2 ranks, 256 KiB with 4, 64 KiB with 8.
  bool fits(std::size_t bytes) const { return bytes <= most_bytes_; }

  /// Collective; `bytes`, those of count elements of type, are equal on all ranks, and fits(bytes). `input` may be
  /// `output`. While it waits, it makes progress on all operations. `wait` is for calls that a rank may never make.
  /// Throws SYNCYTE_ERR_PEER_DIED after the death of a rank.
  void allreduce(const void* input, void* output, int count, MPI_Datatype type, std::size_t bytes, MPI_Op op,
                 watchdog::long_wait* wait = nullptr);

  /// Whether reduce_scatter() takes parts of which the longest has so many bytes: up to 1 MiB with 2 ranks, 512 KiB
  /// with 4, 256 KiB with 8.
  bool fits_scatter(std::size_t longest_part) const;

  /// Rank r gets the reduction of all ranks' part r; `counts` are the parts' elements, of element_bytes. Collective;
  /// counts equal on all ranks, their longest fits_scatter(). Not in place.
  void reduce_scatter(const void* input, void* output, const std::vector<int>& counts, MPI_Datatype type,
                      std::size_t element_bytes, MPI_Op op);

 private:
  struct slot_header;

  node_reduction(memory::segment segment, const topology::node_group& node);
  slot_header& header(int rank) const;
  std::byte* elements(int rank) const;
  std::byte* share(int rank, int reader) const;
  std::size_t share_bytes() const;
  void await(int rank, watchdog::long_wait* wait = nullptr) const;
  void arrive();
  void reduce_piece(const std::byte* input, std::byte* output, int count, MPI_Datatype type, std::size_t bytes,
                    MPI_Op op, watchdog::long_wait* wait);

  memory::segment segment_;
  int rank_;
  int size_;
  std::size_t most_bytes_;
  std::size_t piece_bytes_;
  std::uint64_t round_ = 0;
};

}  // namespace syncyte::comm
