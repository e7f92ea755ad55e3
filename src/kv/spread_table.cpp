// SPDX-License-Identifier: BSD-3-Clause
#include "kv/spread_table.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "access/item_requests.hpp"
#include "access/owners_transfer.hpp"
#include "base/log.hpp"
#include "kv/agent_target.hpp"
#include "kv/asked_keys.hpp"
#include "kv/joined_moves.hpp"
#include "kv/key_items.hpp"
#include "kv/table_target.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::kv {

spread_table::spread_table(std::shared_ptr<fabric::members> ranks, const topology::node_group& node, int rank,
                           std::shared_ptr<const key_homes> homes, std::vector<table> tables, object_names objects,
                           std::optional<moves> moving)
    : ranks_(std::move(ranks)),
      node_(node),
      rank_(rank),
      agent_(node.members.front()),
      homes_(std::move(homes)),
      tables_(std::move(tables)),
      objects_(objects) {
  if (!moving) return;
  held_ = std::move(moving->held);
  windows_ = std::move(moving->windows);
  changed_ = std::move(moving->changed);
  facts_ = make_facts(std::move(moving->agents), moving->effect, std::move(moving->store));
  notifying_ = make_stream();
}

std::shared_ptr<const move_facts> spread_table::make_facts(std::shared_ptr<const int[]> agents, intent_effect effect,
                                                           std::string store) const {
  return std::make_shared<const move_facts>(move_facts{
      .ranks = ranks_,
      .rank = rank_,
      .node = node_.index,
      .agents = std::move(agents),
      .key = [homes = homes_](std::int64_t slot) { return homes->key(slot); },
      .home_of = [homes = homes_](std::int64_t slot) { return homes->rank_of_slot(slot); },
      .slots = [homes = homes_](int rank) { return homes->slots(rank); },
      .is_here = [&node = node_](int rank) { return node.is_here(rank); },
      .is_elsewhere =
          [this](std::int64_t slot) { return is_elsewhere(node_.node_rank(homes_->rank_of_slot(slot)), slot); },
      .effect = effect,
      .is_intended =
          [this, windows = windows_of(rank_)](std::int64_t slot) { return windows.any(slot) && !has_dead_ranks(); },
      .changed = changed_[static_cast<std::size_t>(node_.node_rank(rank_))],
      .trace = move_trace(std::move(store), *homes_, tables_.front().layout().keys())});
}

std::shared_ptr<fabric::target> spread_table::make_home(std::shared_ptr<void> memory) {
  const table& mine = table_of(rank_);
  auto moving = facts_ ? std::make_shared<home>(mine, facts_, objects_.agents) : nullptr;
  return std::make_shared<table_target>(mine, homes_->slots(rank_), rank_, std::move(memory), std::move(moving));
}

std::shared_ptr<fabric::target> spread_table::make_agent(std::shared_ptr<void> memory) {
  return std::make_shared<agent_target>(held_, facts_, objects_.homes, std::move(memory));
}

void spread_table::stop_serving() {
  ranks_->through().targets().remove(objects_.homes);
  if (held_) ranks_->through().targets().remove(objects_.agents);
}

/// A dead rank's windows for keys of this node are counted for ever.
bool spread_table::has_dead_ranks() const {
  return std::ranges::any_of(node_.members, [&](int rank) { return ranks_->at(rank).is_dead.load(); });
}

/// Records of a dead agent's node are lost: nobody could give them back.
bool spread_table::is_agent_dead() const { return ranks_->at(agent_).is_dead; }

/// `place`: the home's, in this node.
bool spread_table::is_elsewhere(int place, std::int64_t slot) const { return table_at(place).is_elsewhere(slot); }

/// Whether a key is at this node now, by a grant up to `newest` if it is another node's.
bool spread_table::is_here(int home, std::int64_t slot, held_keys::grant_number newest) const {
  if (const int place = node_.node_rank(home); place >= 0) return !(held_ && is_elsewhere(place, slot));
  return held_ && held_->holds(slot, newest);
}

bool spread_table::are_here(std::span<const std::int64_t> keys, const unanswered_operations& before) const {
  bool result = true;
  const auto newest = held_ && !is_agent_dead() ? std::min(before.grants, held_->grants()) : 0;
  homes_->for_each(keys, [&](int home, std::int64_t slot) {
    result = result && is_here(home, slot, newest) && !before.have_asked(slot);
  });
  return result;
}

void spread_table::ask_homes(const char* name, move_operation what, std::span<const std::int64_t> keys,
                             std::int32_t* results) const {
  std::map<int, std::vector<asked_keys::key>> by_home;
  homes_->for_each(keys, [&](int home, std::int64_t slot) {
    by_home[home].push_back({static_cast<std::uint64_t>(slot - homes_->slots(home).first), results++});
  });
  access::owners_transfer asked(ranks_, name);
  for (auto& [home, list] : by_home)
    asked.add(home, std::make_unique<access::item_requests<asked_keys>>(
                        objects_.homes, asked_keys(ranks_->rank_name(home), what, std::move(list))));
  asked.wait();
}

void spread_table::locate(std::span<const std::int64_t> keys, std::int32_t* ranks) const {
  ask_homes("store_locate", move_operation::locate, keys, ranks);
}

void spread_table::adopt_last(std::span<const std::int64_t> keys, std::int32_t* flags) const {
  ask_homes("store_adopt_last", move_operation::adopt_last, keys, flags);
}

/// One operation.
class spread_table::run {
 public:
  run(spread_table& of, fabric::stream& in, const operation& what, float* values, const unanswered_operations& before)
      : of_(of), in_(in), what_(what), values_(values), before_(before) {
    if (of.held_) grants_ = of.held_->grants();  // before the first look for a key
  }

  /// Asks homes for the keys that are not at this node, and remembers the others.
  void begin(std::span<const std::int64_t> keys) {
    sorted_ = std::make_shared<const keys_by_owner>(sort_by_owner(*of_.homes_, layout(), keys));
    for (const keys_by_owner::part& each : sorted_->parts()) {
      if (of_.node_.is_here(each.owner))
        begin_here(each);
      else if (of_.held_ && !of_.held_->is_empty() && !of_.is_agent_dead())
        begin_held(each);
      else
        ask(each.owner, sorted_, each.elements);
    }
  }

  /// Does the keys at this node, and asks homes for those that are elsewhere.
  void run_here() {
    for (const here_part& each : here_) {
      absent_keys absent;
      std::vector<std::int64_t> shared;
      const auto run_keys = [&] { what_.run_some(of_.table_of(each.owner), each.keys, values_, absent, shared); };
      run_and_tell(run_keys, [&] { of_.tell_of_changes(each.owner, shared); });
      key_list keys;
      for (const std::size_t i : absent) keys.push_back(each.keys[i]);
      ask_again(each.owner, with_repeats(each.keys, std::move(keys)));
    }
    for (held_part& each : held_) {
      absent_keys absent;
      const auto newest = std::min(grants_, before_.grants);
      const auto run_keys = [&] { what_.run_held(*of_.held_, each.keys, newest, values_, absent); };
      run_and_tell(run_keys, [&] {
        if (!what_.reads && of_.held_->must_tell_agent())
          of_.wake(of_.agent_, of_.objects_.agents, what_.name, move_operation::look);
      });
      for (const std::size_t i : absent) each.later.push_back(each.keys[i].key);
      std::ranges::sort(each.later, {}, &listed_key::place);
      ask_again(each.owner, with_repeats(each.all, std::move(each.later)));
    }
  }

  access::owners_transfer* transfer() { return result_.get(); }
  started_transfer take() {
    started_transfer result{std::move(result_), {.grants = grants_}, remote_keys_, was_detoured_};
    if (asked_) result.until_its_end.asked.push_back(std::move(asked_));
    return result;
  }

 private:
  struct here_part {
    int owner;
    std::span<const listed_key> keys;
    std::vector<listed_key> own = {};  // their memory, unless that is sorted_
  };
  using key_list = std::vector<listed_key>;
  struct held_part {
    int owner;
    std::span<const listed_key> all;
    std::vector<held_keys::held_key> keys;
    key_list later = {};  // to be asked for after them
  };

  const key_layout& layout() const { return of_.tables_.front().layout(); }

  /// Calls run(), and tell() also if that throws: keys before a damaged one are done.
  template <class Run, class Tell>
  static void run_and_tell(Run&& run, Tell&& tell) {
    try {
      run();
    } catch (...) {
      tell();
      throw;
    }
    tell();
  }

  /// A pull of a list in which a key repeats shows no older value at a later place: all places are asked for.
  key_list with_repeats(std::span<const listed_key> all, key_list absent) const {
    if (!what_.reads || absent.empty()) return absent;
    unanswered_operations::slot_set slots;
    for (const listed_key& each : absent) slots.insert(each.slot);
    absent.clear();
    std::ranges::copy_if(all, std::back_inserter(absent),
                         [&](const listed_key& each) { return slots.contains(each.slot); });
    return absent;
  }

  void begin_here(const keys_by_owner::part& of) {
    if (before_.asked.empty()) {
      here_.push_back({of.owner, of.elements});
      return;
    }
    here_part here{of.owner, {}};
    key_list follow;
    for (const listed_key& each : of.elements) (before_.have_asked(each.slot) ? follow : here.own).push_back(each);
    here.keys = here.own;
    here_.push_back(std::move(here));
    ask_again(of.owner, std::move(follow));
  }

  /// A key that repeats may be found once and not again, because it leaves. A set then asks for its last values last.
  void begin_held(const keys_by_owner::part& of) {
    held_part held{of.owner, of.elements, {}};
    auto others = std::make_shared<key_list>();
    of_.held_->find(of.elements, held.keys, *others);
    key_list follow;
    if (!before_.asked.empty())
      std::erase_if(held.keys, [&](const held_keys::held_key& each) {
        const bool follows = before_.have_asked(each.key.slot);
        if (follows) follow.push_back(each.key);
        return follows;
      });
    if (what_.replaces && others->size() < of.elements.size()) {
      held.later = std::move(follow);
      held.later.insert(held.later.end(), others->begin(), others->end());
    } else {
      ask_again(of.owner, std::move(follow));
      if (!others->empty()) ask(of.owner, others, *others);
    }
    if (!held.keys.empty() || !held.later.empty()) held_.push_back(std::move(held));
  }

  /// Asks for keys that are at this node, or were, or whose home is.
  void ask_again(int owner, key_list keys) {
    if (keys.empty()) return;
    was_detoured_ = true;
    if (!asked_) asked_ = std::make_shared<unanswered_operations::slot_set>();
    for (const listed_key& each : keys) asked_->insert(each.slot);
    const auto kept = std::make_shared<const key_list>(std::move(keys));
    ask(owner, kept, *kept);
  }

  /// `list` keeps the keys.
  void ask(int owner, std::shared_ptr<const void> list, std::span<const listed_key> keys) {
    if (!result_) result_ = std::make_unique<access::owners_transfer>(of_.ranks_, what_.name, &in_);
    remote_keys_ += std::ssize(keys);
    const key_items::owner to{owner, of_.homes_->slots(owner).first, of_.ranks_.get(), of_.homes_.get(),
                              of_.node_.index};
    result_->add(owner, std::make_unique<access::item_requests<key_items>>(
                            of_.objects_.homes, key_items(to, what_, std::move(list), keys, layout(), values_)));
  }

  spread_table& of_;
  fabric::stream& in_;
  const operation& what_;
  float* values_;
  const unanswered_operations& before_;
  held_keys::grant_number grants_ = std::numeric_limits<held_keys::grant_number>::max();  // when it began
  std::shared_ptr<unanswered_operations::slot_set> asked_;                                // null: none
  std::shared_ptr<const keys_by_owner> sorted_;
  std::vector<here_part> here_;
  std::vector<held_part> held_;
  std::unique_ptr<access::owners_transfer> result_;
  std::int64_t remote_keys_ = 0;
  bool was_detoured_ = false;
};

/// Requests of other nodes are answered while this node's keys are processed.
started_transfer spread_table::start(fabric::stream& in, const operation& what, std::span<const std::int64_t> keys,
                                     float* values, bool is_driven, const unanswered_operations& before) {
  run made(*this, in, what, values, before);
  made.begin(keys);
  if (made.transfer() && is_driven) made.transfer()->drive();
  try {
    made.run_here();
  } catch (const watchdog::interrupted&) {
    throw;  // the operation is given up
  } catch (...) {
    if (made.transfer() == nullptr) throw;
    made.transfer()->fail(base::current_error());
  }
  if (made.transfer() && is_driven) made.transfer()->drive();
  return made.take();
}

bool spread_table::pull_here(std::span<const std::int64_t> keys, std::span<float> values,
                             const unanswered_operations& before) {
  if (!are_here(keys, before)) return false;
  if (!held_) {
    const auto in = make_stream();
    start(*in, pull, keys, values.data(), false);
    return true;
  }
  std::vector<float> read(values.size());
  const auto in = make_stream();
  if (start(*in, pull, keys, read.data(), false, before).rest)
    return false;  // a key has left: what it asks is given up
  std::ranges::copy(read, values.begin());
  return true;
}

// ---- requests to this node's agent

/// Null if there are no keys.
std::unique_ptr<access::transfer> spread_table::ask_agent(fabric::stream& in, const char* name, moved_keys keys) const {
  if (keys.size() == 0) return nullptr;
  auto result = std::make_unique<access::owners_transfer>(ranks_, name, &in);
  result->add(agent_, std::make_unique<access::item_requests<moved_keys>>(objects_.agents, std::move(keys)));
  return result;
}

/// Calls visit(place, slot) for each key, with its home's place in this node or -1; prefetch(place, slot) comes some
/// keys before, and loads what visit() looks at.
template <class Prefetch, class Visit>
void spread_table::for_each_slot(std::span<const std::int64_t> keys, Prefetch&& prefetch, Visit&& visit) const {
  constexpr std::size_t ahead = 16;
  std::array<std::pair<int, std::int64_t>, ahead> next;
  std::size_t count = 0;
  homes_->for_each(keys, [&](int home, std::int64_t slot) {
    const int place = node_.node_rank(home);
    prefetch(place, slot);
    auto& waiting = next[count % ahead];
    if (count++ >= ahead) visit(waiting.first, waiting.second);
    waiting = {place, slot};
  });
  for (std::size_t i = count - std::min(count, ahead); i < count; ++i)
    visit(next[i % ahead].first, next[i % ahead].second);
}

std::unique_ptr<access::transfer> spread_table::localize(fabric::stream& in, std::span<const std::int64_t> keys) {
  if (!held_) return nullptr;
  moved_keys asked(ranks_->rank_name(agent_), move_operation::localize, static_cast<std::uint64_t>(rank_));
  const auto prefetch = [this](int place, std::int64_t slot) {
    place < 0 ? held_->prefetch(slot) : table_at(place).prefetch_lock(slot);
  };
  for_each_slot(keys, prefetch, [&](int place, std::int64_t slot) {
    const bool is_main = place < 0 ? held_->holds_main(slot) : !is_elsewhere(place, slot);
    if (!is_main) asked.add(static_cast<std::uint64_t>(slot), {});
  });
  return ask_agent(in, "store_worker_localize", std::move(asked));
}

/// The agent keeps the windows for keys of other nodes.
moved_keys spread_table::open_window(intent_window& which) const {
  moved_keys asked(ranks_->rank_name(agent_), move_operation::begin_window, static_cast<std::uint64_t>(rank_),
                   which.number);
  const auto prefetch = [this](int place, std::int64_t slot) {
    if (place < 0) return;
    windows_at(place).prefetch(slot);
    table_at(place).prefetch_lock(slot);
  };
  for_each_slot(which.keys, prefetch, [&](int place, std::int64_t slot) {
    if (place >= 0) {
      windows_at(place).add(slot, 1);
      which.here.push_back({slot, place});
    }
    if (place < 0 || is_elsewhere(place, slot)) asked.add(static_cast<std::uint64_t>(slot), {});
  });
  which.keys = {};
  return asked;
}

void spread_table::close_window(const intent_window& which) const {
  constexpr std::size_t ahead = 16;
  for (std::size_t i = 0; i < which.here.size(); ++i) {
    if (i + ahead < which.here.size()) windows_at(which.here[i + ahead].place).prefetch(which.here[i + ahead].slot);
    windows_at(which.here[i].place).add(which.here[i].slot, -1);
  }
}

std::unique_ptr<access::transfer> spread_table::change_windows(fabric::stream& in,
                                                               std::span<const intents::window> opening,
                                                               std::span<const intents::window> closing) {
  std::vector<moved_keys> requests;
  for (const intents::window& each : opening)
    if (moved_keys asked = open_window(*each); asked.size() > 0) requests.push_back(std::move(asked));
  moved_keys closed(ranks_->rank_name(agent_), move_operation::end_windows, static_cast<std::uint64_t>(rank_));
  for (const intents::window& each : closing) {
    close_window(*each);
    closed.add(each->number, {});
  }
  if (closed.size() > 0) requests.push_back(std::move(closed));
  if (requests.empty()) return nullptr;
  auto result = std::make_unique<access::owners_transfer>(ranks_, "store_worker_intent", &in);
  result->add(agent_, std::make_unique<joined_moves>(objects_.agents, std::move(requests)));
  return result;
}

/// Most such requests say nothing by their item.
std::unique_ptr<access::transfer> spread_table::tell_agent(fabric::stream& in, const char* name, move_operation what,
                                                           std::uint64_t item) const {
  moved_keys one(ranks_->rank_name(agent_), what, 0);
  one.add(item, {});
  return ask_agent(in, name, std::move(one));
}

std::unique_ptr<access::transfer> spread_table::settle(fabric::stream& in) {
  return tell_agent(in, "store_worker_flush", move_operation::settle);
}

// ---- copies

/// A notice is not waited for, but by send_pushes(), and if there are many: workers may push faster than a home serves.
void spread_table::notify(std::unique_ptr<access::transfer> notice) {
  constexpr std::size_t most_notices = 16;
  notices_.add(std::make_shared<access::started>(notifying_, std::move(notice)));
  notices_.limit(most_notices);  // an interrupt of this wait leaves the notice on its way
}

/// An object of this node does what is due.
void spread_table::wake(int rank, fabric::object_name object, const char* name, move_operation what) {
  if (rank == rank_) return ranks_->through().wake();
  moved_keys nothing(ranks_->rank_name(rank), what, static_cast<std::uint64_t>(node_.index));
  nothing.add(0, {});
  auto notice = std::make_unique<access::owners_transfer>(ranks_, name, notifying_.get());
  notice->add(rank, std::make_unique<access::item_requests<moved_keys>>(object, std::move(nothing)));
  notify(std::move(notice));
}

/// Tells a home of this node that keys have changed of which other nodes have copies.
void spread_table::tell_of_changes(int home, std::span<const std::int64_t> slots) {
  if (!slots.empty() && changed_[static_cast<std::size_t>(node_.node_rank(home))].add(slots, barriers_))
    wake(home, objects_.homes, "store_worker_push", move_operation::changed);
}

/// The agent may be dead: then there are no copies.
void spread_table::wait_for_agent(const char* name, move_operation what, std::uint64_t item) const {
  if (!held_->may_have_copies()) return;
  const auto error = watchdog::error_of([&] { tell_agent(*notifying_, name, what, item)->wait(); });
  if (error) base::log(SYNCYTE_LOG_INFO, "copies of keys were given up: {}", error->what());
}

void spread_table::send_pushes() {
  notices_.await_ends();
  wait_for_agent("store_sync", move_operation::send_pushes);
}

void spread_table::renew_copies() { wait_for_agent("store_sync", move_operation::renew_copies, ++barriers_); }

}  // namespace syncyte::kv
