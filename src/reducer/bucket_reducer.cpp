// SPDX-License-Identifier: BSD-3-Clause
#include "reducer/bucket_reducer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "base/dtype.hpp"
#include "comm/collective_call.hpp"
#include "comm/split.hpp"
#include "memory/mapping.hpp"
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
constexpr std::int64_t most_bytes = std::int64_t{1} << 56;  // of all buckets: sums, twice as wide, fit 64 bits too
constexpr std::int64_t chunk_elements = 1 << 15;

/// Offsets of consecutive buckets of memory, each at a cache line, and the end of the last.
template <class BytesOf>
std::vector<std::size_t> offsets_of(int buckets, BytesOf&& bytes_of) {
  std::vector<std::size_t> offsets{0};
  for (int bucket = 0; bucket < buckets; ++bucket)
    offsets.push_back(offsets.back() + memory::round_up(bytes_of(bucket), line));
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
                 asked.elements[i], "0 or more, and at most 2^56 bytes of all buckets together");
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

struct alignas(line) bucket_reducer::bucket_state {
  counter ready_ranks;  // ranks of the node that have started it, in all rounds together
  counter claimed;      // chunks
  counter summed;       // chunks
};

bucket_reducer::bucket_reducer(std::shared_ptr<comm::communicator> comm, description asked)
    : comm_(std::move(comm)), description_(std::move(asked)), is_ready_(description_.elements.size()) {
  const auto bytes = [this](int bucket, syncyte_dtype_t dtype) {
    return static_cast<std::size_t>(elements(bucket)) * base::dtype_size(dtype);
  };
  offsets_ = offsets_of(buckets(), [&](int bucket) { return bytes(bucket, dtype(bucket)); });
  sum_offsets_ = offsets_of(
      buckets(), [&](int bucket) { return has_one_node() ? std::size_t{0} : bytes(bucket, sum_dtype(dtype(bucket))); });
}

std::shared_ptr<bucket_reducer> bucket_reducer::create(std::shared_ptr<comm::communicator> comm, description asked) {
  std::shared_ptr<bucket_reducer> made;
  {
    comm::collective_call call(*comm, "reducer_create", comm::collective_call::always_agrees);
    const std::vector<std::int64_t> dtypes(asked.dtypes.begin(), asked.dtypes.end());
    comm::add_counts(call, asked.elements, "elements of all buckets", "hash of elements");
    comm::add_counts(call, dtypes, "sum of dtypes", "hash of dtypes");
    call.fact("buckets", static_cast<std::int64_t>(asked.elements.size()));
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
    if (made->leaders_) made->exchange_.emplace(*made->leaders_, collectives::form::started);
  }
  return made;
}

bucket_reducer::~bucket_reducer() {
  if (memory_ == nullptr || mpi::is_forked_child()) return;
  refuse_round();
  if (!is_exchanging_) return;
  mpi::keep_for_ever(memory_);
  mpi::keep_for_ever(refusal_);
}

std::size_t bucket_reducer::state_bytes() const {
  return memory::round_up(sizeof(node_state) + at(buckets()) * sizeof(bucket_state), page);
}

std::size_t bucket_reducer::part_bytes() const {
  const bool is_first = comm_->node().rank == 0;
  return memory::round_up(offsets_.back() + (is_first ? state_bytes() + sum_offsets_.back() : 0), page);
}

std::byte* bucket_reducer::part_of(int node_rank) const {
  return memory_->part(node_rank).data() + (node_rank == 0 ? state_bytes() : 0);
}

std::byte* bucket_reducer::sum_of(int bucket) const { return part_of(0) + offsets_.back() + sum_offsets_[at(bucket)]; }

bucket_reducer::node_state& bucket_reducer::state() const {
  return *reinterpret_cast<node_state*>(memory_->part(0).data());
}

bucket_reducer::bucket_state& bucket_reducer::state_of(int bucket) const {
  return reinterpret_cast<bucket_state*>(memory_->part(0).data() + sizeof(node_state))[bucket];
}

std::atomic<std::uint64_t>& bucket_reducer::refusal_of_round() const { return state().refusals[round_ % 2]; }

void bucket_reducer::require_bucket(int bucket) const {
  base::expect(bucket >= 0 && bucket < buckets(), SYNCYTE_ERR_ARGUMENT, "bucket", bucket, "0 to {}", buckets() - 1);
}

/// At least one, so that a round of empty buckets waits for all ranks too.
std::uint64_t bucket_reducer::chunks(int bucket) const {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(1, (elements(bucket) + chunk_elements - 1) / chunk_elements));
}

bool bucket_reducer::is_ready_on_node(int bucket) const {
  return state_of(bucket).ready_ranks.load(std::memory_order_acquire) >= round_ * at(comm_->node().size);
}

bool bucket_reducer::is_summed(int bucket) const {
  return state_of(bucket).summed.load(std::memory_order_acquire) >= round_ * chunks(bucket);
}

bool bucket_reducer::has_ended() const {
  return has_one_node() ? first_open_ == buckets() : state().closed.load(std::memory_order_acquire) >= round_;
}

void bucket_reducer::mark_ready(int bucket) {
  is_ready_[at(bucket)] = true;
  state_of(bucket).ready_ranks.fetch_add(1, std::memory_order_acq_rel);
}

void bucket_reducer::mark_rest_ready() {
  for (int bucket = 0; bucket < buckets(); ++bucket)
    if (!is_ready_[at(bucket)]) mark_ready(bucket);
}

void bucket_reducer::start(int bucket) {
  const std::lock_guard lock(mutex_);
  require_bucket(bucket);
  base::require(!is_ready_[at(bucket)], SYNCYTE_ERR_BUSY,
                "bucket {} has been started in this round already; expected reducer_wait first", bucket);
  mark_ready(bucket);
  make_progress();
}

void bucket_reducer::progress() {
  const std::lock_guard lock(mutex_);
  make_progress();
}

void bucket_reducer::reduce_chunk(int bucket, std::uint64_t chunk) const {
  const std::int64_t first = static_cast<std::int64_t>(chunk) * chunk_elements;
  const std::int64_t count = std::min(chunk_elements, elements(bucket) - first);
  const std::size_t offset = offsets_[at(bucket)] + static_cast<std::size_t>(first) * base::dtype_size(dtype(bucket));
  std::vector<std::byte*> parts(at(comm_->node().size));
  for (int rank = 0; rank < comm_->node().size; ++rank) parts[at(rank)] = part_of(rank) + offset;
  const std::vector<const std::byte*> sources(parts.begin(), parts.end());
  if (has_one_node()) return reduce_parts(sources, parts, count, dtype(bucket), description_.scale);
  const std::size_t sum_offset = static_cast<std::size_t>(first) * base::dtype_size(sum_dtype(dtype(bucket)));
  sum_parts(sources, sum_of(bucket) + sum_offset, count, dtype(bucket));
}

/// Sums chunks of a bucket that is ready on the node until none is left to claim.
void bucket_reducer::work_on(int bucket) {
  bucket_state& state = state_of(bucket);
  const std::uint64_t before = (round_ - 1) * chunks(bucket), end = round_ * chunks(bucket);
  std::uint64_t next = state.claimed.load();
  while (next < end) {
    if (!state.claimed.compare_exchange_weak(next, next + 1)) continue;
    reduce_chunk(bucket, next - before);
    state.summed.fetch_add(1, std::memory_order_acq_rel);
    next = state.claimed.load();
  }
}

void bucket_reducer::make_progress() {
  for (int bucket = first_open_; bucket < buckets(); ++bucket)
    if (is_ready_on_node(bucket)) work_on(bucket);
  while (first_open_ < buckets() && is_summed(first_open_)) ++first_open_;
  if (leaders_) exchange_sums();
}

/// On a leader: reduces the sums that are complete between the nodes, in the order of the buckets, then the ranks that
/// have given up.
void bucket_reducer::exchange_sums() {
  const mpi::try_thread_guard now_or_later;
  if (!now_or_later.may_call()) return;
  while (exchanged_ <= buckets()) {
    if (!is_exchanging_) {
      if (exchanged_ >= first_open_ && exchanged_ < buckets()) return;
      if (exchanged_ == buckets()) {
        *refusal_ = static_cast<std::int64_t>(refusal_of_round().load());
        exchange_->allreduce(refusal_.get(), refusal_.get(), 1, SYNCYTE_INT64, SYNCYTE_OP_MAX);
      } else {
        std::byte* const sum = sum_of(exchanged_);
        exchange_->allreduce(sum, sum, elements(exchanged_), sum_dtype(dtype(exchanged_)), SYNCYTE_OP_SUM);
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

/// All sums are there: copies them to this rank's buckets, and begins the next round.
void bucket_reducer::end_round() {
  if (!has_one_node())
    for (int bucket = 0; bucket < buckets(); ++bucket)
      scale_sum(sum_of(bucket), data(bucket), elements(bucket), dtype(bucket), description_.scale);
  const std::uint64_t refusal = (has_one_node() ? refusal_of_round() : state().outcome).load();
  const std::uint64_t ended = round_++;
  is_ready_.assign(at(buckets()), false);
  first_open_ = exchanged_ = 0;
  base::require(refusal >> 32 != ended, SYNCYTE_ERR_MISMATCH,
                "rank {} of {} has given up round {}; expected all ranks to start all buckets", refusal & 0xffffffff,
                comm_->name(), ended);
}

void bucket_reducer::wait() {
  std::optional<mpi::thread_guard> in_mpi;
  if (leaders_) in_mpi.emplace("reducer_wait");
  const std::lock_guard lock(mutex_);
  const auto missing = std::find(is_ready_.begin(), is_ready_.end(), false);
  base::require(missing == is_ready_.end(), SYNCYTE_ERR_ARGUMENT,
                "bucket {} has not been started in this round; expected all {} of them, or reducer_give_up",
                missing - is_ready_.begin(), buckets());
  {
    comm::members_wait wait("reducer_wait", *comm_, round_);
    watchdog::poll_until(
        [&] {
          make_progress();
          return has_ended();
        },
        wait);
  }
  end_round();
}

/// Local: wait() reports it on the other ranks.
void bucket_reducer::refuse_round() {
  raise_to(refusal_of_round(), refusal_by(comm_->rank(), round_));
  mark_rest_ready();
}

void bucket_reducer::give_up() {
  const std::lock_guard lock(mutex_);
  refuse_round();
}

}  // namespace syncyte::reducer
