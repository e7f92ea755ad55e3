// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/node_votes.hpp"
#include "memory/shared_segment.hpp"
#include "topology/node_group.hpp"

namespace syncyte::comm {

/// Collectives of few bytes among ranks of one node, through memory that they share: each rank shows its elements to
/// the others, and reads theirs. In a reduction it reduces all of them by itself in the order of ranks, so that results
/// are the same on all ranks, and from run to run. This takes less time than messages do (bench/allreduce.py).
///
/// Elements go in pieces, one a round. Each rank's slot has two halves, which the rounds use in turn. A rank that has
/// arrived in a round has read all slots of the round before. A rank overwrites a half only after all ranks have
/// arrived in the round that used the other half, so all of them have read it.
///
/// All functions are collective. While they wait, all operations make progress; they throw SYNCYTE_ERR_PEER_DIED after
/// the death of a rank. Memory is the host's.
class node_collectives {
 public:
  /// Collective over `node`, whose ranks are all of a communicator's. On all ranks null where there is one rank, or
  /// where memory could not be had, or where ranks are too many. `width` is that of the votes' trees.
  static std::unique_ptr<node_collectives> make(const topology::node_group& node, int width);

  /// The communicator's agreements.
  node_votes& votes() { return votes_; }

  /// Whether allreduce() takes so many bytes: up to 1 MiB with 2 ranks, 256 KiB with 4, 64 KiB with 8.
  bool fits(std::size_t bytes) const { return bytes <= most_bytes_; }

  /// `bytes`, the size of the `count` elements, is equal on all ranks and fits(). `input` may be `output`. A rank with
  /// a null output gets no result, and does not wait for one.
  void allreduce(const void* input, void* output, int count, MPI_Datatype type, std::size_t bytes, MPI_Op op);

  /// Whether reduce_scatter() takes parts of which the longest has so many bytes: up to 1 MiB with 2 ranks, 512 KiB
  /// with 4, 256 KiB with 8.
  bool fits_scatter(std::size_t longest_part) const;

  /// Rank r gets the reduction of all ranks' part r. `counts`, the number of elements of each part, are equal on all
  /// ranks, and the longest part fits_scatter(). Not in place.
  void reduce_scatter(const void* input, void* output, const std::vector<int>& counts, MPI_Datatype type,
                      std::size_t element_bytes, MPI_Op op);

  /// Whether alltoall() takes parts of which the longest of all ranks has so many bytes: 32 KiB with 2 ranks, 16 KiB
  /// with 4, 8 KiB with 8.
  bool fits_share(std::size_t bytes) const { return bytes <= share_bytes(); }

  /// Each rank sends each rank a part; parts lie one after the other. `sent` and `received` are the parts' bytes. Not
  /// in place.
  void alltoall(const std::byte* input, std::span<const std::size_t> sent, std::span<const std::size_t> received,
                std::byte* output);

  /// Whether `bytes` fit one round. bcast() requires it of the whole array, allgather() of the longest part.
  bool fits_round(std::size_t bytes) const { return bytes <= piece_bytes_; }

  /// The root's bytes on all ranks.
  void bcast(std::byte* data, std::size_t bytes, int root);

  /// All ranks' parts, one after the other; `bytes`, the size of each part, are equal on all ranks. Not in place.
  void allgather(const std::byte* input, std::span<const std::size_t> bytes, std::byte* output);

 private:
  struct slot_header;

  node_collectives(memory::segment segment, const topology::node_group& node, int width);
  slot_header& header(int rank) const;
  std::byte* elements(int rank) const;
  std::byte* share(int rank, int reader) const;
  std::size_t share_bytes() const;
  void await(int rank, std::uint64_t round) const;
  void begin_to_show();
  void arrive();
  void reduce_piece(const std::byte* input, std::byte* output, int count, MPI_Datatype type, std::size_t bytes,
                    MPI_Op op);

  memory::segment segment_;
  int rank_;
  int size_;
  std::size_t most_bytes_;
  std::size_t piece_bytes_;
  std::uint64_t round_ = 0;
  node_votes votes_;
};

}  // namespace syncyte::comm
