// SPDX-License-Identifier: BSD-3-Clause
// A process of a simulated store dies just before or just after one message about a key, at either end of the message:
// "grant/receiver/before" is the death of the agent that a grant goes to, before it has the grant. A sender that dies
// before has not sent the message. The survivors' keys then have all pushes; those that are lost raise an error that
// names the key, until they are set; nothing waits for ever; and keys move as before.
//
// Arguments: names of cases, or beginnings of names; or "long" and a number of seeds: a later message of each kind,
// while messages are lost, doubled and overtaken. Each worker adds 1 to its own element of a key's vector.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "access/item_list.hpp"
#include "simulated_store.hpp"

namespace {

using namespace syncyte;
using namespace std::chrono_literals;
using test::request_watch;
using test::simulated_store;
using test::simulated_worker;
using until = simulated_worker::until;
using key_list = std::vector<std::int64_t>;
using value_list = std::vector<float>;
using kv::move_operation;

constexpr int ranks = 6;  // on three nodes, each of an agent and another rank
constexpr std::size_t length = ranks;
constexpr std::int64_t keys = 3 * ranks;

/// The key that the messages are about: its home is no agent. Its node is the second one.
constexpr std::int64_t subject = 3;
constexpr int agent_of_first = 0, of_first = 1, of_home_node = 2, home = 3, agent_of_last = 4, of_last = 5;
/// Two further keys of each home: one stays there, one is at the next node.
constexpr std::int64_t still_key(int rank) { return ranks + rank; }
constexpr std::int64_t moved_key(int rank) { return 2 * ranks + rank; }

enum class story { copies, moves, turns, losses };
enum class end { sender, receiver };
enum class moment { before, after };

struct message_kind {
  const char* name;
  request_watch::object to;
  std::uint16_t operation;
  story in = story::copies;

  message_kind(request_watch::object at, move_operation what, story told = story::copies)
      : name(kv::name_of(what)), to(at), operation(static_cast<std::uint16_t>(what)), in(told) {}
  message_kind(const char* of, request_watch::object at, const kv::operation& what)
      : name(of), to(at), operation(what.number) {}
};

std::vector<message_kind> all_kinds() {
  constexpr auto to_home = request_watch::object::home, to_agent = request_watch::object::agent;
  return {
      {to_agent, move_operation::localize},
      {to_home, move_operation::acquire},
      {to_agent, move_operation::grant},
      {"pull", to_home, kv::pull},
      {"push", to_home, kv::push},
      {"set", to_home, kv::set},
      {"forwarded pull", to_agent, kv::pull},
      {"forwarded push", to_agent, kv::push},
      {"forwarded set", to_agent, kv::set},
      {to_home, move_operation::locate},
      {to_agent, move_operation::recall},
      {to_home, move_operation::give_back},
      {to_home, move_operation::give_back_none, story::losses},
      {to_home, move_operation::adopt_last, story::losses},
      {to_agent, move_operation::begin_window},
      {to_home, move_operation::intend},
      {to_agent, move_operation::ask_back},
      {to_home, move_operation::share},
      {to_home, move_operation::keep, story::moves},
      {to_agent, move_operation::refuse, story::moves},
      {to_agent, move_operation::grant_copy},
      {to_agent, move_operation::look},
      {to_home, move_operation::pushes},
      {to_home, move_operation::changed},
      {to_agent, move_operation::refresh},
      {to_agent, move_operation::settle},
      {to_agent, move_operation::send_pushes},
      {to_agent, move_operation::renew_copies},
      {to_home, move_operation::renew},
      {to_agent, move_operation::renewed},
      {to_agent, move_operation::invalidate},
      {to_home, move_operation::end_copy},
      {to_home, move_operation::end_copy_none},
      {to_agent, move_operation::put_off, story::turns},
      {to_agent, move_operation::end_windows},
  };
}

struct kill_case {
  message_kind message;
  end who;
  moment when;
  int number = 1;          // of the message among those of its kind
  std::uint32_t seed = 0;  // of the network's faults; 0: none

  std::string name() const {
    std::string result = fmt::format("{}/{}/{}", message.name, who == end::sender ? "sender" : "receiver",
                                     when == moment::before ? "before" : "after");
    if (seed != 0) result += fmt::format("/{}/seed {}", number, seed);
    return result;
  }
};

/// Kills a rank at the case's message, and soon tells the others.
class killer final : public request_watch {
 public:
  explicit killer(const kill_case& of) : case_(of) {}
  ~killer() override { stop_telling(); }

  void begin(simulated_store& store) {
    store_ = &store;
    for (int rank = 0; rank < ranks; ++rank) rank_of_[store.engine(rank).process()] = rank;
    telling_ = std::jthread([this](const std::stop_token& stop) { tell(stop); });
  }
  /// Messages count from now on.
  void arm() { is_armed_ = true; }
  void disarm() { is_armed_ = false; }
  /// Afterwards all know of all deaths.
  void stop_telling() {
    telling_.request_stop();
    changed_.notify_all();
    if (telling_.joinable()) telling_.join();
  }

  void kill(int rank) {
    is_dead_[static_cast<std::size_t>(rank)] = true;
    store_->network().kill(rank);
    const std::lock_guard lock(mutex_);
    untold_.push_back(rank);
    changed_.notify_all();
  }
  bool is_dead(int rank) const override { return is_dead_[static_cast<std::size_t>(rank)]; }
  bool has_killed() const { return has_killed_; }

  bool begins(int rank, object at, const fabric::served_request& request) override {
    const int from = rank_of_.at(request.header.sender);
    if (is_dead(rank) || is_dead(from)) return false;
    if (case_.when != moment::before || !is_meant(rank, at, request)) return true;
    kill(case_.who == end::sender ? from : rank);
    return false;
  }
  void has_ended(int rank, object at, const fabric::served_request& request) override {
    if (case_.when != moment::after || !is_meant(rank, at, request)) return;
    kill(case_.who == end::sender ? rank_of_.at(request.header.sender) : rank);
  }

 private:
  /// True once.
  bool is_meant(int rank, object at, const fabric::served_request& request) {
    return is_armed_ && at == case_.message.to && request.header.operation == case_.message.operation &&
           is_about_subject(rank, at, request) && ++met_ >= case_.number && !has_killed_.exchange(true);
  }

  bool is_about_subject(int rank, object at, const fabric::served_request& request) const {
    const auto what = static_cast<move_operation>(request.header.operation);
    for (const auto without_key :
         {move_operation::renew, move_operation::renewed, move_operation::changed, move_operation::settle,
          move_operation::look, move_operation::send_pushes, move_operation::renew_copies, move_operation::end_windows})
      if (what == without_key) return true;
    const access::served_items items(request);
    const bool has_slots = what == move_operation::localize || what == move_operation::begin_window;
    const int of = at == object::home ? rank : static_cast<int>(items.first_argument());
    const std::int64_t first = has_slots ? 0 : store_->homes().slots(of).first;
    for (std::size_t i = 0; i < items.count(); ++i)
      if (first + static_cast<std::int64_t>(items.offset(i)) == store_->homes().slot(subject)) return true;
    return false;
  }

  void tell(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stop.stop_requested() || !untold_.empty(); });
      if (untold_.empty()) return;
      const int dead = untold_.back();
      untold_.pop_back();
      lock.unlock();
      std::this_thread::sleep_for(2ms);
      for (int other = 0; other < ranks; ++other) {
        store_->engine(other).declare_dead(store_->engine(dead).process());
        store_->engine(dead).declare_dead(store_->engine(other).process());  // so that its own worker waits for nobody
      }
      lock.lock();
    }
  }

  const kill_case case_;
  simulated_store* store_ = nullptr;
  std::map<std::uint64_t, int> rank_of_;
  std::atomic<bool> is_armed_ = false, has_killed_ = false;
  std::atomic<int> met_ = 0;  // messages of the kind; one that has to wait is met several times
  std::array<std::atomic<bool>, ranks> is_dead_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> untold_;
  std::jthread telling_;
};

std::atomic<int> failures = 0;

/// A thread's present operation, which the report of a hang names.
struct activity {
  std::mutex mutex;
  std::string what;
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();

  void begin(std::string doing) {
    const std::lock_guard lock(mutex);
    what = std::move(doing);
    since = std::chrono::steady_clock::now();
  }
};

/// One case. One thread calls all workers, one after the other; started operations overlap.
class run {
 public:
  run(const kill_case& of, activity& now)
      : case_(of),
        now_(now),
        killer_(of),
        store_(
            {.nodes = 3,
             .ranks_per_node = 2,
             .keys = keys,
             .length = length,
             .foreign_bytes = 64 * 1024,
             .effect = of.message.in == story::moves ? kv::intent_effect::moves : kv::intent_effect::moves_or_copies},
            of.seed, {.resend = 5ms, .deadline = 60s}, &killer_) {
    if (of.seed != 0)
      store_.network().set_faults({.drop = 0.02, .duplicate = 0.05, .reorder = 0.1, .hold = 300us, .keep = 0.1});
    killer_.begin(store_);
    for (int rank = 0; rank < ranks; ++rank) workers_.emplace_back(store_.at(rank));
  }

  void operator()() {
    for (int rank = 0; rank < ranks; ++rank) localize((rank / 2 * 2 + 2) % ranks, moved_key(rank));
    for (int rank = 0; rank < ranks; ++rank) push_all(rank);
    killer_.arm();
    tell_story();
    if (!killer_.has_killed() && case_.number == 1) return complain("{}", "the message did not come");
    killer_.disarm();
    killer_.stop_telling();
    barrier();
    for (int rank = 0; rank < ranks; ++rank) {
      check(still_key(rank), losses::none);
      check(moved_key(rank),
            store_.node_of(rank) == last_node() ? agent_died(0) : agent_died(store_.node_of(rank) + 1));
    }
    check(subject, case_.message.in == story::losses ? losses::all : any_agent_died());
    for (std::int64_t key = 0; key < keys; ++key)
      if (!is_dead(store_.homes().owner(key))) use_again(key);
  }

 private:
  /// Whether a key may be lost with its node: with what was pushed to copies only, or because the story says so.
  enum class losses { none, with_node, all };
  struct pending {
    int rank;
    std::int64_t key;
    value_list values = value_list(length);
    simulated_worker::started started = nullptr;
    bool has_begun = false;
  };

  template <class... Arguments>
  void complain(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    ++failures;
    std::fprintf(stderr, "%s: %s\n", case_.name().c_str(),
                 fmt::format(format, std::forward<Arguments>(arguments)...).c_str());
  }

  bool is_dead(int rank) const { return killer_.is_dead(rank); }
  int last_node() const { return store_.shape().nodes - 1; }
  losses agent_died(int node) const { return is_dead(store_.agent_of(node)) ? losses::with_node : losses::none; }
  losses any_agent_died() const {
    for (int node = 0; node <= last_node(); ++node)
      if (is_dead(store_.agent_of(node))) return losses::with_node;
    return losses::none;
  }
  /// Whether no push of the rank's worker may be lost.
  bool is_exact(int rank) const { return !is_dead(rank) && !is_dead(store_.agent_of(store_.node_of(rank))); }
  simulated_worker& worker(int rank) { return workers_[static_cast<std::size_t>(rank)]; }
  static std::size_t index(std::int64_t key, int rank) {
    return static_cast<std::size_t>(key) * length + static_cast<std::size_t>(rank);
  }

  /// The error of an action of a rank's worker; none if it succeeds, or if the rank is dead.
  template <class Action>
  std::optional<base::error> error_of(int rank, std::string what, Action&& action) {
    if (is_dead(rank)) return std::nullopt;
    now_.begin(fmt::format("{}: rank {}: {}", case_.name(), rank, what));
    const auto error = base::error_of(std::forward<Action>(action));
    if (!error || is_dead(rank)) return std::nullopt;
    if (!has_death()) complain("rank {}: {} fails before a death: {}", rank, what, error->what());
    if (error->status() != SYNCYTE_ERR_PEER_DIED) complain("rank {}: {} fails: {}", rank, what, error->what());
    return error;
  }
  bool has_death() const {
    for (int rank = 0; rank < ranks; ++rank)
      if (is_dead(rank)) return true;
    return false;
  }

  void require_named(const base::error& error, std::int64_t key) {
    const std::string text = error.what(), name = fmt::format("key {}", key);
    const auto found = text.find(name);
    if (found == std::string::npos || std::isdigit(static_cast<unsigned char>(text[found + name.size()])) != 0)
      complain("an error does not name key {}: {}", key, text);
  }

  // ---- operations

  void localize(int rank, std::int64_t key) {
    error_of(rank, fmt::format("localize({})", key), [&] { worker(rank).localize(key_list{key}, until::done); });
  }
  void open(int rank) {
    error_of(rank, "open a window", [&] { worker(rank).open_window(key_list{subject}); });
    flush(rank);
  }
  void close(int rank) {
    error_of(rank, "close a window", [&] { worker(rank).close_window(key_list{subject}); });
    flush(rank);
  }
  void flush(int rank) {
    error_of(rank, "flush", [&] { worker(rank).flush(); });
  }
  void barrier() {
    for (int rank = 0; rank < ranks; ++rank) flush(rank);
    for (int rank = 0; rank < ranks; ++rank) error_of(rank, "renew copies", [&] { worker(rank).renew_copies(); });
  }
  void locate(int rank) {
    std::int32_t found = -1;
    error_of(rank, "locate", [&] { store_.at(rank).locate(key_list{subject}, &found); });
  }
  void adopt(int rank) {
    std::int32_t found = -1;
    error_of(rank, "adopt last", [&] { store_.at(rank).adopt_last(key_list{subject}, &found); });
  }

  std::optional<base::error> pull(int rank, std::int64_t key, value_list& values) {
    values.assign(length, -1);
    auto error = error_of(rank, fmt::format("pull({})", key),
                          [&] { worker(rank).run(kv::pull, key_list{key}, values.data(), until::done); });
    if (error) require_named(*error, key);
    return error;
  }
  void pull(int rank) {
    value_list values;
    pull(rank, subject, values);
  }

  void begin_push(int rank, std::int64_t key, until done) {
    if (is_dead(rank)) return;
    pending& made = pending_.emplace_back(pending{rank, key});
    made.values[static_cast<std::size_t>(rank)] = 1;
    ++begun_[index(key, rank)];
    const auto error = error_of(rank, fmt::format("push({})", key), [&] {
      made.started = worker(rank).run(kv::push, key_list{key}, made.values.data(), done);
      made.has_begun = true;
    });
    if (error) require_named(*error, key);
  }
  /// Waits for the pushes that were begun; false if one has failed.
  bool end_pushes() {
    bool result = true;
    for (pending& each : pending_) {
      bool is_done = each.has_begun;
      if (each.started) {
        is_done = false;
        const auto error = error_of(each.rank, fmt::format("wait for a push({})", each.key), [&] {
          each.started->wait();
          is_done = true;
        });
        if (error) require_named(*error, each.key);
      }
      if (is_done) ++ended_[index(each.key, each.rank)];
      result = result && (is_done || is_dead(each.rank));
    }
    pending_.clear();
    return result;
  }
  bool push(int rank, std::int64_t key) {
    begin_push(rank, key, until::done);
    return end_pushes();
  }
  void push_all(int rank) {
    for (std::int64_t key = 0; key < keys; ++key) push(rank, key);
  }

  /// Sets a key to all pushes that have begun.
  bool set(int rank, std::int64_t key) {
    value_list values;
    for (int writer = 0; writer < ranks; ++writer) values.push_back(static_cast<float>(begun_[index(key, writer)]));
    const auto error = error_of(rank, fmt::format("set({})", key),
                                [&] { worker(rank).run(kv::set, key_list{key}, values.data(), until::done); });
    if (error) require_named(*error, key);
    if (!error && !is_dead(rank))
      for (int writer = 0; writer < ranks; ++writer) ended_[index(key, writer)] = begun_[index(key, writer)];
    return !error;
  }

  // ---- stories

  /// Meanwhile other workers push to the key; those of the nodes that have it push to it there.
  void step(const std::function<void()>& action) {
    ++steps_;
    for (int rank = 0; rank < ranks; ++rank)
      if ((steps_ + rank) % 3 == 0) begin_push(rank, subject, until::begun);
    std::deque<pending> before;
    before.swap(pending_);
    action();
    before.swap(pending_);
    end_pushes();
    begin_push(steps_ % ranks, still_key(steps_ / 2 % ranks), until::done);
    begin_push(steps_ % ranks, moved_key(steps_ / 2 % ranks), until::done);
    end_pushes();
  }

  void tell_story() {
    switch (case_.message.in) {
      case story::copies:
        return tell_of_copies();
      case story::moves:
        return tell_of_moves();
      case story::turns:
        return tell_of_turns();
      case story::losses:
        return tell_of_losses();
    }
  }

  void tell_of_copies() {
    step([&] { localize(of_first, subject); });
    step([&] { pull(of_last); });
    step([&] { push(of_last, subject); });
    set(of_last, subject);
    step([&] { locate(of_last); });
    step([&] { localize(of_last, subject); });
    step([&] { localize(of_home_node, subject); });
    step([&] { open(of_first); });
    step([&] { open(of_last); });
    step([&] { flush(of_first); });
    step([&] { push(of_first, subject); });
    step([&] { push(of_last, subject); });
    step([&] { push(of_home_node, subject); });
    for (int i = 0; i < 5; ++i) {  // the home has taken the changes before: it is told of this one
      std::this_thread::sleep_for(2ms);
      push(of_home_node, subject);
    }
    step([&] { barrier(); });
    set(of_home_node, subject);
    step([&] { flush(of_first); });
    step([&] { flush(of_last); });
    step([&] { push(of_first, subject); });
    barrier();
    for (int i = 0; i < 50 && !killer_.has_killed(); ++i) {
      for (int pushes = 0; pushes < 3; ++pushes) push(of_first, subject);
      close(of_first);  // mostly with the last push: those before are on their way
      open(of_first);
    }
    barrier();
    close(of_first);  // without a push
    step([&] { close(of_last); });
  }

  void tell_of_moves() {
    step([&] { open(of_first); });
    step([&] { open(of_last); });
    step([&] { push(of_last, subject); });
    step([&] { close(of_first); });
    step([&] { close(of_last); });
    step([&] { open(of_last); });
    step([&] { close(of_last); });
  }

  /// Two nodes change the key in turn, with barriers between, until intents get no copies.
  void tell_of_turns() {
    open(of_first);
    open(of_last);
    for (int turn = 0; turn < 12; ++turn) {
      push(turn % 2 == 0 ? of_first : of_last, subject);
      barrier();
    }
    step([&] { close(of_first); });
    step([&] { open(of_first); });
    step([&] { localize(of_last, subject); });
  }

  /// A rank of the holder's node dies while it writes the key.
  void tell_of_losses() {
    step([&] { localize(of_first, subject); });
    if (!store_.die_writing(of_first, subject)) complain("{}", "the key is not at the first node");
    killer_.kill(of_first);
    localize(of_last, subject);
    step([&] { adopt(of_last); });
    step([&] { pull(of_last); });
  }

  // ---- afterwards

  void check(std::int64_t key, losses allowed) {
    if (is_dead(store_.homes().owner(key))) return check_orphan(key);
    int lost = 0, living = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      if (is_dead(rank)) continue;
      value_list found;
      ++living;
      if (pull(rank, key, found))
        ++lost;
      else
        check_sums(rank, key, found, allowed);
    }
    if (lost != 0 && lost != living) complain("key {} is lost for {} of {} workers", key, lost, living);
    if (lost == 0 && allowed != losses::all) return;  // an adopted key has lost pushes
    if (allowed == losses::none) complain("key {} is lost, and the node that had it lives", key);
    if (!set(first_living(), key)) complain("set() does not mend key {}", key);
  }

  void check_sums(int rank, std::int64_t key, const value_list& found, losses allowed) {
    for (int writer = 0; writer < ranks; ++writer) {
      const float value = found[static_cast<std::size_t>(writer)];
      const bool has_least = allowed != losses::all && is_exact(writer);
      const auto least = static_cast<float>(has_least ? ended_[index(key, writer)] : 0);
      const auto most = static_cast<float>(begun_[index(key, writer)]);
      if (value < least || value > most)
        complain("rank {}: key {} has {} pushes of rank {}, expected {} to {}", rank, key, value, writer, least, most);
    }
  }

  /// A key whose home is dead can be used at the node that has its main copy, which may be that of the dead; copies end
  /// soon. The subject may have been on its way.
  void check_orphan(std::int64_t key) {
    const bool may_be_nowhere = key == subject || case_.message.in == story::losses;  // then a whole node may be dead
    const int least = may_be_nowhere ? 0 : 1, most = 1;
    int nodes = 0;
    const auto begin = std::chrono::steady_clock::now();
    do {
      nodes = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        value_list found;
        if (!is_dead(rank) && (rank % 2 == 0 || is_dead(rank - 1))) nodes += !pull(rank, key, found);
      }
    } while (nodes > most && std::chrono::steady_clock::now() - begin < 2s);
    if (nodes < least || nodes > most)
      complain("key {} of a dead home is at {} nodes, expected {} to {}", key, nodes, least, most);
  }

  int first_living() const {
    for (int rank = 0;; ++rank)
      if (!is_dead(rank)) return rank;
  }
  int living_with_agent() const {
    for (int rank = ranks - 1;; --rank)
      if (is_exact(rank)) return rank;
  }

  /// The key is pushed to, shared and moved as if nobody had died.
  void use_again(std::int64_t key) {
    push_everywhere(key);
    for (int rank = 0; rank < ranks; ++rank)
      error_of(rank, "open a window", [&] { worker(rank).open_window(key_list{key}); });
    push_everywhere(key);
    localize(living_with_agent(), key);
    push_everywhere(key);
    for (int rank = 0; rank < ranks; ++rank)
      error_of(rank, "close a window", [&] { worker(rank).close_window(key_list{key}); });
    barrier();
    std::optional<value_list> first;
    for (int rank = 0; rank < ranks; ++rank) {
      if (is_dead(rank)) continue;
      value_list found;
      if (pull(rank, key, found)) complain("rank {} cannot pull key {} any more", rank, key);
      check_sums(rank, key, found, losses::with_node);
      if (first && *first != found) complain("rank {} sees other values of key {}", rank, key);
      first = found;
    }
  }
  void push_everywhere(std::int64_t key) {
    for (int rank = 0; rank < ranks; ++rank)
      if (!is_dead(rank) && !push(rank, key)) complain("rank {} cannot push to key {} any more", rank, key);
  }

  const kill_case case_;
  activity& now_;
  killer killer_;
  simulated_store store_;
  std::deque<pending> pending_;  // values stay; destroyed after the workers
  std::deque<simulated_worker> workers_;
  std::vector<int> begun_ = std::vector<int>(keys * length), ended_ = std::vector<int>(keys * length);
  int steps_ = 0;
};

/// Ends the program if a thread does one thing for too long.
class hang_watch {
 public:
  explicit hang_watch(std::deque<activity>& all)
      : thread_([&all](const std::stop_token& end) {
          for (; !end.stop_requested(); std::this_thread::sleep_for(50ms))
            for (activity& each : all) look(each);
        }) {}

 private:
  static constexpr auto longest = 15s;

  static void look(activity& each) {
    const std::lock_guard lock(each.mutex);
    if (each.what.empty() || std::chrono::steady_clock::now() - each.since < longest) return;
    std::fprintf(stderr, "hang: %s\n", each.what.c_str());
    std::fflush(stdout);
    std::_Exit(1);
  }

  std::jthread thread_;
};

std::vector<kill_case> all_cases(int seeds) {
  constexpr int most_number = 7;
  std::vector<kill_case> result;
  for (int seed = seeds == 0 ? 0 : 1; seed <= seeds; ++seed)
    for (const message_kind& each : all_kinds())
      for (const end who : {end::sender, end::receiver})
        for (const moment when : {moment::before, moment::after})
          result.push_back({each, who, when, 1 + seed % most_number, static_cast<std::uint32_t>(seed)});
  return result;
}

bool is_chosen(const std::string& name, int count, char** arguments) {
  const auto matches = [&](const char* argument) { return name.starts_with(argument); };
  return count < 2 || std::any_of(arguments + 1, arguments + count, matches);
}

}  // namespace

int main(int count, char** arguments) {
  const bool is_long = count > 2 && std::string_view(arguments[1]) == "long";
  std::vector<kill_case> cases = all_cases(is_long ? std::atoi(arguments[2]) : 0);
  if (is_long) {
    count -= 2;
    arguments += 2;
  }
  std::erase_if(cases, [&](const kill_case& each) { return !is_chosen(each.name(), count, arguments); });
  constexpr std::size_t most_at_once = 8;  // they mostly sleep
  std::deque<activity> activities(most_at_once);
  const hang_watch watch(activities);
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  for (activity& mine : activities)
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < cases.size(); i = next++) {
        const auto begin = std::chrono::steady_clock::now();
        try {
          run(cases[i], mine)();
        } catch (const std::exception& error) {
          ++failures;
          std::fprintf(stderr, "%s: %s\n", cases[i].name().c_str(), error.what());
        }
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
        std::printf("%s: %.2f s\n", cases[i].name().c_str(), time.count());
      }
      mine.begin("");
    });
  threads.clear();
  std::printf("%zu cases, %d failures\n", cases.size(), failures.load());
  return failures == 0 ? 0 : 1;
}
