// SPDX-License-Identifier: BSD-3-Clause
// Reductions of many elements by messages along the ring of ranks. MPI's blocking reductions cannot be left when a rank
// dies, and Open MPI's non-blocking ones take 2 to 7 times as long for 1 MiB (2 ranks on one node, Open MPI 4.1).
#include <algorithm>
#include <utility>

#include "collectives/mover.hpp"
#include "collectives/reduction_ops.hpp"
#include "memory/scratch.hpp"
#include "mpi/call.hpp"

namespace syncyte::collectives {

/// Elements that are cut into one block for each rank.
struct mover::blocks {
  int ranks;
  std::int64_t count;
  syncyte_dtype_t dtype;

  int number(int any) const { return ((any % ranks) + ranks) % ranks; }
  std::int64_t first(int block) const { return count / ranks * block + std::min<std::int64_t>(count % ranks, block); }
  std::int64_t length(int block) const { return count / ranks + (block < count % ranks ? 1 : 0); }
  std::size_t offset(int block) const { return bytes_of(first(block), dtype); }
  std::size_t longest_bytes() const { return bytes_of(length(0), dtype); }
};

/// Whether every rank's block is long enough: with shorter blocks the number of messages costs more than a ring saves.
bool mover::fits_ring(std::size_t bytes) const {
  constexpr std::size_t least_block = std::size_t{16} << 10;
  return !is_started_ && !uses_blocking_calls() && comm_.size() > 1 &&
         bytes >= least_block * static_cast<std::size_t>(comm_.size());
}

/// Sends one block to the next rank while it receives another from the previous one.
void mover::pass_on(const std::byte* sent, std::int64_t sent_count, std::byte* received, std::int64_t received_count,
                    syncyte_dtype_t dtype) {
  const int size = comm_.size();
  receive((comm_.rank() + size - 1) % size, received, received_count, dtype);
  send((comm_.rank() + 1) % size, sent, sent_count, dtype);
  wait_for_messages();
}

void mover::combine(const std::byte* with, std::byte* target, std::int64_t count, syncyte_dtype_t dtype,
                    syncyte_op_t op) {
  mpi::in_pieces(count, [&](std::int64_t first, int length) {
    const std::size_t offset = bytes_of(first, dtype);
    mpi::check(MPI_Reduce_local(with + offset, target + offset, length, mpi::type_of(dtype), mpi_op(dtype, op)),
               "MPI_Reduce_local");
  });
}

/// Afterwards block rank + 1 of `output` is reduced over all ranks; the other blocks hold sums of some ranks.
void mover::reduce_blocks(const blocks& all, const std::byte* input, std::byte* output, syncyte_op_t op) {
  const bool is_in_place = input == output;
  const memory::scratch space = is_in_place ? memory::scratch(all.longest_bytes()) : memory::scratch();
  for (int step = 0; step + 1 < all.ranks; ++step) {
    const int sent = all.number(comm_.rank() - step), received = all.number(comm_.rank() - step - 1);
    std::byte* const sum = output + all.offset(received);
    std::byte* const target = is_in_place ? space.data() : sum;
    pass_on((step == 0 ? input : output) + all.offset(sent), all.length(sent), target, all.length(received), all.dtype);
    combine(is_in_place ? target : input + all.offset(received), sum, all.length(received), all.dtype, op);
  }
}

void mover::allreduce_by_ring(const std::byte* input, std::byte* output, std::int64_t count, syncyte_dtype_t dtype,
                              syncyte_op_t op) {
  const blocks all{comm_.size(), count, dtype};
  reduce_blocks(all, input, output, op);
  for (int step = 0; step + 1 < all.ranks; ++step) {
    const int sent = all.number(comm_.rank() + 1 - step), received = all.number(comm_.rank() - step);
    pass_on(output + all.offset(sent), all.length(sent), output + all.offset(received), all.length(received), dtype);
  }
}

/// `output` is used on root only.
void mover::reduce_by_ring(const std::byte* input, std::byte* output, std::int64_t count, int root,
                           syncyte_dtype_t dtype, syncyte_op_t op) {
  const blocks all{comm_.size(), count, dtype};
  const bool is_root = comm_.rank() == root;
  const memory::scratch space = is_root ? memory::scratch() : memory::scratch(bytes_of(count, dtype));
  std::byte* const sums = is_root ? output : space.data();
  reduce_blocks(all, input, sums, op);
  for (int rank = 0; is_root && rank < all.ranks; ++rank)
    if (const int block = all.number(rank + 1); rank != root)
      receive(rank, sums + all.offset(block), all.length(block), dtype);
  const int mine = all.number(comm_.rank() + 1);
  if (!is_root) send(root, sums + all.offset(mine), all.length(mine), dtype);
  wait_for_messages();
}

/// The sum of a part goes from the rank after its owner to the owner.
void mover::reduce_scatter_by_ring(const std::byte* input, const mpi::int_layout& parts, std::byte* output,
                                   syncyte_dtype_t dtype, syncyte_op_t op) {
  const int ranks = comm_.size();
  const auto place = [&](int any) { return static_cast<std::size_t>(((any % ranks) + ranks) % ranks); };
  const auto part = [&](std::size_t at) { return input + bytes_of(parts.offsets[at], dtype); };
  const std::size_t longest = bytes_of(std::ranges::max(parts.counts), dtype);
  const memory::scratch spaces[] = {memory::scratch(longest), memory::scratch(longest)};
  const std::byte* sum = nullptr;
  for (int step = 0; step + 1 < ranks; ++step) {
    const std::size_t sent = place(comm_.rank() - step - 1), received = place(comm_.rank() - step - 2);
    std::byte* const target = step + 2 == ranks ? output : spaces[step % 2].data();
    pass_on(step == 0 ? part(sent) : sum, parts.counts[sent], target, parts.counts[received], dtype);
    combine(part(received), target, parts.counts[received], dtype, op);
    sum = target;
  }
}

}  // namespace syncyte::collectives
