// SPDX-License-Identifier: BSD-3-Clause
#include "kv/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/dtype.hpp"
#include "base/environment.hpp"
#include "base/settings.hpp"
#include "comm/collective_call.hpp"
#include "comm/node_memory.hpp"
#include "fabric/group.hpp"
#include "fabric/process_engine.hpp"
#include "kv/key_items.hpp"
#include "kv/open_spread_table.hpp"
#include "memory/capacity.hpp"
#include "mpi/small_collectives.hpp"

namespace syncyte::kv {
namespace {

constexpr std::int32_t most_workers = 65536;
constexpr std::size_t least_foreign_bytes = std::size_t{1} << 20;  // unless the user asks for less
constexpr std::int64_t most_keys = std::int64_t{1} << 58;

std::string text_of(const std::string& name) { return name.empty() ? "a store" : fmt::format("store \"{}\"", name); }

void check_options(syncyte_dtype_t dtype, const store_options& options) {
  if (options.error) throw *options.error;
  base::dtype_size(dtype);  // throws for an unknown dtype
  base::expect(dtype == SYNCYTE_FLOAT32, SYNCYTE_ERR_UNSUPPORTED, "dtype", base::dtype_name(dtype), "float32");
  base::expect(options.workers >= 1, SYNCYTE_ERR_ARGUMENT, "options->workers", options.workers, "1 or more");
  base::expect_known<base::known::store_homes>(options.homes, "options->homes");
  base::expect_known<base::known::store_intents>(options.intents, "options->intents");
  base::expect(options.foreign_bytes >= -1, SYNCYTE_ERR_ARGUMENT, "options->foreign_bytes", options.foreign_bytes,
               "0 or more, or -1");
  base::expect(options.workers <= most_workers, SYNCYTE_ERR_ARGUMENT, "options->workers", options.workers, "at most {}",
               most_workers);
}

[[noreturn]] void refuse_nodes(const comm::communicator& comm, const std::string& reason) {
  base::refuse(SYNCYTE_ERR_UNSUPPORTED,
               {.argument = "comm",
                .value = fmt::format("of {} nodes", comm.node().count),
                .expected = fmt::format("ranks of one node, which share memory, because between nodes {}", reason)});
}

/// The fabric among the ranks of several nodes. Collective within `call`, after its agreement; succeeds or throws on
/// all ranks.
std::shared_ptr<fabric::group> open_fabric(comm::collective_call& call, std::span<const std::int64_t> lengths) {
  call.attempt([&] {
    for (std::size_t i = 0; i < lengths.size(); ++i)
      base::expect(lengths[i] <= key_items::most_values, SYNCYTE_ERR_UNSUPPORTED, {"lengths", i}, lengths[i],
                   "at most {} on several nodes", key_items::most_values);
    std::string reason;
    if (fabric::process_engine(reason) == nullptr)
      refuse_nodes(call.comm(), fmt::format("there is no fabric: {}", reason));
  });
  call.agree();
  auto ranks = fabric::group::of(call);
  if (!ranks) refuse_nodes(call.comm(), "ranks have different versions of the fabric");
  return ranks;
}

std::span<const std::int64_t> check_lengths(std::int64_t keys, std::int64_t count, const std::int64_t* lengths) {
  base::expect(keys >= 1, SYNCYTE_ERR_SHAPE, "num_keys", keys, "1 or more");
  base::expect(keys <= most_keys, SYNCYTE_ERR_SHAPE, "num_keys", keys, "at most 2^58");
  base::expect(count == 1 || count == keys, SYNCYTE_ERR_SHAPE, "lengths_length", count, "1, or {} (num_keys)", keys);
  base::expect(lengths != nullptr, SYNCYTE_ERR_ARGUMENT, "lengths", "null", "{} lengths", count);
  const std::span<const std::int64_t> all(lengths, static_cast<std::size_t>(count));
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 8;  // elements, rounded up to two each
  std::int64_t left = most;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t each = count == 1 ? keys : 1;
    base::expect(all[i] >= 1 && all[i] <= left / each - 1, SYNCYTE_ERR_SHAPE, {"lengths", i}, all[i],
                 "1 or more, and values of less than 2^62 bytes");
    left -= (all[i] + 1) * each;
  }
  return all;
}

/// A store's memory on this node, which the node's ranks share.
struct slab final : comm::collective_resource {
  std::shared_ptr<comm::node_memory> places;  // one array for all ranks; null if all vectors have one length
  std::shared_ptr<comm::node_memory> values;
  std::shared_ptr<comm::node_memory> words;  // one for each key
  std::shared_ptr<spread_table> spread;      // null on one node

  void free_collectively() noexcept override {
    if (spread) spread->stop_serving();
  }
};

template <class T>
T* begin_of(const std::shared_ptr<comm::node_memory>& memory) {
  return reinterpret_cast<T*>(memory->all().data());
}

/// The table of key_homes: the ranks, one of each node in turn, and then the part of each rank. With cyclic homes a
/// node's keys are then as far apart as can be, so that samples of local keys take each equally often.
std::vector<int> nodes_in_turn(const comm::communicator& comm) {
  const std::vector<int> within = mpi::allgather(comm.node().rank, comm.data());
  std::vector<int> result(within.size());
  std::iota(result.begin(), result.end(), 0);
  std::ranges::stable_sort(result, {}, [&](int rank) { return within[static_cast<std::size_t>(rank)]; });
  result.resize(2 * within.size());
  for (std::size_t part = 0; part < within.size(); ++part)
    result[within.size() + static_cast<std::size_t>(result[part])] = static_cast<int>(part);
  return result;
}

/// The ranks' parts of the keys.
distribution::axis axis_of(syncyte_store_homes_t kind, std::int64_t keys, int ranks) {
  switch (kind) {
    case SYNCYTE_STORE_HOMES_HASH:
      return distribution::axis::hashed(keys, ranks);
    case SYNCYTE_STORE_HOMES_BLOCK:
      return distribution::axis::equal(keys, ranks);
    default:
      return distribution::axis::cyclic(keys, ranks);
  }
}

intent_effect effect_of(syncyte_store_intents_t intents) {
  switch (intents) {
    case SYNCYTE_STORE_INTENTS_MOVE:
      return intent_effect::moves;
    case SYNCYTE_STORE_INTENTS_COPY:
      return intent_effect::copies;
    default:
      return intent_effect::moves_or_copies;
  }
}

/// Lengths of keys in the order of their slots.
std::vector<std::int64_t> by_slot(std::span<const std::int64_t> lengths, const key_homes& slots) {
  std::vector<std::int64_t> result(lengths.size());
  for (std::size_t key = 0; key < lengths.size(); ++key)
    result[static_cast<std::size_t>(slots.slot(static_cast<std::int64_t>(key)))] = lengths[key];
  return result;
}

/// Collective within `call`, after its agreement; succeeds or throws on all ranks. `lengths` has one element, or one
/// for each key.
key_layout make_layout(comm::collective_call& call, const key_homes& slots, std::int64_t keys,
                       std::span<const std::int64_t> lengths, const char* name, slab& held) {
  if (lengths.size() == 1) return key_layout(keys, lengths[0]);
  const bool is_first = call.comm().node().rank == 0;
  const std::size_t count = static_cast<std::size_t>(keys) + 1;
  held.places = comm::node_memory::allocate(call, is_first ? count * sizeof(std::int64_t) : 0, name);
  call.attempt([&] {
    if (is_first) std::ranges::copy(key_layout::places(by_slot(lengths, slots)), begin_of<std::int64_t>(held.places));
  });
  call.agree();
  return key_layout({begin_of<const std::int64_t>(held.places), count});
}

/// This process among those of its node.
key_locks::process process_of(const comm::communicator& comm, const std::string& name) {
  const topology::node_group& node = comm.node();
  return {.number = node.rank,
          .is_alive = [&node](int other) { return node.is_alive(other); },
          .name = name,
          .world_rank = [&node](int other) { return node.world_ranks[static_cast<std::size_t>(other)]; }};
}

/// Memory of this node for other nodes' keys; negative if keys do not move, on all ranks. Collective.
std::int64_t foreign_bytes_of(comm::collective_call& call, const store_options& options,
                              const comm::node_memory& values) {
  const bool moves = base::environment_choice(base::settings::store_moves) == base::settings::toggle::on;
  if (mpi::allreduce(std::uint64_t{moves}, MPI_MIN, call.comm().data()) == 0) return -1;
  if (options.foreign_bytes >= 0) return options.foreign_bytes;
  const std::uint64_t quarter = std::max(least_foreign_bytes, values.all().size() / 4);
  return static_cast<std::int64_t>(std::min(quarter, memory::available_bytes() / 8));
}

/// On one node a table of all keys; on several one for each rank of this node.
std::vector<table> make_tables(const comm::communicator& comm, const key_layout& layout,
                               const std::shared_ptr<const key_homes>& slots, const slab& held,
                               const std::string& name) {
  const topology::node_group& node = comm.node();
  key_locks::process self = process_of(comm, name);
  if (node.count == 1)
    return {table(layout, begin_of<std::uint64_t>(held.words), begin_of<std::uint64_t>(held.values), self)};
  const auto part = [](const comm::node_memory& memory, int place) {
    return reinterpret_cast<std::uint64_t*>(memory.part(place).data());
  };
  std::vector<table> result;
  for (int place = 0; place < node.size; ++place) {
    const int rank = node.members[static_cast<std::size_t>(place)];
    self.key = [slots, rank](std::int64_t slot) { return slots->key(rank, slot); };
    result.emplace_back(layout, part(*held.words, place), part(*held.values, place), self, slots->slots(rank).first);
  }
  return result;
}

}  // namespace

std::shared_ptr<store> store::create(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype, std::int64_t keys,
                                     std::int64_t lengths_length, const std::int64_t* lengths,
                                     const store_options& options) {
  comm::collective_call call(*comm, "store_create", comm::collective_call::always_agrees);
  std::span<const std::int64_t> checked;
  call.attempt([&] {
    check_options(dtype, options);
    checked = check_lengths(keys, lengths_length, lengths);
  });
  call.named_fact("dtype", dtype, base::dtype_name);
  call.fact("num_keys", keys);
  call.fact("lengths_length", lengths_length);
  call.fact("homes", options.homes);
  call.fact("intents", options.intents);
  comm::add_counts(call, checked, "the sum of lengths", "a hash of lengths");
  call.name_fact("store", options.name);
  call.agree();
  auto ranks = comm->node().count > 1 ? open_fabric(call, checked) : nullptr;
  const std::string text = text_of(options.label.empty() ? options.name : options.label);
  auto held = std::make_shared<slab>();
  std::shared_ptr<const int[]> ranks_of_parts;
  if (ranks && options.homes == SYNCYTE_STORE_HOMES_CYCLIC)
    ranks_of_parts = comm::share_table<int>(call, nodes_in_turn(*comm), text.c_str());
  const auto homes = std::make_shared<const key_homes>(axis_of(options.homes, keys, comm->size()), ranks_of_parts);
  // On one node all ranks use one table, in which keys are their own slots.
  const auto slots =
      ranks ? homes : std::make_shared<const key_homes>(axis_of(SYNCYTE_STORE_HOMES_BLOCK, keys, comm->size()));
  const key_layout layout = make_layout(call, *slots, keys, checked, text.c_str(), *held);
  const key_range mine = slots->slots(comm->rank());
  const std::size_t pairs = layout.first(mine.end()) - layout.first(mine.first);
  held->values = comm::node_memory::allocate(call, pairs * sizeof(std::uint64_t), text.c_str());
  held->words =
      comm::node_memory::allocate(call, static_cast<std::size_t>(mine.count) * sizeof(std::uint64_t), text.c_str());
  std::vector<table> tables = make_tables(*comm, layout, slots, *held, text);
  table here = tables.size() == 1 ? tables.front() : tables[static_cast<std::size_t>(comm->node().rank)];
  if (ranks)
    held->spread = open_spread_table(call, std::move(ranks), homes, std::move(tables), held,
                                     {foreign_bytes_of(call, options, *held->values), effect_of(options.intents)},
                                     process_of(*comm, text));
  return std::shared_ptr<store>(new store(std::move(comm), text, options, homes, std::move(here), held->spread, held));
}

store::store(std::shared_ptr<comm::communicator> comm, std::string text, const store_options& options,
             std::shared_ptr<const key_homes> homes, table values, std::shared_ptr<spread_table> spread,
             std::shared_ptr<comm::collective_resource> held)
    : comm_(std::move(comm)),
      text_(std::move(text)),
      kind_of_homes_(options.homes),
      homes_(std::move(homes)),
      table_(std::move(values)),
      spread_(std::move(spread)),
      workers_(options.workers, text_),
      id_(comm_->deferred().add(std::move(held))) {}

store::~store() { comm_->deferred().drop(id_); }

std::int64_t store::length(std::int64_t key) const { return table_.layout().length(spread_ ? homes_->slot(key) : key); }

std::int64_t store::check(std::span<const std::int64_t> keys) const {
  table_.require_inside(keys);
  if (spread_ == nullptr || table_.layout().is_uniform()) return table_.count_values(keys);
  std::int64_t sum = 0;
  homes_->for_each(keys, [&](int, std::int64_t slot) { sum += table_.layout().length(slot); });
  return sum;
}

std::vector<std::int64_t> store::places(std::span<const std::int64_t> keys) const {
  std::vector<std::int64_t> result(keys.size() + 1);
  const bool is_uniform = table_.layout().is_uniform();
  const std::int64_t common = is_uniform ? table_.layout().length(0) : 0;
  for (std::size_t i = 0; i < keys.size(); ++i) result[i + 1] = result[i] + (is_uniform ? common : length(keys[i]));
  return result;
}

void store::lengths(base::array_argument<std::int64_t> keys, std::int64_t* lengths) const {
  const auto asked = keys.with_results("keys", lengths, "lengths");
  table_.require_inside(asked);
  for (const std::int64_t key : asked) *lengths++ = length(key);
}

void store::owner(base::array_argument<std::int64_t> keys, std::int32_t* ranks) const {
  const auto asked = keys.with_results("keys", ranks, "ranks");
  table_.require_inside(asked);
  for (const std::int64_t key : asked) *ranks++ = homes_->owner(key);
}

void store::is_local(base::array_argument<std::int64_t> keys, std::int32_t* flags) const {
  const auto asked = keys.with_results("keys", flags, "flags");
  table_.require_inside(asked);
  for (const std::int64_t& key : asked) *flags++ = are_local({&key, 1}) ? 1 : 0;
}

void store::locate(base::array_argument<std::int64_t> keys, std::int32_t* ranks) const {
  if (spread_ == nullptr) return owner(keys, ranks);
  const auto asked = keys.with_results("keys", ranks, "ranks");
  table_.require_inside(asked);
  spread_->locate(asked, ranks);
}

void store::adopt_last(base::array_argument<std::int64_t> keys, std::int32_t* flags) const {
  const auto asked = keys.with_results("keys", flags, "flags");
  table_.require_inside(asked);
  if (spread_ != nullptr)
    spread_->adopt_last(asked, flags);
  else
    std::fill_n(flags, asked.size(), 0);
}

started_transfer store::start(fabric::stream* in, const operation& what, std::span<const std::int64_t> keys,
                              float* values, bool is_driven, const unanswered_operations& before) {
  if (spread_ != nullptr) return spread_->start(*in, what, keys, values, is_driven, before);
  what.run(table_, keys, values);
  return {};
}

void store::run(const operation& what, std::span<const std::int64_t> keys, float* values) {
  const auto in = make_stream();
  if (const auto started = start(in.get(), what, keys, values, false); started.rest) started.rest->wait();
}

bool store::pull_here(std::span<const std::int64_t> keys, std::span<float> values,
                      const unanswered_operations& before) {
  if (spread_ != nullptr) return spread_->pull_here(keys, values, before);
  table_.pull(keys, values.data());
  return true;
}

std::unique_ptr<access::transfer> store::localize(fabric::stream* in, std::span<const std::int64_t> keys) {
  return spread_ != nullptr ? spread_->localize(*in, keys) : nullptr;
}

/// The sampling refers to this store, whose workers use it.
void store::set_sampling(const syncyte_store_sampling_t& asked) {
  sampling::key_facts facts{.count = keys(),
                            .have_one_length = table_.layout().is_uniform(),
                            .length = [this](std::int64_t key) { return length(key); },
                            .is_local = {}};
  if (spread_ != nullptr && kind_of_homes_ != SYNCYTE_STORE_HOMES_BLOCK)
    facts.is_local = [this](std::int64_t key) { return are_local({&key, 1}); };
  auto made = std::make_shared<sampling>(std::move(facts), asked, text_);
  const std::lock_guard lock(sampling_mutex_);
  sampling_ = std::move(made);
}

std::shared_ptr<sampling> store::find_sampling() const {
  const std::lock_guard lock(sampling_mutex_);
  base::require(sampling_ != nullptr, SYNCYTE_ERR_ARGUMENT,
                "{} has no sampling yet; expected store_set_sampling() before (set_sampling, enable_sampling_support)",
                text_);
  return sampling_;
}

void store::synchronize(const char* operation) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (moving() != nullptr) moving()->send_pushes();
  comm::collective_call call(*comm_, operation, comm::collective_call::always_agrees);
  call.fact("creation number of the store", static_cast<std::int64_t>(id_));
  call.agree();  // no rank leaves before all have entered
  if (moving() != nullptr) moving()->renew_copies();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  synchronizations_.fetch_add(1);
}

}  // namespace syncyte::kv
