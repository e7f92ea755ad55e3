#include "comm/node_reduction.hpp"

#include <atomic>
#include <cstring>
#include <utility>

#include "comm/mpi.hpp"
#include "comm/progress.hpp"

namespace syncyte::comm {
namespace {

constexpr std::size_t line = 64;

/// What a rank reads in a round, of all ranks together: beyond it the steps of messages, whose number grows with the
/// logarithm of ranks only, take less time.
constexpr std::size_t bytes_of_all = std::size_t{128} << 10;

std::size_t most_bytes_of(int ranks) { return bytes_of_all / static_cast<std::size_t>(ranks) / line * line; }

/// This thread waits inside of a collective, so it may call MPI.
void progress_mpi() {
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
}

}  // namespace

struct alignas(line) node_reduction::slot_header {
  std::atomic<std::uint64_t> arrived;  // the last round whose elements are here
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share it");

std::size_t node_reduction::slot_bytes(int ranks) { return sizeof(slot_header) + 2 * most_bytes_of(ranks); }

node_reduction::node_reduction(memory::segment segment, const node_group& node)
    : segment_(std::move(segment)), rank_(node.rank), size_(node.size), most_bytes_(most_bytes_of(node.size)) {}

std::unique_ptr<node_reduction> node_reduction::make(const node_group& node) {
  if (node.size < 2) return nullptr;
  shared_attempt attempt =
      share_segment(node.comm, static_cast<std::size_t>(node.size) * slot_bytes(node.size), node.method);
  if (attempt.successes < node.size) return nullptr;
  return std::unique_ptr<node_reduction>(new node_reduction(std::move(attempt.segment), node));
}

node_reduction::slot_header& node_reduction::header(int rank) const {
  return *reinterpret_cast<slot_header*>(segment_.data() + static_cast<std::size_t>(rank) * slot_bytes(size_));
}

/// Of this round.
std::byte* node_reduction::elements(int rank) const {
  return reinterpret_cast<std::byte*>(&header(rank) + 1) + round_ % 2 * most_bytes_;
}

void node_reduction::await(int rank) const {
  constexpr unsigned often = 64;
  const auto& arrived = header(rank).arrived;
  for (unsigned turn = 1; arrived.load(std::memory_order_acquire) < round_; ++turn) {
    if (needs_progress()) progress_all();
    if (turn % often == 0) progress_mpi();
    pause_polling();
  }
}

void node_reduction::allreduce(const void* input, void* output, int count, MPI_Datatype type, std::size_t bytes,
                               MPI_Op op) {
  if (bytes == 0) return;
  ++round_;
  std::memcpy(elements(rank_), input, bytes);
  header(rank_).arrived.store(round_, std::memory_order_release);
  for (int rank = 0; rank < size_; ++rank) {
    await(rank);
    if (rank == 0)
      std::memcpy(output, elements(rank), bytes);
    else
      check_mpi(MPI_Reduce_local(elements(rank), output, count, type, op), "MPI_Reduce_local");
  }
}

}  // namespace syncyte::comm
