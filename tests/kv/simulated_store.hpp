// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "access/started.hpp"
#include "base/error.hpp"
#include "distribution/axis.hpp"
#include "fabric/engine.hpp"
#include "fabric/loopback.hpp"
#include "fabric/members.hpp"
#include "fabric/process_tables.hpp"
#include "kv/joined_moves.hpp"
#include "kv/move_messages.hpp"
#include "kv/spread_table.hpp"
#include "kv/started_operations.hpp"

namespace syncyte::test {

/// The nodes of a simulated store, and its keys.
struct store_shape {
  int nodes = 3;
  int ranks_per_node = 2;
  std::int64_t keys = 1;
  std::int64_t length = 1;         // of each key's vector
  std::size_t foreign_bytes = 64;  // memory of a node for other nodes' keys
  kv::intent_effect effect = kv::intent_effect::moves_or_copies;

  int ranks() const { return nodes * ranks_per_node; }
};

/// Sees the requests that a simulated store serves, in the threads that serve them. Requests that travel together are
/// seen one after the other.
class request_watch {
 public:
  enum class object { home, agent };
  virtual ~request_watch() = default;
  /// Before a request is served, perhaps several times because it has to wait. False: the rank is dead, or the sender
  /// died before it sent the request, which is not served.
  virtual bool begins(int rank, object at, const fabric::served_request& request) = 0;
  virtual void has_ended(int rank, object at, const fabric::served_request& request) = 0;
  virtual bool is_dead(int rank) const = 0;
};

/// An object of a rank, with a watch.
class watched_target final : public fabric::target {
 public:
  watched_target(std::shared_ptr<fabric::target> inner, request_watch& watch, int rank, request_watch::object kind)
      : inner_(std::move(inner)), watch_(watch), rank_(rank), kind_(kind) {}

  bool serve(fabric::served_request& request, fabric::answer& reply) override {
    if (static_cast<kv::move_operation>(request.header.operation) == kv::move_operation::several)
      return kv::serve_joined(request, [&](fabric::served_request& part) { return serve(part, reply); });
    if (!watch_.begins(rank_, kind_, request)) return true;
    if (!inner_->serve(request, reply)) return false;
    watch_.has_ended(rank_, kind_, request);
    return true;
  }
  bool progress() override { return !watch_.is_dead(rank_) && inner_->progress(); }
  bool makes_progress() const override { return inner_->makes_progress(); }
  std::chrono::nanoseconds time_left(std::chrono::nanoseconds now) const override {
    return watch_.is_dead(rank_) ? std::chrono::nanoseconds(-1) : inner_->time_left(now);
  }

 private:
  const std::shared_ptr<fabric::target> inner_;
  request_watch& watch_;
  const int rank_;
  const request_watch::object kind_;
};

/// A parameter store without MPI: ranks are engines over a loopback network in one process, and the ranks of a node
/// share ordinary memory.
class simulated_store {
 public:
  /// `watch`, if not null, lives longer than the store.
  simulated_store(const store_shape& shape, std::uint32_t seed, fabric::time_limits limits,
                  request_watch* watch = nullptr)
      : shape_(shape), network_(std::make_shared<loopback_network>(seed)) {
    for (int node = 0; node < shape.nodes; ++node) nodes_.push_back(make_node(node));
    for (int rank = 0; rank < shape.ranks(); ++rank)
      engines_.push_back(
          std::make_unique<fabric::engine>(std::make_unique<loopback_transport>(network_, rank), limits));
    const auto processes = process_table();
    for (int rank = 0; rank < shape.ranks(); ++rank) {
      engine(rank).reserve_caller();
      engine(rank).add_ring(communicator, processes);
      tables_.push_back(make_table(rank, std::make_shared<fabric::members>(engine(rank), processes, "world")));
      const auto add = [&](fabric::object_name name, request_watch::object kind, std::shared_ptr<fabric::target> made) {
        if (watch) made = std::make_shared<watched_target>(std::move(made), *watch, rank, kind);
        engine(rank).targets().add(name, std::move(made));
      };
      add(objects.homes, request_watch::object::home, tables_.back()->make_home(nullptr));
      add(objects.agents, request_watch::object::agent, tables_.back()->make_agent(nullptr));
    }
  }

  /// No thread uses the store any more.
  ~simulated_store() {
    for (const auto& each : tables_) each->stop_serving();
    tables_.clear();
    engines_.clear();
  }
  simulated_store(const simulated_store&) = delete;
  simulated_store& operator=(const simulated_store&) = delete;

  const store_shape& shape() const { return shape_; }
  loopback_network& network() { return *network_; }
  kv::spread_table& at(int rank) { return *tables_[static_cast<std::size_t>(rank)]; }
  fabric::engine& engine(int rank) { return *engines_[static_cast<std::size_t>(rank)]; }
  const kv::key_homes& homes() const { return *homes_; }
  /// The rank dies while it writes a key that is at its node; all others of the node find that out.
  bool die_writing(int rank, std::int64_t key) {
    node_memory& memory = *nodes_[static_cast<std::size_t>(node_of(rank))];
    const int home = homes_->owner(key), first_rank = agent_of(node_of(rank));
    const kv::key_locks::process writer{.number = rank - first_rank, .is_alive = [](int) { return true; }};
    const kv::listed_key wanted{homes_->slot(key), 0};
    const auto write = [&](std::uint64_t* words, std::int64_t first, std::int64_t place) {
      kv::key_locks locks(words, writer, first);
      return locks.begin_write(place, kv::key_locks::damage::is_refused) &&
             !died_[static_cast<std::size_t>(rank)].exchange(true);
    };
    if (node_of(home) == node_of(rank))
      return write(memory.words[static_cast<std::size_t>(home - first_rank)].data(), homes_->slots(home).first,
                   wanted.slot);
    std::vector<kv::held_keys::held_key> found;
    std::vector<kv::listed_key> others;
    memory.counter->find({&wanted, 1}, found, others);
    return !found.empty() &&
           write(reinterpret_cast<std::uint64_t*>(memory.held.front().bytes.data()), 0, found.front().record);
  }
  /// Number of times that a key, or a copy, has come to another node than its home's.
  std::uint64_t moves() const {
    std::uint64_t sum = 0;
    for (const auto& each : nodes_) sum += each->counter->grants();
    return sum;
  }
  int node_of(int rank) const { return rank / shape_.ranks_per_node; }
  int agent_of(int node) const { return node * shape_.ranks_per_node; }

 private:
  static constexpr std::uint64_t communicator = 7;
  static constexpr kv::spread_table::object_names objects{{communicator, 1}, {communicator, 2}};

  struct alignas(64) line {
    std::array<std::byte, 64> bytes;
  };
  struct node_memory {
    topology::node_group group;
    std::vector<std::vector<std::uint64_t>> words, values;  // of each rank of the node
    std::vector<std::vector<std::uint32_t>> windows;        // of each rank of the node
    std::vector<std::vector<std::uint64_t>> changed;        // of each rank of the node
    std::vector<line> held;
    std::shared_ptr<const kv::held_keys> counter = nullptr;  // of a rank
  };

  kv::key_layout layout() const { return {shape_.keys, shape_.length}; }

  std::unique_ptr<node_memory> make_node(int node) const {
    auto result = std::make_unique<node_memory>();
    topology::node_group& group = result->group;
    group.index = node;
    group.count = shape_.nodes;
    group.size = shape_.ranks_per_node;
    for (int place = 0; place < group.size; ++place) {
      const int rank = agent_of(node) + place;
      group.members.push_back(rank);
      const kv::key_range slots = homes_of(shape_).slots(rank);
      result->words.emplace_back(static_cast<std::size_t>(slots.count));
      result->windows.emplace_back(static_cast<std::size_t>(slots.count));
      result->changed.emplace_back(kv::changed_keys::memory_bytes(slots.count) / sizeof(std::uint64_t));
      result->values.emplace_back(layout().first(slots.end()) - layout().first(slots.first));
    }
    group.world_ranks = group.members;
    result->held.resize(kv::held_keys::memory_bytes(shape_.foreign_bytes, layout()) / sizeof(line) + 1);
    return result;
  }

  std::shared_ptr<const fabric::process_table> process_table() {
    std::vector<fabric::process_entry> entries;
    std::vector<std::string> addresses;
    for (int rank = 0; rank < shape_.ranks(); ++rank) {
      entries.push_back({engine(rank).process(), engine(rank).key(), rank, 0});
      addresses.push_back(engine(rank).address());
    }
    return table_of(entries, addresses);
  }

  /// A process's own objects over its node's memory.
  std::unique_ptr<kv::spread_table> make_table(int rank, std::shared_ptr<fabric::members> ranks) {
    node_memory& memory = *nodes_[static_cast<std::size_t>(node_of(rank))];
    const kv::key_locks::process self{.number = rank - agent_of(node_of(rank)),
                                      .is_alive = [this, first = agent_of(node_of(rank))](int place) {
                                        return !died_[static_cast<std::size_t>(first + place)];
                                      }};
    std::vector<kv::table> tables;
    std::vector<kv::window_counts> windows;
    std::vector<kv::changed_keys> changed;
    for (std::size_t place = 0; place < memory.words.size(); ++place) {
      const kv::key_range slots = homes_->slots(memory.group.members[place]);
      tables.emplace_back(layout(), memory.words[place].data(), memory.values[place].data(), self, slots.first);
      windows.emplace_back(memory.windows[place].data(), slots.first);
      changed.emplace_back(memory.changed[place].data(), slots);
    }
    const std::shared_ptr<int[]> agents(new int[static_cast<std::size_t>(shape_.nodes)]);
    for (int node = 0; node < shape_.nodes; ++node) agents[node] = agent_of(node);
    auto held = std::make_shared<kv::held_keys>(layout(), memory.held.front().bytes.data(), shape_.foreign_bytes, self);
    memory.counter = held;
    return std::make_unique<kv::spread_table>(std::move(ranks), memory.group, rank, homes_, std::move(tables), objects,
                                              kv::spread_table::moves{.held = std::move(held),
                                                                      .agents = agents,
                                                                      .effect = shape_.effect,
                                                                      .windows = std::move(windows),
                                                                      .changed = std::move(changed)});
  }

  static kv::key_homes homes_of(const store_shape& shape) {
    return kv::key_homes(distribution::axis::cyclic(shape.keys, shape.ranks()));
  }

  const store_shape shape_;
  std::vector<std::atomic<bool>> died_ = std::vector<std::atomic<bool>>(static_cast<std::size_t>(shape_.ranks()));
  const std::shared_ptr<const kv::key_homes> homes_ = std::make_shared<const kv::key_homes>(homes_of(shape_));
  const std::shared_ptr<loopback_network> network_;
  std::vector<std::unique_ptr<node_memory>> nodes_;
  std::vector<std::unique_ptr<fabric::engine>> engines_;
  std::vector<std::unique_ptr<kv::spread_table>> tables_;
};

/// A worker of a simulated store: it keeps its operations in order as kv::worker does.
class simulated_worker {
 public:
  using started = std::shared_ptr<access::started>;
  enum class until { begun, done };  // how long a call waits

  explicit simulated_worker(kv::spread_table& at)
      : at_(at), stream_(at.make_stream()), localizing_(at.make_stream()), intending_(at.make_stream()) {}

  /// Returns the operation in flight, or null if it is done. `values` stay until its end.
  started run(const kv::operation& what, std::span<const std::int64_t> keys, float* values, until end) {
    return finish(at_.start(*stream_, what, keys, values, end == until::begun, started_.unanswered()), end);
  }
  bool pull_here(std::span<const std::int64_t> keys, std::span<float> values) {
    return at_.pull_here(keys, values, started_.unanswered());
  }
  started localize(std::span<const std::int64_t> keys, until end) {
    return finish({at_.localize(*localizing_, keys)}, end);
  }
  void open_window(std::span<const std::int64_t> keys) {
    const auto opening = make_window(keys);
    pass_on(at_.change_windows(*intending_, {&opening, 1}, {}));
  }
  /// Closes the oldest one of these keys.
  void close_window(std::span<const std::int64_t> keys) {
    const auto closing = take_window(keys);
    pass_on(at_.change_windows(*intending_, {}, {&closing, 1}));
  }
  /// Opens a window, then closes the oldest one of other keys, as a worker does whose clock advances.
  void open_and_close_window(std::span<const std::int64_t> keys, std::span<const std::int64_t> others) {
    const auto closing = take_window(others);
    const auto opening = make_window(keys);
    pass_on(at_.change_windows(*intending_, {&opening, 1}, {&closing, 1}));
  }
  /// The second half of a barrier, whose first one is flush().
  void renew_copies() { at_.renew_copies(); }
  void settle() { at_.settle(*intending_)->wait(); }
  void flush() {
    started_.await_ends();
    windows_.await_ends();
    at_.send_pushes();
    base::error_of([&] { at_.settle(*intending_)->wait(); });  // the agent may be dead
  }

 private:
  started finish(kv::started_transfer begun, until end) {
    if (!begun.rest) return nullptr;
    if (end == until::done) {
      begun.rest->wait();
      return nullptr;
    }
    auto in_flight = std::make_shared<access::started>(nullptr, std::move(begun.rest));
    started_.add(in_flight, begun.until_its_end);
    return in_flight;
  }

  using key_list = std::vector<std::int64_t>;

  kv::intents::window make_window(std::span<const std::int64_t> keys) {
    const key_list list(keys.begin(), keys.end());
    auto result = std::make_shared<kv::intent_window>(
        kv::intent_window{.start = 0, .end = 1, .keys = list, .number = at_.number_window()});
    open_.emplace_back(list, result);
    return result;
  }
  kv::intents::window take_window(std::span<const std::int64_t> keys) {
    const auto found =
        std::ranges::find_if(open_, [&](const auto& each) { return std::ranges::equal(each.first, keys); });
    auto result = found->second;
    open_.erase(found);
    return result;
  }

  void pass_on(std::unique_ptr<access::transfer> sent) {
    if (sent) windows_.add(std::make_shared<access::started>(nullptr, std::move(sent)));
  }

  kv::spread_table& at_;
  const std::unique_ptr<fabric::stream> stream_, localizing_, intending_;
  kv::started_operations started_, windows_;
  std::vector<std::pair<key_list, kv::intents::window>> open_;
};

}  // namespace syncyte::test
