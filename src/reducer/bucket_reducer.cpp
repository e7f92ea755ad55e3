#include "reducer/bucket_reducer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "base/dtype.hpp"
#include "collectives/checks.hpp"
#include "collectives/moves.hpp"
#include "comm/collective.hpp"
#include "comm/facts.hpp"
#include "comm/split.hpp"
#include "mpi/call.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "mpi/thread_guard.hpp"
#include "reducer/kernels.hpp"
#include "watchdog/long_wait.hpp"

namespace syncyte::reducer {
namespace {

using counter = std::atomic<std::uint64_t>;
static_assert(counter::is_always_lock_free, "processes share it");

constexpr std::size_t line = 64;
constexpr std::size_t page = 4096;
constexpr std::int64_t most_bytes = std::int64_t{1} << 56;  // of all pieces: sums, twice as wide, fit 64 bits too
constexpr std::int64_t chunk_elements = 1 << 15;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Offsets of consecutive pieces of memory, each at a cache line, and the end of the last.
template <class BytesOf>
std::vector<std::size_t> offsets_of(int pieces, BytesOf&& bytes_of) {
  std::vector<std::size_t> offsets{0};
  for (int piece = 0; piece < pieces; ++piece) offsets.push_back(offsets.back() + rounded_up(bytes_of(piece), line));
  return offsets;
}

/// A rank that gives up a round; greater than all of earlier rounds.
std::uint64_t refusal_by(int rank, std::uint64_t round) { return round << 32 | static_cast<std::uint64_t>(rank); }

void raise_to(counter& value, std::uint64_t least) {
  std::uint64_t seen = value.load();
  while (seen < least && !value.compare_exchange_weak(seen, least)) {
  }
}

void check_description(const description& asked) {
  if (asked.error) throw *asked.error;
  base::expect(std::isfinite(asked.scale), SYNCYTE_ERR_ARGUMENT, "options->scale", asked.scale, "a finite number");
  std::int64_t left = most_bytes;
  for (std::size_t i = 0; i < asked.dtypes.size(); ++i) {
    const std::string name = fmt::format("dtypes[{}]", i);
    const auto size = static_cast<std::int64_t>(base::dtype_size(asked.dtypes[i], name.c_str()));
    base::expect(is_scalable(asked.dtypes[i]), SYNCYTE_ERR_TYPE, {"dtypes", i}, base::dtype_name(asked.dtypes[i]),
                 "a floating-point or complex one");
    base::expect(asked.elements[i] >= 0 && asked.elements[i] <= left / size, SYNCYTE_ERR_ARGUMENT, {"elements", i},
                 asked.elements[i], "0 or more, and at most 2^56 bytes of all pieces together");
    left -= asked.elements[i] * size;
  }
}

}  // namespace

/// All numbers only grow, over the rounds.
struct alignas(line) bucket_reducer::node_state {
  counter refusals[2];  // the highest refusal_by() of the node's ranks, in odd and even rounds: a rank may be in the
                        // next round when another has not yet seen how this one has ended
  counter closed;       // rounds whose sums and refusals have come from all nodes
  counter outcome;      // the highest refusal of all nodes, at the last close
};

struct alignas(line) bucket_reducer::piece_state {
  counter brought;  // by ranks of the node
  counter claimed;  // chunks
  counter summed;   // chunks
};

bucket_reducer::bucket_reducer(std::shared_ptr<comm::communicator> comm, description asked)
    : comm_(std::move(comm)), description_(std::move(asked)), is_brought_(description_.elements.size()) {
  const auto bytes = [this](int piece, syncyte_dtype_t dtype) {
    return static_cast<std::size_t>(elements(piece)) * base::dtype_size(dtype);
  };
  offsets_ = offsets_of(pieces(), [&](int piece) { return bytes(piece, dtype(piece)); });
  sum_offsets_ = offsets_of(
      pieces(), [&](int piece) { return has_one_node() ? std::size_t{0} : bytes(piece, sum_dtype(dtype(piece))); });
}

std::shared_ptr<bucket_reducer> bucket_reducer::create(std::shared_ptr<comm::communicator> comm, description asked) {
  std::shared_ptr<bucket_reducer> made;
  {
    comm::collective_call call(*comm, "reducer_create", comm::collective_call::lifecycle);
    const std::vector<std::int64_t> dtypes(asked.dtypes.begin(), asked.dtypes.end());
    comm::add_counts(call, asked.elements, "elements of all pieces", "hash of elements");
    comm::add_counts(call, dtypes, "sum of dtypes", "hash of dtypes");
    call.fact("pieces", static_cast<std::int64_t>(asked.elements.size()));
    call.fact("bits of scale", std::bit_cast<std::int64_t>(asked.scale));
    call.attempt([&] {
      check_description(asked);
      made.reset(new bucket_reducer(comm, std::move(asked)));
    });
    call.agree();
    made->memory_ = comm::node_memory::allocate(call, made->part_bytes(), "a reducer");
  }
  if (!made->has_one_node()) {
    comm::communicator_options options;
    options.name = comm->name() + ", a reducer's leaders";
    made->leaders_ = comm::split_leaders(*comm, options);
    if (made->leaders_) made->exchange_.emplace(*made->leaders_);
  }
  return made;
}

bucket_reducer::~bucket_reducer() {
  if (memory_ == nullptr || mpi::is_forked_child()) return;
  refuse();
  if (!is_exchanging_) return;
  mpi::keep_for_ever(memory_);
  mpi::keep_for_ever(refusal_);
}

std::size_t bucket_reducer::state_bytes() const {
  return rounded_up(sizeof(node_state) + at(pieces()) * sizeof(piece_state), page);
}

std::size_t bucket_reducer::part_bytes() const {
  const bool is_first = comm_->node().rank == 0;
  return rounded_up(offsets_.back() + (is_first ? state_bytes() + sum_offsets_.back() : 0), page);
}

std::byte* bucket_reducer::part_of(int node_rank) const {
  return memory_->part(node_rank).data() + (node_rank == 0 ? state_bytes() : 0);
}

std::byte* bucket_reducer::sum_of(int piece) const { return part_of(0) + offsets_.back() + sum_offsets_[at(piece)]; }

bucket_reducer::node_state& bucket_reducer::state() const {
  return *reinterpret_cast<node_state*>(memory_->part(0).data());
}

bucket_reducer::piece_state& bucket_reducer::state_of(int piece) const {
  return reinterpret_cast<piece_state*>(memory_->part(0).data() + sizeof(node_state))[piece];
}

std::atomic<std::uint64_t>& bucket_reducer::refusal_of_round() const { return state().refusals[round_ % 2]; }

void bucket_reducer::require_piece(int piece) const {
  base::expect(piece >= 0 && piece < pieces(), SYNCYTE_ERR_ARGUMENT, "piece", piece, "0 to {}", pieces() - 1);
}

/// At least one, so that a round of empty pieces waits for all ranks too.
std::uint64_t bucket_reducer::chunks(int piece) const {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, (elements(piece) + chunk_elements - 1) / chunk_elements));
}

bool bucket_reducer::is_here(int piece) const {
  return state_of(piece).brought.load(std::memory_order_acquire) >= round_ * at(comm_->node().size);
}

bool bucket_reducer::is_summed(int piece) const {
  return state_of(piece).summed.load(std::memory_order_acquire) >= round_ * chunks(piece);
}

bool bucket_reducer::has_ended() const {
  return has_one_node() ? first_open_ == pieces() : state().closed.load(std::memory_order_acquire) >= round_;
}

void bucket_reducer::bring(int piece) {
  is_brought_[at(piece)] = true;
  state_of(piece).brought.fetch_add(1, std::memory_order_acq_rel);
}

void bucket_reducer::bring_rest() {
  for (int piece = 0; piece < pieces(); ++piece)
    if (!is_brought_[at(piece)]) bring(piece);
}

void bucket_reducer::start(int piece) {
  const std::lock_guard lock(mutex_);
  require_piece(piece);
  base::require(!is_brought_[at(piece)], SYNCYTE_ERR_BUSY,
                "piece {} has been started in this round already; expected reducer_wait first", piece);
  bring(piece);
  go_on();
}

void bucket_reducer::progress() {
  const std::lock_guard lock(mutex_);
  go_on();
}

void bucket_reducer::reduce_chunk(int piece, std::uint64_t chunk) const {
  const std::int64_t first = static_cast<std::int64_t>(chunk) * chunk_elements;
  const std::int64_t count = std::min(chunk_elements, elements(piece) - first);
  const std::size_t offset = offsets_[at(piece)] + static_cast<std::size_t>(first) * base::dtype_size(dtype(piece));
  std::vector<std::byte*> parts(at(comm_->node().size));
  for (int rank = 0; rank < comm_->node().size; ++rank) parts[at(rank)] = part_of(rank) + offset;
  const std::vector<const std::byte*> sources(parts.begin(), parts.end());
  if (has_one_node()) return reduce_parts(sources, parts, count, dtype(piece), description_.scale);
  const std::size_t sum_offset = static_cast<std::size_t>(first) * base::dtype_size(sum_dtype(dtype(piece)));
  sum_parts(sources, sum_of(piece) + sum_offset, count, dtype(piece));
}

/// Sums chunks of a piece that is here until none is left to claim.
void bucket_reducer::work_on(int piece) {
  piece_state& state = state_of(piece);
  const std::uint64_t before = (round_ - 1) * chunks(piece), end = round_ * chunks(piece);
  std::uint64_t next = state.claimed.load();
  while (next < end) {
    if (!state.claimed.compare_exchange_weak(next, next + 1)) continue;
    reduce_chunk(piece, next - before);
    state.summed.fetch_add(1, std::memory_order_acq_rel);
    next = state.claimed.load();
  }
}

void bucket_reducer::go_on() {
  for (int piece = first_open_; piece < pieces(); ++piece)
    if (is_here(piece)) work_on(piece);
  while (first_open_ < pieces() && is_summed(first_open_)) ++first_open_;
  if (leaders_) exchange_sums();
}

/// A leader's part: sends the sums that are complete, in the order of the pieces, and behind the last who has given up.
void bucket_reducer::exchange_sums() {
  const mpi::try_thread_guard now_or_later;
  if (!now_or_later) return;
  collectives::moves by(*exchange_);
  while (exchanged_ <= pieces()) {
    if (!is_exchanging_) {
      if (exchanged_ >= first_open_ && exchanged_ < pieces()) return;
      if (exchanged_ == pieces()) {
        *refusal_ = static_cast<std::int64_t>(refusal_of_round().load());
        by.allreduce(refusal_.get(), refusal_.get(), 1, SYNCYTE_INT64, SYNCYTE_OP_MAX);
      } else {
        std::byte* const sum = sum_of(exchanged_);
        by.allreduce(sum, sum, elements(exchanged_), sum_dtype(dtype(exchanged_)), SYNCYTE_OP_SUM);
      }
      is_exchanging_ = true;
    }
    if (!exchange_->test()) return;
    is_exchanging_ = false;
    ++exchanged_;
  }
  state().outcome.store(static_cast<std::uint64_t>(*refusal_));
  state().closed.store(round_, std::memory_order_release);
}

/// All sums are there: brings them to this rank's part, and this rank to the next round.
void bucket_reducer::end_round() {
  if (!has_one_node())
    for (int piece = 0; piece < pieces(); ++piece)
      scale_sum(sum_of(piece), data(piece), elements(piece), dtype(piece), description_.scale);
  const std::uint64_t refusal = (has_one_node() ? refusal_of_round() : state().outcome).load();
  const std::uint64_t ended = round_++;
  is_brought_.assign(at(pieces()), false);
  first_open_ = exchanged_ = 0;
  base::require(refusal >> 32 != ended, SYNCYTE_ERR_MISMATCH,
                "rank {} of {} has given up round {}; expected all ranks to bring all pieces", refusal & 0xffffffff,
                comm_->name(), ended);
}

void bucket_reducer::wait() {
  std::optional<mpi::thread_guard> in_mpi;
  if (leaders_) in_mpi.emplace("reducer_wait");
  const std::lock_guard lock(mutex_);
  const auto missing = std::find(is_brought_.begin(), is_brought_.end(), false);
  base::require(missing == is_brought_.end(), SYNCYTE_ERR_ARGUMENT,
                "piece {} has not been started in this round; expected all {} of them, or reducer_give_up",
                missing - is_brought_.begin(), pieces());
  {
    comm::members_wait wait("reducer_wait", *comm_, round_);
    poll_until(
        [&] {
          go_on();
          return has_ended();
        },
        wait);
  }
  end_round();
}

/// Local: the others learn of it when they wait.
void bucket_reducer::refuse() {
  raise_to(refusal_of_round(), refusal_by(comm_->rank(), round_));
  bring_rest();
}

void bucket_reducer::give_up() {
  const std::lock_guard lock(mutex_);
  refuse();
}

}  // namespace syncyte::reducer
