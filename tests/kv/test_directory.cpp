// SPDX-License-Identifier: BSD-3-Clause
// Every cell of the tables in kv/key_directory.hpp: what a home does with each message in each state.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kv/key_directory.hpp"
#include "move_texts.hpp"

namespace {

using namespace syncyte;
using place = kv::key_directory::place;
using test::bytes_of;
using test::length;
using test::ones;
using test::texts;
using test::twos;

constexpr std::int64_t first = 100, keys = 4;
constexpr int own = 0;  // the home's node

/// A home of the slots from `first` on, whose messages are texts: "grant 1: 100".
class home {
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(keys);
  std::vector<std::uint64_t> values_ = std::vector<std::uint64_t>(keys * length / 2);

 public:
  kv::table table{kv::key_layout(first + keys, length),
                  words_.data(),
                  values_.data(),
                  {0, [](int process) { return process != 7; }},
                  first};
  std::set<int> dead;
  std::set<std::int64_t> intended;  // by workers of the home's node
  std::set<int> behind;             // nodes that have not taken refreshes
  std::chrono::nanoseconds now{};
  kv::key_directory directory;

  explicit home(kv::intent_effect effect = kv::intent_effect::moves_or_copies)
      : directory(table, {first, keys},
                  {.own = own,
                   .is_dead = [this](int node) { return dead.contains(node); },
                   .is_intended = [this](std::int64_t slot) { return intended.contains(slot); },
                   .is_behind = [this](int node) { return behind.contains(node); },
                   .now = [this] { return now; },
                   .effect = effect}) {}

  bool acquire(int node, std::int64_t slot) { return directory.acquire(node, slot, kv::wish::localize); }
  bool intend(int node, std::int64_t slot) { return directory.acquire(node, slot, kv::wish::intend); }

  std::vector<std::string> messages() {
    std::vector<std::string> result;
    for (const auto& each : directory.take_messages()) {
      std::string text = fmt::format("{} {}: {}", name_of(each.what), each.node, each.slot);
      if (!each.values.empty()) text += fmt::format(" with {}", reinterpret_cast<const float*>(each.values.data())[0]);
      if (each.number != 0) text += fmt::format(" and pushes {}", each.number);
      result.push_back(std::move(text));
    }
    return result;
  }
  kv::key_locks locks_of(int process) {
    return {words_.data(), {process, [](int) { return true; }}, first};
  }
  float value(std::int64_t slot) const {
    float result = 0;
    std::memcpy(&result, directory.values_of(slot).data(), sizeof result);
    return result;
  }
};

syncyte_status_t status_of(const std::function<void()>& action) {
  const auto error = base::error_of(action);
  return error ? error->status() : SYNCYTE_SUCCESS;
}

TEST(key_directory, grants_a_key_that_is_at_home) {
  home at;
  EXPECT_EQ(at.directory.find(100), place::at_home);
  EXPECT_TRUE(at.acquire(2, 100));
  EXPECT_EQ(at.messages(), texts{"grant 2: 100"});
  EXPECT_EQ(at.directory.find(100), place::away);
  EXPECT_EQ(at.directory.holder(100), 2);
  EXPECT_TRUE(at.table.is_elsewhere(100));
  EXPECT_FALSE(at.table.is_elsewhere(101));
  EXPECT_TRUE(at.acquire(own, 101));  // it is there
  EXPECT_EQ(at.messages(), texts{"refuse 0: 101"});
  EXPECT_FALSE(at.table.is_elsewhere(101));
}

TEST(key_directory, waits_for_a_writer_and_refuses_a_damaged_key) {
  home at;
  kv::key_locks writer = at.table.locks();
  ASSERT_TRUE(writer.begin_write(100, kv::key_locks::damage::is_refused));
  EXPECT_FALSE(at.acquire(2, 100));
  writer.end_write(100);
  EXPECT_TRUE(at.acquire(2, 100));
  EXPECT_EQ(at.messages(), texts{"grant 2: 100"});
  ASSERT_TRUE(at.locks_of(7).begin_write(101, kv::key_locks::damage::is_refused));
  EXPECT_FALSE(at.acquire(2, 101));  // finds the damage
  EXPECT_TRUE(at.acquire(2, 101));
  EXPECT_EQ(at.messages(), texts{"refuse 2: 101"});
}

TEST(key_directory, recalls_a_key_for_another_node_and_passes_it_on) {
  home at;
  at.acquire(1, 100);
  at.messages();
  EXPECT_TRUE(at.acquire(2, 100));
  EXPECT_EQ(at.messages(), texts{"recall 1: 100"});
  EXPECT_EQ(at.directory.find(100), place::recalled);
  EXPECT_TRUE(at.acquire(3, 100));  // recalled once only
  EXPECT_EQ(at.messages(), texts{});
  at.directory.give_back(1, 100, bytes_of(ones));
  EXPECT_EQ(at.messages(), (texts{"grant 2: 100", "recall 2: 100"}));  // for node 3
  EXPECT_EQ(at.value(100), 1.0f);
  EXPECT_TRUE(at.table.is_elsewhere(100));
  at.directory.give_back(2, 100, bytes_of(twos));
  EXPECT_EQ(at.messages(), texts{"grant 3: 100"});
  EXPECT_EQ(at.directory.find(100), place::away);
  at.directory.give_back(3, 100, bytes_of(twos));
  EXPECT_EQ(at.directory.find(100), place::at_home);
  EXPECT_EQ(at.messages(), texts{});
  EXPECT_FALSE(at.table.is_elsewhere(100));
}

TEST(key_directory, takes_a_key_home_for_its_own_node) {
  home at;
  at.acquire(1, 100);
  at.messages();
  EXPECT_TRUE(at.acquire(own, 100));
  EXPECT_EQ(at.messages(), texts{"recall 1: 100"});
  at.directory.give_back(1, 100, bytes_of(ones));
  EXPECT_EQ(at.directory.find(100), place::at_home);
  at.directory.progress();
  EXPECT_EQ(at.messages(), texts{"refuse 0: 100"});
}

TEST(key_directory, does_waiting_operations_before_it_grants_a_key_again) {
  home at;
  at.acquire(1, 100);
  at.directory.add_waiting(100);
  at.directory.add_waiting(100);
  at.acquire(2, 100);
  at.messages();
  at.directory.give_back(1, 100, bytes_of(ones));
  at.directory.progress();
  EXPECT_EQ(at.directory.find(100), place::at_home);
  EXPECT_TRUE(at.acquire(3, 100));
  at.directory.progress();
  at.directory.remove_waiting(100);
  at.directory.progress();
  EXPECT_EQ(at.messages(), texts{});
  at.directory.remove_waiting(100);
  at.directory.progress();
  EXPECT_EQ(at.messages(), (texts{"grant 2: 100", "recall 2: 100"}));
}

TEST(key_directory, tries_again_to_grant_a_key_that_is_being_written) {
  home at;
  at.acquire(1, 100);
  at.directory.add_waiting(100);
  at.acquire(2, 100);
  at.directory.give_back(1, 100, bytes_of(ones));
  at.messages();
  kv::key_locks writer = at.table.locks();
  ASSERT_TRUE(writer.begin_write(100, kv::key_locks::damage::is_refused));
  at.directory.remove_waiting(100);
  EXPECT_FALSE(at.directory.progress());
  EXPECT_EQ(at.messages(), texts{});
  writer.end_write(100);
  EXPECT_TRUE(at.directory.progress());
  EXPECT_EQ(at.messages(), texts{"grant 2: 100"});
}

TEST(key_directory, refuses_what_cannot_be) {
  home at;
  EXPECT_EQ(status_of([&] { at.directory.give_back(1, 100, bytes_of(ones)); }), SYNCYTE_ERR_INTERNAL);
  at.acquire(1, 100);
  EXPECT_EQ(status_of([&] { at.acquire(1, 100); }), SYNCYTE_ERR_INTERNAL);
  EXPECT_EQ(status_of([&] { at.directory.give_back(2, 100, bytes_of(ones)); }), SYNCYTE_ERR_INTERNAL);
  at.acquire(2, 100);
  EXPECT_EQ(status_of([&] { at.acquire(1, 100); }), SYNCYTE_ERR_INTERNAL);
  EXPECT_EQ(status_of([&] { at.directory.give_back(2, 100, bytes_of(ones)); }), SYNCYTE_ERR_INTERNAL);
  EXPECT_EQ(at.directory.find(100), place::recalled);
}

TEST(key_directory, loses_keys_with_their_holder_until_they_are_restored) {
  home at;
  at.acquire(1, 100);
  at.acquire(1, 101);
  at.acquire(1, 102);
  at.acquire(2, 101);
  at.messages();
  at.dead.insert(1);
  EXPECT_EQ(at.directory.find(100), place::lost);
  EXPECT_EQ(at.directory.find(101), place::lost);
  at.directory.look_for_deaths();
  EXPECT_EQ(at.messages(), texts{"refuse 2: 101"});
  EXPECT_TRUE(at.acquire(2, 100));
  EXPECT_EQ(at.messages(), texts{"refuse 2: 100"});
  at.directory.restore(100);
  EXPECT_EQ(at.directory.find(100), place::at_home);
  EXPECT_FALSE(at.table.is_elsewhere(100));
  at.directory.give_back(1, 102, {});  // a rank of node 1 has died while it wrote them
  at.dead.clear();
  EXPECT_EQ(at.directory.find(102), place::lost);
}

TEST(key_directory, grants_nothing_to_a_dead_node) {
  home at;
  at.acquire(1, 100);
  at.acquire(2, 100);
  at.acquire(3, 100);
  at.messages();
  at.dead.insert(2);
  at.directory.give_back(1, 100, bytes_of(ones));
  EXPECT_EQ(at.messages().front(), "grant 3: 100");
}

TEST(key_directory, grants_a_key_to_the_one_node_that_intends_it) {
  home at(kv::intent_effect::moves);
  EXPECT_TRUE(at.intend(2, 100));
  EXPECT_EQ(at.messages(), texts{"grant 2: 100"});
  at.intended.insert(101);
  EXPECT_TRUE(at.intend(2, 101));
  EXPECT_EQ(at.messages(), texts{"refuse 2: 101"});
  EXPECT_TRUE(at.intend(own, 101));  // it is there
  EXPECT_EQ(at.messages(), texts{"refuse 0: 101"});
  EXPECT_TRUE(at.acquire(2, 101));  // localize takes it all the same
  EXPECT_EQ(at.messages(), texts{"grant 2: 101"});
}

TEST(key_directory, asks_a_node_for_a_key_that_another_one_intends) {
  home at(kv::intent_effect::moves);
  at.acquire(1, 100);
  at.messages();
  EXPECT_TRUE(at.intend(2, 100));
  EXPECT_EQ(at.messages(), texts{"ask back 1: 100"});
  EXPECT_EQ(at.directory.find(100), place::away);  // operations go there
  EXPECT_TRUE(at.intend(3, 100));                  // asked once only
  EXPECT_EQ(at.messages(), texts{});
  at.directory.keep(1, 100);
  EXPECT_EQ(at.messages(), (texts{"refuse 2: 100", "refuse 3: 100"}));
  at.directory.keep(1, 100);  // it was not asked
  EXPECT_EQ(at.messages(), texts{});
  EXPECT_TRUE(at.intend(2, 100));
  EXPECT_EQ(at.messages(), texts{"ask back 1: 100"});
  at.directory.keep(3, 100);  // an older answer
  at.directory.give_back(1, 100, bytes_of(ones));
  EXPECT_EQ(at.messages(), texts{"grant 2: 100"});
  at.directory.keep(1, 100);
  at.directory.keep(2, 100);
  at.directory.give_back(2, 100, bytes_of(ones));
  at.directory.keep(2, 100);
  EXPECT_EQ(at.directory.find(100), place::at_home);
  EXPECT_EQ(at.messages(), texts{});
}

TEST(key_directory, recalls_for_a_localize_what_it_has_asked_back) {
  home at(kv::intent_effect::moves);
  at.acquire(1, 100);
  at.intend(2, 100);
  at.messages();
  EXPECT_TRUE(at.acquire(3, 100));
  EXPECT_EQ(at.messages(), texts{"recall 1: 100"});
  EXPECT_TRUE(at.intend(4, 100));  // recalled: not asked
  EXPECT_EQ(at.messages(), texts{});
  at.directory.keep(1, 100);  // before the recall came
  EXPECT_EQ(at.messages(), (texts{"refuse 2: 100", "refuse 4: 100"}));
  at.directory.give_back(1, 100, bytes_of(ones));
  EXPECT_EQ(at.messages(), texts{"grant 3: 100"});
  at.intend(2, 100);
  at.intend(4, 100);
  at.messages();
  at.directory.give_back(3, 100, bytes_of(ones));
  EXPECT_EQ(at.messages(), (texts{"grant 2: 100", "ask back 2: 100"}));  // for node 4
  at.dead.insert(2);
  at.directory.look_for_deaths();
  EXPECT_EQ(at.messages(), texts{"refuse 4: 100"});
}

TEST(key_directory, takes_a_key_home_that_its_own_node_intends) {
  home at(kv::intent_effect::moves);
  at.acquire(1, 100);
  at.messages();
  at.intended.insert(100);
  EXPECT_TRUE(at.intend(own, 100));
  EXPECT_TRUE(at.intend(2, 100));
  EXPECT_EQ(at.messages(), texts{"ask back 1: 100"});
  at.directory.add_waiting(100);
  at.directory.give_back(1, 100, bytes_of(ones));
  EXPECT_EQ(at.messages(), (texts{"refuse 0: 100", "refuse 2: 100"}));
  EXPECT_EQ(at.directory.find(100), place::at_home);
  EXPECT_TRUE(at.intend(3, 100));  // behind the operation that waits
  at.directory.remove_waiting(100);
  at.directory.progress();
  EXPECT_EQ(at.messages(), texts{"refuse 3: 100"});
}

// ---- the home, and copies

/// A home whose slot 100 has copies at nodes 1 and 2, and whose messages have been read.
class sharing_home : public home {
 public:
  sharing_home() {
    intended.insert(100);
    intend(1, 100);
    intend(2, 100);
    directory.progress();
    messages();
    intended.clear();
  }
  kv::access_result prepare(int node, bool replaces) { return directory.prepare(node, 100, replaces); }
  texts after_progress() {
    directory.progress();
    directory.refresh([](int) { return true; });
    return messages();
  }
  std::size_t set(const std::vector<float>& values) {
    kv::absent_keys absent;
    const std::vector<kv::listed_key> list{{100, 0}};
    table.set(list, values.data(), absent);
    return 1 - absent.size();
  }
};

TEST(key_directory, gives_copies_of_a_key_that_several_nodes_intend) {
  home at;
  at.intended.insert(100);
  EXPECT_TRUE(at.intend(1, 100));  // the home's node intends it
  EXPECT_EQ(at.messages(), texts{"grant copy 1: 100 with 0"});
  EXPECT_EQ(at.directory.find(100), place::shared);
  EXPECT_FALSE(at.directory.is_away(100));
  at.intended.clear();
  EXPECT_TRUE(at.intend(2, 100));  // node 1 has a copy
  at.directory.progress();
  EXPECT_EQ(at.messages(), texts{"grant copy 2: 100 with 0"});
  at.acquire(1, 101);
  at.intend(2, 101);
  at.messages();
  at.directory.share(1, 101, bytes_of(ones));  // it keeps a copy
  EXPECT_EQ(at.directory.find(101), place::shared);
  at.directory.progress();
  EXPECT_EQ(at.messages(), texts{"grant copy 2: 101 with 1"});
  at.acquire(1, 102);
  at.intend(2, 102);
  at.intend(3, 102);
  at.messages();
  at.directory.give_back(1, 102, bytes_of(ones));  // nodes 2 and 3
  at.directory.progress();
  EXPECT_EQ(at.messages(), (texts{"grant copy 2: 102 with 1", "grant copy 3: 102 with 1"}));
  home copies(kv::intent_effect::copies);
  copies.intend(1, 100);
  EXPECT_EQ(copies.messages(), texts{"grant copy 1: 100 with 0"});
  copies.acquire(1, 101);
  EXPECT_EQ(copies.messages(), texts{"grant 1: 101"});
}

TEST(key_directory, knows_that_the_copy_of_a_recalled_holder_ends) {
  home at;
  at.acquire(1, 100);
  at.intend(2, 100);
  at.acquire(3, 100);
  EXPECT_EQ(at.messages(), (texts{"grant 1: 100", "ask back 1: 100", "recall 1: 100"}));
  at.directory.share(1, 100, bytes_of(ones));  // crosses the recall
  at.directory.note_change(own, 100);
  at.directory.progress();
  at.directory.refresh([](int) { return true; });
  EXPECT_EQ(at.messages(), (texts{"grant copy 2: 100 with 1", "recall 2: 100"}));
  at.directory.end_copy(1, 100, bytes_of(ones));
  at.directory.end_copy(2, 100, bytes_of(ones));
  at.directory.progress();
  EXPECT_EQ(at.messages(), texts{"grant 3: 100"});
  EXPECT_EQ(at.value(100), 3);
}

TEST(key_directory, refuses_a_copy_of_a_damaged_key) {
  home at;
  at.intended.insert(100);
  ASSERT_TRUE(at.locks_of(7).begin_write(100, kv::key_locks::damage::is_refused));
  EXPECT_FALSE(at.intend(2, 100));  // finds the damage
  EXPECT_TRUE(at.intend(2, 100));
  EXPECT_EQ(at.messages(), texts{"refuse 2: 100"});
}

TEST(key_directory, adds_pushes_to_copies_and_makes_all_copies_fresh) {
  sharing_home at;
  EXPECT_TRUE(at.directory.add_pushes(1, 100, 7, bytes_of(ones)));
  EXPECT_EQ(at.after_progress(), (texts{"refresh 1: 100 with 1 and pushes 7", "refresh 2: 100 with 1"}));
  EXPECT_EQ(at.after_progress(), texts{});
  EXPECT_TRUE(at.directory.add_pushes(2, 100, 1, bytes_of(twos)));
  EXPECT_TRUE(at.directory.add_pushes(1, 100, 8, bytes_of(ones)));
  EXPECT_EQ(at.after_progress(), (texts{"refresh 1: 100 with 4 and pushes 8", "refresh 2: 100 with 4 and pushes 1"}));
  kv::key_locks writer = at.table.locks();
  ASSERT_TRUE(writer.begin_write(100, kv::key_locks::damage::is_refused));
  EXPECT_FALSE(at.directory.add_pushes(1, 100, 9, bytes_of(ones)));  // the home's node writes it
  at.directory.note_change(own, 100);
  at.directory.refresh([](int) { return true; });
  EXPECT_EQ(at.messages(), texts{});
  writer.end_write(100);
  at.directory.refresh([](int) { return true; });
  EXPECT_EQ(at.messages(), (texts{"refresh 1: 100 with 4 and pushes 8", "refresh 2: 100 with 4 and pushes 1"}));
  at.directory.note_change(own, 101);  // no copies
  EXPECT_EQ(at.after_progress(), texts{});
}

TEST(key_directory, sends_a_slow_node_only_the_newest_value) {
  sharing_home at;
  at.behind.insert(1);
  at.directory.add_pushes(1, 100, 1, bytes_of(ones));
  EXPECT_EQ(at.after_progress(), texts{"refresh 2: 100 with 1"});
  at.directory.add_pushes(2, 100, 1, bytes_of(ones));
  at.behind.insert(2);
  EXPECT_EQ(at.after_progress(), texts{});
  EXPECT_EQ(at.directory.stale_copies_of(2), std::vector<std::int64_t>{100});
  EXPECT_TRUE(at.directory.refresh_copy(2, 100));  // for a barrier
  EXPECT_TRUE(at.directory.refresh_copy(2, 100));  // it is fresh
  EXPECT_EQ(at.messages(), texts{"refresh 2: 100 with 2 and pushes 1"});
  at.behind.clear();
  EXPECT_EQ(at.after_progress(), texts{"refresh 1: 100 with 2 and pushes 1"});
  EXPECT_EQ(at.after_progress(), texts{});
}

/// Otherwise pushes to them would wait for ever to be in the home's value.
TEST(key_directory, ends_the_copies_of_a_damaged_key) {
  sharing_home at;
  ASSERT_TRUE(at.locks_of(7).begin_write(100, kv::key_locks::damage::is_refused));
  EXPECT_FALSE(at.directory.add_pushes(1, 100, 1, bytes_of(ones)));  // finds the damage
  EXPECT_TRUE(at.directory.add_pushes(1, 100, 1, bytes_of(ones)));
  EXPECT_EQ(at.after_progress(), (texts{"recall 1: 100", "recall 2: 100"}));
  EXPECT_TRUE(at.directory.end_copy(1, 100, bytes_of(ones)));
  EXPECT_TRUE(at.directory.end_copy(2, 100, {}));
  EXPECT_EQ(at.after_progress(), texts{});
  EXPECT_EQ(at.directory.find(100), place::at_home);
  EXPECT_TRUE(at.intend(1, 100));
  EXPECT_EQ(at.messages(), texts{"refuse 1: 100"});
  EXPECT_EQ(at.set(twos), 1u);
  EXPECT_EQ(at.value(100), 2.0f);
}

TEST(key_directory, ends_copies_and_numbers_those_of_a_new_one_anew) {
  sharing_home at;
  at.directory.add_pushes(1, 100, 7, bytes_of(ones));
  EXPECT_TRUE(at.directory.end_copy(1, 100, bytes_of(ones)));
  EXPECT_EQ(at.after_progress(), texts{"refresh 2: 100 with 2"});
  EXPECT_TRUE(at.intend(1, 100));
  EXPECT_EQ(at.after_progress(), texts{"grant copy 1: 100 with 2"});
  at.directory.note_change(own, 100);
  EXPECT_EQ(at.after_progress(), (texts{"refresh 1: 100 with 2", "refresh 2: 100 with 2"}));
  EXPECT_EQ(at.set(ones), 0u);
  EXPECT_TRUE(at.directory.end_copy(1, 100, {}));
  EXPECT_TRUE(at.directory.end_copy(2, 100, {}));
  EXPECT_EQ(at.after_progress(), texts{});
  EXPECT_EQ(at.directory.find(100), place::at_home);
  EXPECT_EQ(at.set(ones), 1u);  // by a worker of the home's node, which needs no answer of the home
}

TEST(key_directory, recalls_the_copy_of_a_worker_whose_operation_comes) {
  sharing_home at;
  EXPECT_EQ(at.prepare(3, false), kv::access_result::done);
  EXPECT_EQ(at.prepare(own, false), kv::access_result::done);
  EXPECT_EQ(at.prepare(1, false), kv::access_result::elsewhere);
  EXPECT_EQ(at.prepare(1, false), kv::access_result::elsewhere);  // recalled once only
  EXPECT_EQ(at.messages(), texts{"invalidate 1: 100"});
  at.directory.note_change(own, 100);
  EXPECT_EQ(at.after_progress(), texts{"refresh 2: 100 with 0"});  // not of the copy that ends
  at.directory.add_waiting(100);
  EXPECT_TRUE(at.intend(3, 100));
  EXPECT_TRUE(at.directory.add_pushes(1, 100, 1, bytes_of(ones)));
  EXPECT_TRUE(at.directory.end_copy(1, 100, bytes_of(ones)));
  EXPECT_TRUE(at.intend(1, 100));
  EXPECT_EQ(at.after_progress(), texts{"refresh 2: 100 with 2"});  // no grant while the operation waits
  EXPECT_EQ(at.prepare(1, false), kv::access_result::done);
  at.directory.remove_waiting(100);
  EXPECT_EQ(at.after_progress(), (texts{"grant copy 3: 100 with 2", "grant copy 1: 100 with 2"}));
}

TEST(key_directory, moves_a_key_to_the_only_node_that_goes_on_to_push) {
  sharing_home at;
  for (int i = 0; i < 40; ++i) at.directory.add_pushes(1, 100, 1, bytes_of(ones));  // node 2 has a copy too
  at.after_progress();
  at.directory.end_copy(2, 100, {});
  for (int i = 0; i < 10; ++i) at.directory.add_pushes(1, 100, 1, bytes_of(ones));
  at.directory.note_change(own, 100);  // the home's node uses it
  for (int i = 0; i < 15; ++i) at.directory.add_pushes(1, 100, 1, bytes_of(ones));
  EXPECT_EQ(at.after_progress().size(), 1u);  // refresh
  at.directory.add_pushes(1, 100, 1, bytes_of(ones));
  EXPECT_EQ(at.after_progress(), texts{"invalidate 1: 100"});
  at.directory.end_copy(1, 100, {});
  at.intend(1, 100);
  EXPECT_EQ(at.after_progress(), texts{"grant 1: 100"});
  sharing_home other;
  other.intended.insert(100);  // by the home's node
  other.directory.end_copy(2, 100, {});
  for (int i = 0; i < 40; ++i) other.directory.add_pushes(1, 100, 1, bytes_of(ones));
  EXPECT_EQ(other.after_progress().size(), 1u);
}

/// A key of two nodes with copies, and barriers.
class turns : public sharing_home {
 public:
  /// Nodes push, and a barrier follows.
  texts step(const std::vector<int>& nodes) {
    for (const int node : nodes) directory.add_pushes(node, 100, 1, bytes_of(ones));
    const texts result = after_progress();
    directory.note_barriers(++barriers_);
    return result;
  }

 private:
  std::uint64_t barriers_ = 0;
};

TEST(key_directory, ends_copies_of_a_key_that_nodes_change_in_turn) {
  turns at;
  for (int i = 0; i < 8; ++i) EXPECT_EQ(at.step({1 + i % 2}).size(), 2u) << i;  // refreshes
  EXPECT_EQ(at.step({1}), (texts{"invalidate 1: 100", "invalidate 2: 100"}));
  at.directory.end_copy(1, 100, bytes_of(ones));
  EXPECT_TRUE(at.intend(1, 100));
  EXPECT_EQ(at.messages(), texts{"put off 1: 100"});
  at.directory.end_copy(2, 100, {});
  at.after_progress();
  EXPECT_TRUE(at.intend(2, 100));
  EXPECT_EQ(at.messages(), texts{"put off 2: 100"});
  EXPECT_TRUE(at.acquire(2, 100));
  EXPECT_EQ(at.after_progress(), texts{"grant 2: 100"});
  EXPECT_TRUE(at.intend(1, 100));  // node 2 is not asked to give it back
  EXPECT_EQ(at.messages(), texts{"put off 1: 100"});
  at.directory.give_back(2, 100, bytes_of(ones));
  at.now += std::chrono::seconds(2);
  at.directory.look_for_deaths();
  EXPECT_TRUE(at.intend(2, 100));
  EXPECT_EQ(at.messages(), texts{"grant 2: 100"});
}

TEST(key_directory, keeps_copies_of_a_key_that_nodes_change_together_or_one_of_them) {
  turns at;
  for (int i = 0; i < 40; ++i) EXPECT_EQ(at.step({1, 2}).size(), 2u) << i;
  for (int i = 0; i < 40; ++i) EXPECT_EQ(at.step({2}).size(), 2u) << i;
  for (int i = 0; i < 40; ++i) EXPECT_EQ(at.step({1 + i / 2 % 2}).size(), 2u) << i;
  sharing_home without_barriers;
  for (int i = 0; i < 40; ++i) without_barriers.directory.add_pushes(1 + i % 2, 100, 1, bytes_of(ones));
  EXPECT_EQ(without_barriers.after_progress().size(), 2u);
}

TEST(key_directory, is_not_idle_before_it_has_looked_at_copies_that_ended_stale) {
  sharing_home at;
  at.directory.end_copy(1, 100, bytes_of(ones));
  at.directory.end_copy(2, 100, bytes_of(ones));
  at.directory.progress();
  at.messages();
  EXPECT_TRUE(at.directory.has_refreshes());
  EXPECT_FALSE(at.directory.is_idle());
  EXPECT_EQ(at.after_progress(), texts{});
  EXPECT_FALSE(at.directory.has_refreshes());
  EXPECT_TRUE(at.directory.is_idle());
}

TEST(key_directory, recalls_all_copies_for_a_set) {
  sharing_home at;
  EXPECT_EQ(at.prepare(own, true), kv::access_result::elsewhere);
  EXPECT_EQ(at.messages(), (texts{"invalidate 1: 100", "invalidate 2: 100"}));
  at.directory.add_waiting(100);
  at.directory.end_copy(2, 100, bytes_of(ones));
  EXPECT_EQ(at.prepare(own, true), kv::access_result::elsewhere);
  at.directory.end_copy(1, 100, bytes_of(ones));
  EXPECT_EQ(at.value(100), 2.0f);
  EXPECT_EQ(at.prepare(own, true), kv::access_result::done);
  EXPECT_EQ(at.directory.find(100), place::at_home);
  EXPECT_EQ(at.set(ones), 1u);
}

TEST(key_directory, recalls_all_copies_before_it_moves_a_key) {
  sharing_home at;
  EXPECT_TRUE(at.acquire(3, 100));
  EXPECT_TRUE(at.intend(4, 100));
  EXPECT_EQ(at.after_progress(), (texts{"recall 1: 100", "recall 2: 100"}));
  at.directory.end_copy(1, 100, bytes_of(ones));
  EXPECT_EQ(at.after_progress(), texts{});
  at.directory.end_copy(2, 100, bytes_of(ones));
  EXPECT_EQ(at.after_progress(), (texts{"grant 3: 100", "ask back 3: 100"}));
  EXPECT_EQ(at.value(100), 2.0f);
  EXPECT_TRUE(at.table.is_elsewhere(100));
  EXPECT_EQ(at.directory.find(100), place::away);
}

TEST(key_directory, forgets_copies_of_a_dead_node) {
  sharing_home at;
  EXPECT_EQ(at.prepare(own, true), kv::access_result::elsewhere);
  at.messages();
  at.directory.end_copy(2, 100, {});
  at.dead.insert(1);
  at.directory.look_for_deaths();
  EXPECT_EQ(at.prepare(own, true), kv::access_result::done);
  EXPECT_EQ(at.directory.find(100), place::at_home);
  EXPECT_EQ(at.after_progress(), texts{});
  EXPECT_TRUE(at.directory.is_idle());
}

TEST(key_directory, refuses_what_cannot_be_of_copies) {
  sharing_home at;
  EXPECT_EQ(status_of([&] { at.intend(1, 100); }), SYNCYTE_ERR_INTERNAL);
  EXPECT_EQ(status_of([&] { at.acquire(2, 100); }), SYNCYTE_ERR_INTERNAL);
  EXPECT_EQ(status_of([&] { at.directory.add_pushes(3, 100, 1, bytes_of(ones)); }), SYNCYTE_ERR_INTERNAL);
  EXPECT_EQ(status_of([&] { at.directory.add_pushes(1, 101, 1, bytes_of(ones)); }), SYNCYTE_ERR_INTERNAL);
  EXPECT_EQ(status_of([&] { at.directory.end_copy(3, 100, {}); }), SYNCYTE_ERR_INTERNAL);
  EXPECT_EQ(status_of([&] { at.directory.give_back(1, 100, bytes_of(ones)); }), SYNCYTE_ERR_INTERNAL);
  EXPECT_EQ(status_of([&] { at.directory.share(1, 101, bytes_of(ones)); }), SYNCYTE_ERR_INTERNAL);
  at.directory.keep(1, 100);
  EXPECT_EQ(at.after_progress(), texts{});
  EXPECT_TRUE(at.acquire(own, 100));  // it is there
  EXPECT_EQ(at.after_progress(), texts{"refuse 0: 100"});
}

}  // namespace
