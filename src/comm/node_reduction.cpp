#include "comm/node_reduction.hpp"

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

constexpr std::size_t line = 64;

std::size_t index(int value) { return static_cast<std::size_t>(value); }

/// Every rank reads the elements of all, while the messages of an allreduce carry about twice those of one rank: the
/// more ranks, the sooner messages win. Measured at 2 ranks, where both take as long at 1 MiB.
std::size_t most_bytes_of(int ranks) {
  constexpr std::size_t of_one_rank = std::size_t{4} << 20;
  return of_one_rank / (index(ranks) * index(ranks)) / line * line;
}

/// Bytes of a piece: the second cache holds those of some ranks.
std::size_t piece_bytes_of(int ranks) { return std::min(most_bytes_of(ranks), std::size_t{64} << 10); }

std::size_t slot_bytes_of(int ranks) { return line + 2 * piece_bytes_of(ranks); }

/// The first source is copied.
void reduce_into(std::byte* target, const std::byte* source, bool is_first, int count, MPI_Datatype type,
                 std::size_t bytes, MPI_Op op) {
  if (is_first)
    std::memcpy(target, source, bytes);
  else
    mpi::check(MPI_Reduce_local(source, target, count, type, op), "MPI_Reduce_local");
}

}  // namespace

struct alignas(line) node_reduction::slot_header {
  std::atomic<std::uint64_t> arrived;  // the last round whose elements are here
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share it");

node_reduction::node_reduction(memory::segment segment, const topology::node_group& node)
    : segment_(std::move(segment)),
      rank_(node.rank),
      size_(node.size),
      most_bytes_(most_bytes_of(node.size)),
      piece_bytes_(piece_bytes_of(node.size)) {}

std::unique_ptr<node_reduction> node_reduction::make(const topology::node_group& node) {
  if (node.size < 2 || most_bytes_of(node.size) == 0) return nullptr;
  const std::size_t bytes = index(node.size) * slot_bytes_of(node.size);
  topology::shared_attempt attempt = topology::share_segment(node.comm, bytes, node.method);
  if (attempt.successes < node.size) return nullptr;
  return std::unique_ptr<node_reduction>(new node_reduction(std::move(attempt.segment), node));
}

node_reduction::slot_header& node_reduction::header(int rank) const {
  return *reinterpret_cast<slot_header*>(segment_.data() + index(rank) * slot_bytes_of(size_));
}

/// A rank's elements of this round.
std::byte* node_reduction::elements(int rank) const {
  return reinterpret_cast<std::byte*>(&header(rank) + 1) + round_ % 2 * piece_bytes_;
}

/// The part of them that `rank` shows `reader`, where every rank is shown something else.
std::byte* node_reduction::share(int rank, int reader) const { return elements(rank) + index(reader) * share_bytes(); }

std::size_t node_reduction::share_bytes() const { return piece_bytes_ / index(size_) / line * line; }

bool node_reduction::fits_scatter(std::size_t longest_part) const {
  constexpr std::size_t most_rounds = 32;
  return longest_part <= most_rounds * share_bytes();
}

/// This thread is inside of a collective, so it may call MPI.
void node_reduction::await(int rank, watchdog::long_wait* wait) const {
  const auto has_arrived = [&] { return header(rank).arrived.load(std::memory_order_acquire) >= round_; };
  if (wait == nullptr) return mpi::poll_until(has_arrived, mpi::probe);
  wait->set_awaited(rank);
  watchdog::poll_until(has_arrived, *wait, mpi::probe);
}

void node_reduction::arrive() { header(rank_).arrived.store(round_, std::memory_order_release); }

void node_reduction::reduce_piece(const std::byte* input, std::byte* output, int count, MPI_Datatype type,
                                  std::size_t bytes, MPI_Op op, watchdog::long_wait* wait) {
  ++round_;
  std::memcpy(elements(rank_), input, bytes);
  arrive();
  for (int rank = 0; rank < size_; ++rank) {
    await(rank, wait);
    reduce_into(output, elements(rank), rank == 0, count, type, bytes, op);
  }
}

void node_reduction::allreduce(const void* input, void* output, int count, MPI_Datatype type, std::size_t bytes,
                               MPI_Op op, watchdog::long_wait* wait) {
  if (count == 0) return;
  const std::size_t element_bytes = bytes / static_cast<std::size_t>(count);
  const int most = static_cast<int>(piece_bytes_ / element_bytes);
  for (int first = 0; first < count; first += most) {
    const int length = std::min(most, count - first);
    const std::size_t offset = static_cast<std::size_t>(first) * element_bytes;
    reduce_piece(static_cast<const std::byte*>(input) + offset, static_cast<std::byte*>(output) + offset, length, type,
                 static_cast<std::size_t>(length) * element_bytes, op, wait);
  }
}

void node_reduction::reduce_scatter(const void* input, void* output, const std::vector<int>& counts, MPI_Datatype type,
                                    std::size_t element_bytes, MPI_Op op) {
  std::vector<int> offsets(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  const int most = static_cast<int>(share_bytes() / element_bytes);
  const int longest = *std::max_element(counts.begin(), counts.end());
  const auto length_of = [&](int rank, int first) { return std::clamp(counts[index(rank)] - first, 0, most); };
  const auto part_of = [&](int rank, int first) {
    return static_cast<const std::byte*>(input) + index(offsets[index(rank)] + first) * element_bytes;
  };
  for (int first = 0; first < longest; first += most) {
    ++round_;
    for (int rank = 0; rank < size_; ++rank)
      if (const int length = length_of(rank, first); rank != rank_ && length > 0)
        std::memcpy(share(rank_, rank), part_of(rank, first), index(length) * element_bytes);
    arrive();
    const int length = length_of(rank_, first);
    std::byte* const target = static_cast<std::byte*>(output) + index(first) * element_bytes;
    for (int rank = 0; rank < size_; ++rank) {
      await(rank);
      if (length == 0) continue;
      const std::byte* const source = rank == rank_ ? part_of(rank, first) : share(rank, rank_);
      reduce_into(target, source, rank == 0, length, type, index(length) * element_bytes, op);
    }
  }
}

}  // namespace syncyte::comm
