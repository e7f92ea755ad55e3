// SPDX-License-Identifier: BSD-3-Clause
#include "comm/node_collectives.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <utility>

#include "mpi/call.hpp"
#include "mpi/progress.hpp"
#include "topology/shared_attempt.hpp"

namespace syncyte::comm {
namespace {

constexpr std::size_t cache_line = 64;

std::size_t index(int value) { return static_cast<std::size_t>(value); }

/// Every rank reads the elements of all ranks, while the messages of an allreduce carry about twice one rank's
/// elements: the more ranks, the sooner messages are faster. Measured at 2 ranks, where both take as long at 1 MiB.
std::size_t most_bytes_of(int ranks) {
  constexpr std::size_t of_one_rank = std::size_t{4} << 20;
  return of_one_rank / (index(ranks) * index(ranks)) / cache_line * cache_line;
}

/// Bytes of a piece: pieces of several ranks fit a processor's second-level cache.
std::size_t piece_bytes_of(int ranks) { return std::min(most_bytes_of(ranks), std::size_t{64} << 10); }

std::size_t slot_bytes_of(int ranks) { return cache_line + 2 * piece_bytes_of(ranks); }

/// Reduces a source into the target; copies the first one.
void reduce_into(std::byte* target, const std::byte* source, bool is_first, int count, MPI_Datatype type,
                 std::size_t bytes, MPI_Op op) {
  if (is_first)
    std::memcpy(target, source, bytes);
  else
    mpi::check(MPI_Reduce_local(source, target, count, type, op), "MPI_Reduce_local");
}

}  // namespace

struct alignas(cache_line) node_collectives::slot_header {
  std::atomic<std::uint64_t> arrived;  // the last round whose elements are here
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share it");

node_collectives::node_collectives(memory::segment segment, const topology::node_group& node, int width)
    : segment_(std::move(segment)),
      rank_(node.rank),
      size_(node.size),
      most_bytes_(most_bytes_of(node.size)),
      piece_bytes_(piece_bytes_of(node.size)),
      votes_(segment_.data() + index(size_) * slot_bytes_of(size_), rank_, size_, width) {}

std::unique_ptr<node_collectives> node_collectives::make(const topology::node_group& node, int width) {
  if (node.size < 2 || most_bytes_of(node.size) == 0) return nullptr;
  const std::size_t bytes = index(node.size) * slot_bytes_of(node.size) + node_votes::bytes(node.size, width);
  topology::shared_attempt attempt = topology::share_segment(node.comm, bytes, node.method);
  if (attempt.successes < node.size) return nullptr;
  return std::unique_ptr<node_collectives>(new node_collectives(std::move(attempt.segment), node, width));
}

node_collectives::slot_header& node_collectives::header(int rank) const {
  return *reinterpret_cast<slot_header*>(segment_.data() + index(rank) * slot_bytes_of(size_));
}

/// A rank's elements of this round.
std::byte* node_collectives::elements(int rank) const {
  return reinterpret_cast<std::byte*>(&header(rank) + 1) + round_ % 2 * piece_bytes_;
}

/// The part of a rank's elements for one reader, in rounds that show each reader other elements.
std::byte* node_collectives::share(int rank, int reader) const {
  return elements(rank) + index(reader) * share_bytes();
}

std::size_t node_collectives::share_bytes() const { return piece_bytes_ / index(size_) / cache_line * cache_line; }

bool node_collectives::fits_scatter(std::size_t longest_part) const {
  constexpr std::size_t most_rounds = 32;
  return longest_part <= most_rounds * share_bytes();
}

/// Waits for a rank. This thread is inside of a collective, so it may call MPI.
void node_collectives::await(int rank, std::uint64_t round) const {
  const auto has_arrived = [&] { return header(rank).arrived.load(std::memory_order_acquire) >= round; };
  if (!has_arrived()) mpi::poll_until(has_arrived, mpi::probe);
}

/// Begins a round in which this rank shows elements.
void node_collectives::begin_to_show() {
  for (int rank = 0; rank < size_; ++rank) await(rank, round_);
  ++round_;
}

void node_collectives::arrive() { header(rank_).arrived.store(round_, std::memory_order_release); }

void node_collectives::reduce_piece(const std::byte* input, std::byte* output, int count, MPI_Datatype type,
                                    std::size_t bytes, MPI_Op op) {
  begin_to_show();
  std::memcpy(elements(rank_), input, bytes);
  arrive();
  if (output == nullptr) return;
  for (int rank = 0; rank < size_; ++rank) {
    await(rank, round_);
    reduce_into(output, elements(rank), rank == 0, count, type, bytes, op);
  }
}

void node_collectives::allreduce(const void* input, void* output, int count, MPI_Datatype type, std::size_t bytes,
                                 MPI_Op op) {
  if (count == 0) return;
  const std::size_t element_bytes = bytes / static_cast<std::size_t>(count);
  const int most = static_cast<int>(piece_bytes_ / element_bytes);
  for (int first = 0; first < count; first += most) {
    const int length = std::min(most, count - first);
    const std::size_t offset = static_cast<std::size_t>(first) * element_bytes;
    reduce_piece(static_cast<const std::byte*>(input) + offset,
                 output != nullptr ? static_cast<std::byte*>(output) + offset : nullptr, length, type,
                 static_cast<std::size_t>(length) * element_bytes, op);
  }
}

void node_collectives::reduce_scatter(const void* input, void* output, const std::vector<int>& counts,
                                      MPI_Datatype type, std::size_t element_bytes, MPI_Op op) {
  std::vector<int> offsets(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  const int most = static_cast<int>(share_bytes() / element_bytes);
  const int longest = *std::max_element(counts.begin(), counts.end());
  const auto length_of = [&](int rank, int first) { return std::clamp(counts[index(rank)] - first, 0, most); };
  const auto part_of = [&](int rank, int first) {
    return static_cast<const std::byte*>(input) + index(offsets[index(rank)] + first) * element_bytes;
  };
  for (int first = 0; first < longest; first += most) {
    begin_to_show();
    for (int rank = 0; rank < size_; ++rank)
      if (const int length = length_of(rank, first); rank != rank_ && length > 0)
        std::memcpy(share(rank_, rank), part_of(rank, first), index(length) * element_bytes);
    arrive();
    const int length = length_of(rank_, first);
    std::byte* const target = static_cast<std::byte*>(output) + index(first) * element_bytes;
    for (int rank = 0; rank < size_; ++rank) {
      await(rank, round_);
      if (length == 0) continue;
      const std::byte* const source = rank == rank_ ? part_of(rank, first) : share(rank, rank_);
      reduce_into(target, source, rank == 0, length, type, index(length) * element_bytes, op);
    }
  }
}

void node_collectives::alltoall(const std::byte* input, std::span<const std::size_t> sent,
                                std::span<const std::size_t> received, std::byte* output) {
  begin_to_show();
  for (int rank = 0; rank < size_; input += sent[index(rank++)])
    if (sent[index(rank)] > 0) std::memcpy(share(rank_, rank), input, sent[index(rank)]);
  arrive();
  for (int rank = 0; rank < size_; output += received[index(rank++)]) {
    if (received[index(rank)] == 0) continue;
    await(rank, round_);
    std::memcpy(output, share(rank, rank_), received[index(rank)]);
  }
}

void node_collectives::bcast(std::byte* data, std::size_t bytes, int root) {
  if (bytes == 0) return;
  if (rank_ == root) {
    begin_to_show();
    std::memcpy(elements(rank_), data, bytes);
    return arrive();
  }
  ++round_;
  arrive();
  await(root, round_);
  std::memcpy(data, elements(root), bytes);
}

void node_collectives::allgather(const std::byte* input, std::span<const std::size_t> bytes, std::byte* output) {
  begin_to_show();
  if (bytes[index(rank_)] > 0) std::memcpy(elements(rank_), input, bytes[index(rank_)]);
  arrive();
  for (int rank = 0; rank < size_; output += bytes[index(rank++)]) {
    if (bytes[index(rank)] == 0) continue;
    await(rank, round_);
    std::memcpy(output, elements(rank), bytes[index(rank)]);
  }
}

}  // namespace syncyte::comm
