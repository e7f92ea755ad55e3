#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "comm/node.hpp"
#include "memory/shared_segment.hpp"

namespace syncyte::comm {

/// Allreduce of few bytes among ranks of one node, through memory that they share: each rank shows its elements to the
/// others, waits for theirs, and reduces all of them by itself in the order of ranks, so that results are the same on
/// all ranks, and from run to run. For some kilobytes this takes a fraction of what messages take.
///
/// A round's elements lie in one half of a rank's slot, the next round's in the other. A rank that has arrived in a
/// round has read all slots of the round before; so what is overwritten has been read by all.
class node_reduction {
 public:
  /// Collective over `node`, whose ranks are all of a communicator's. On all ranks null where there is one rank, or
  /// where memory could not be had.
  static std::unique_ptr<node_reduction> make(const node_group& node);

  /// Whether this is the way for so many bytes: every rank reads those of all.
  bool fits(std::size_t bytes) const { return bytes <= most_bytes_; }

  /// Collective; fits(count elements of type), equal on all ranks. `input` may be `output`. While it waits, everything
  /// that is under way goes on, in MPI too.
  void allreduce(const void* input, void* output, int count, MPI_Datatype type, std::size_t bytes, MPI_Op op);

 private:
  struct slot_header;

  node_reduction(memory::segment segment, const node_group& node);
  static std::size_t slot_bytes(int ranks);
  slot_header& header(int rank) const;
  std::byte* elements(int rank) const;
  void await(int rank) const;

  memory::segment segment_;
  int rank_;
  int size_;
  std::size_t most_bytes_;
  std::uint64_t round_ = 0;
};

}  // namespace syncyte::comm
