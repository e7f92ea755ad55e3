// SPDX-License-Identifier: BSD-3-Clause
// Every cell of the tables in kv/key_directory.hpp and kv/node_agent.hpp: what a home and a node's agent do with each
// message in each state. Keys of other nodes in a node's memory (kv/held_keys.hpp).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "kv/key_directory.hpp"
#include "kv/node_agent.hpp"

namespace {

using namespace syncyte;
using place = kv::key_directory::place;

constexpr std::int64_t first = 100, keys = 4, length = 2;
constexpr int own = 0;  // the home's node

std::span<const std::byte> bytes_of(const std::vector<float>& values) { return std::as_bytes(std::span(values)); }

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
  kv::key_directory directory;

  explicit home(kv::intent_effect effect = kv::intent_effect::moves_or_copies)
      : directory(table, {first, keys},
                  {.own = own,
                   .is_dead = [this](int node) { return dead.contains(node); },
                   .is_intended = [this](std::int64_t slot) { return intended.contains(slot); },
                   .is_behind = [this](int node) { return behind.contains(node); },
                   .effect = effect}) {}

  bool acquire(int node, std::int64_t slot) { return directory.acquire(node, slot, kv::wish::localize); }
  bool intend(int node, std::int64_t slot) { return directory.acquire(node, slot, kv::wish::intend); }

  std::vector<std::string> messages() {
    std::vector<std::string> result;
    constexpr const char* names[] = {"grant", "grant copy", "refresh", "recall", "invalidate", "ask back", "refuse"};
    for (const auto& each : directory.take_messages()) {
      std::string text = fmt::format("{} {}: {}", names[static_cast<int>(each.what)], each.node, each.slot);
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

using texts = std::vector<std::string>;
const std::vector<float> ones(length, 1.0f), twos(length, 2.0f);

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
  at.directory.share(1, 101, bytes_of(ones));  // nodes 1 and 2
  EXPECT_EQ(at.directory.find(101), place::at_home);
  at.directory.progress();
  EXPECT_EQ(at.messages(), (texts{"grant copy 1: 101 with 1", "grant copy 2: 101 with 1"}));
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
  at.directory.note_change(100);
  EXPECT_FALSE(at.directory.refresh());
  EXPECT_EQ(at.messages(), texts{});
  writer.end_write(100);
  EXPECT_TRUE(at.directory.refresh());
  EXPECT_EQ(at.messages(), (texts{"refresh 1: 100 with 4 and pushes 8", "refresh 2: 100 with 4 and pushes 1"}));
  at.directory.note_change(101);  // no copies
  EXPECT_TRUE(at.directory.refresh());
}

TEST(key_directory, sends_a_slow_node_only_the_newest_value) {
  sharing_home at;
  at.behind.insert(1);
  at.directory.add_pushes(1, 100, 1, bytes_of(ones));
  EXPECT_EQ(at.after_progress(), texts{"refresh 2: 100 with 1"});
  at.directory.add_pushes(2, 100, 1, bytes_of(ones));
  at.behind.insert(2);
  EXPECT_EQ(at.after_progress(), texts{});
  EXPECT_FALSE(at.directory.refresh());
  EXPECT_EQ(at.directory.stale_copies_of(2), std::vector<std::int64_t>{100});
  EXPECT_TRUE(at.directory.refresh_copy(2, 100));  // for a barrier
  EXPECT_EQ(at.directory.stale_copies_of(2), std::vector<std::int64_t>{});
  EXPECT_EQ(at.messages(), texts{"refresh 2: 100 with 2 and pushes 1"});
  at.behind.clear();
  EXPECT_EQ(at.after_progress(), texts{"refresh 1: 100 with 2 and pushes 1"});
  EXPECT_TRUE(at.directory.refresh());
  EXPECT_EQ(at.messages(), texts{});
}

TEST(key_directory, ends_copies_and_numbers_those_of_a_new_one_anew) {
  sharing_home at;
  at.directory.add_pushes(1, 100, 7, bytes_of(ones));
  EXPECT_TRUE(at.directory.end_copy(1, 100, bytes_of(ones)));
  EXPECT_EQ(at.after_progress(), texts{"refresh 2: 100 with 2"});
  EXPECT_TRUE(at.intend(1, 100));
  EXPECT_EQ(at.after_progress(), texts{"grant copy 1: 100 with 2"});
  at.directory.note_change(100);
  EXPECT_EQ(at.after_progress(), (texts{"refresh 2: 100 with 2", "refresh 1: 100 with 2"}));
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
  at.directory.note_change(100);
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
  at.directory.note_change(100);  // the home's node uses it
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

// ---- the agent

/// An agent of a node without keys of its own, whose messages are texts: "acquire 5".
class node {
  kv::key_layout layout_{1000, length};
  std::vector<std::uint64_t> memory_;

  std::byte* aligned() {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return reinterpret_cast<std::byte*>((address + 63) / 64 * 64);
  }

 public:
  kv::held_keys held;
  kv::node_agent agent;

  explicit node(std::size_t budget = 1024, kv::intent_effect effect = kv::intent_effect::moves_or_copies)
      : memory_((kv::held_keys::memory_bytes(budget, layout_) + 64) / 8),
        held(layout_, aligned(), budget, {1, [](int) { return true; }}),
        agent(held, effect) {}

  std::vector<std::string> messages() {
    std::vector<std::string> result;
    constexpr const char* names[] = {"acquire", "intend", "give back", "give back none",
                                     "share",   "keep",   "pushes",    "end copy"};
    for (auto& each : agent.take_messages()) {
      std::string text = fmt::format("{} {}", names[static_cast<int>(each.what)], each.slot);
      if (!each.values.empty()) text += fmt::format(" with {}", reinterpret_cast<const float*>(each.values.data())[0]);
      if (each.number != 0) text += fmt::format(", number {}", each.number);
      result.push_back(std::move(text));
    }
    return result;
  }
  std::shared_ptr<kv::node_agent::wait> localize(std::int64_t slot, bool is_own = false) {
    auto result = std::make_shared<kv::node_agent::wait>();
    agent.localize(slot, is_own, result);
    return result;
  }
  /// The values of a key, or none.
  std::optional<float> value(std::int64_t slot) {
    float result[length];
    if (held.try_pull(slot, reinterpret_cast<std::byte*>(result)) != kv::access_result::done) return std::nullopt;
    return result[0];
  }
};

TEST(node_agent, asks_for_a_key_once_and_holds_it) {
  node at;
  const auto one = at.localize(5), other = at.localize(5);
  EXPECT_EQ(at.messages(), texts{"acquire 5"});
  EXPECT_EQ(one->keys, 1u);
  EXPECT_EQ(at.value(5), std::nullopt);
  EXPECT_TRUE(at.agent.grant(5, bytes_of(ones)));
  EXPECT_EQ(one->keys + other->keys, 0u);
  EXPECT_EQ(at.value(5), 1.0f);
  EXPECT_EQ(at.held.grants(), 1u);
  EXPECT_TRUE(at.held.holds(5, 1));
  EXPECT_FALSE(at.held.holds(5, 0));
  EXPECT_FALSE(at.held.holds(6, 1));
  EXPECT_EQ(at.localize(5)->keys, 0u);
  EXPECT_EQ(at.messages(), texts{});
}

TEST(node_agent, gives_a_key_back_when_it_is_recalled) {
  node at;
  at.localize(5);
  EXPECT_TRUE(at.agent.recall(5));  // of an earlier grant: the key is on its way back
  at.agent.grant(5, bytes_of(ones));
  EXPECT_EQ(at.held.try_push(5, bytes_of(twos).data()), kv::access_result::done);
  at.messages();
  EXPECT_TRUE(at.agent.recall(5));
  EXPECT_EQ(at.messages(), texts{"give back 5 with 3"});
  EXPECT_EQ(at.value(5), std::nullopt);
  EXPECT_EQ(at.held.size(), 0u);
  EXPECT_TRUE(at.agent.recall(5));  // it has been given back
  EXPECT_EQ(at.messages(), texts{});
}

TEST(node_agent, is_refused) {
  node at;
  const auto waits = at.localize(5), for_own = at.localize(9, true);
  EXPECT_EQ(at.messages(), (texts{"acquire 5", "acquire 9"}));
  at.agent.refuse(5);
  at.agent.refuse(9);
  at.agent.refuse(5);  // nobody waits
  EXPECT_EQ(waits->keys + for_own->keys, 0u);
  EXPECT_EQ(at.value(5), std::nullopt);
  EXPECT_EQ(at.localize(5)->keys, 1u);  // asks again
  at.agent.give_up_if([](std::int64_t slot) { return slot == 5; });
  EXPECT_EQ(at.localize(5)->keys, 1u);
}

TEST(node_agent, gives_back_what_it_did_not_ask_for) {
  node at;
  EXPECT_TRUE(at.agent.grant(5, bytes_of(ones)));
  EXPECT_EQ(at.messages(), texts{"give back 5 with 1"});
  EXPECT_EQ(at.value(5), std::nullopt);
}

TEST(node_agent, gives_back_the_oldest_keys_when_memory_is_used_up) {
  constexpr std::size_t record = 5 * sizeof(std::uint64_t);
  node at(2 * record);
  at.localize(1);
  at.localize(2);
  EXPECT_EQ(at.localize(3)->keys, 0u);  // refused: both others are only asked for
  EXPECT_EQ(at.messages(), (texts{"acquire 1", "acquire 2"}));
  at.agent.grant(1, bytes_of(ones));
  at.agent.grant(2, bytes_of(twos));
  EXPECT_EQ(at.localize(3)->keys, 1u);
  EXPECT_EQ(at.messages(), (texts{"give back 1 with 1", "acquire 3"}));
  EXPECT_EQ(at.value(1), std::nullopt);
  EXPECT_EQ(at.value(2), 2.0f);
  node none(0);
  EXPECT_EQ(none.localize(1)->keys, 0u);
  EXPECT_EQ(none.messages(), texts{});
}

TEST(node_agent, asks_for_a_key_that_a_worker_intends) {
  node at;
  at.agent.intend(5, false);
  at.agent.intend(5, false);
  at.agent.intend(9, true);  // of this node, and elsewhere
  EXPECT_EQ(at.messages(), (texts{"intend 5", "intend 9"}));
  const auto settled = std::make_shared<kv::node_agent::wait>();
  at.agent.settle(settled);
  EXPECT_EQ(settled->keys, 2u);
  at.agent.grant(5, bytes_of(ones));
  at.agent.refuse(9);
  EXPECT_EQ(settled->keys, 0u);
  at.agent.intend(5, false);  // it is here
  EXPECT_EQ(at.messages(), texts{});
  EXPECT_EQ(at.value(5), 1.0f);
}

TEST(node_agent, keeps_a_key_while_a_worker_intends_it) {
  node at(1024, kv::intent_effect::moves);
  EXPECT_TRUE(at.agent.ask_back(5));  // of an earlier grant: the key is on its way back
  at.agent.intend(5, false);
  EXPECT_TRUE(at.agent.ask_back(5));
  EXPECT_EQ(at.messages(), texts{"intend 5"});
  at.agent.grant(5, bytes_of(ones));
  at.agent.intend(5, false);
  EXPECT_TRUE(at.agent.ask_back(5));
  at.agent.release(5);
  EXPECT_TRUE(at.agent.ask_back(5));
  EXPECT_EQ(at.messages(), (texts{"keep 5", "keep 5"}));
  at.agent.release(5);
  at.agent.release(5);  // nothing is open
  EXPECT_TRUE(at.agent.ask_back(5));
  EXPECT_EQ(at.messages(), texts{"give back 5 with 1"});
  at.agent.intend(6, false);
  at.agent.grant(6, bytes_of(twos));
  EXPECT_TRUE(at.agent.recall(6));  // a node localizes it
  EXPECT_EQ(at.messages(), (texts{"intend 6", "give back 6 with 2"}));
}

/// A node whose slot 5 is a copy, of value 1, that a worker intends to use.
class copying_node : public node {
 public:
  copying_node() {
    agent.intend(5, false);
    agent.grant_copy(5, bytes_of(ones));
    messages();
  }
  void push(const std::vector<float>& values) {
    const kv::held_keys::held_key key{record(), {5, 0}};
    kv::absent_keys absent;
    held.push({&key, 1}, held.grants(), values.data(), absent);
    EXPECT_EQ(absent, kv::absent_keys{});
  }
  float pull() {
    const kv::held_keys::held_key key{record(), {5, 0}};
    kv::absent_keys absent;
    float result[length];
    held.pull({&key, 1}, held.grants(), result, absent);
    return absent.empty() ? result[0] : -1;
  }
  texts after_progress() {
    agent.progress();
    return messages();
  }
  void end_intent() { agent.release(5); }

 private:
  std::int64_t record() {
    std::vector<kv::held_keys::held_key> found;
    std::vector<kv::listed_key> others;
    const kv::listed_key key{5, 0};
    held.find({&key, 1}, found, others);
    return found.empty() ? 0 : found.front().record;
  }
};

TEST(node_agent, sends_pushes_to_a_copy_one_after_the_other) {
  copying_node at;
  EXPECT_EQ(at.pull(), 1.0f);
  EXPECT_FALSE(at.held.must_tell_agent());
  at.push(ones);
  at.push(ones);
  EXPECT_TRUE(at.held.must_tell_agent());
  EXPECT_FALSE(at.held.must_tell_agent());  // once
  EXPECT_EQ(at.pull(), 3.0f);
  EXPECT_EQ(at.after_progress(), texts{"pushes 5 with 2, number 1"});
  at.push(twos);
  EXPECT_TRUE(at.held.must_tell_agent());
  EXPECT_EQ(at.after_progress(), texts{});  // the others are perhaps not in the home's value
  const auto before = at.agent.now();
  EXPECT_FALSE(at.agent.has_taken_pushes(before));
  EXPECT_TRUE(at.agent.refresh(5, bytes_of(twos), 0));
  EXPECT_EQ(at.pull(), 6.0f);
  EXPECT_EQ(at.after_progress(), texts{});
  EXPECT_TRUE(at.agent.refresh(5, bytes_of(twos), 1));
  EXPECT_EQ(at.pull(), 4.0f);
  EXPECT_EQ(at.after_progress(), texts{"pushes 5 with 2, number 2"});
  EXPECT_TRUE(at.agent.has_taken_pushes(before));
  EXPECT_EQ(at.pull(), 4.0f);
  EXPECT_TRUE(at.agent.refresh(6, bytes_of(twos), 1));  // no copy
}

TEST(node_agent, ends_a_copy_with_its_last_pushes) {
  copying_node at;
  at.push(ones);
  EXPECT_TRUE(at.agent.recall(5));
  EXPECT_EQ(at.after_progress(), texts{"end copy 5 with 1"});
  EXPECT_EQ(at.pull(), -1.0f);
  EXPECT_TRUE(at.agent.recall(5));
  EXPECT_TRUE(at.agent.invalidate(5));
  EXPECT_EQ(at.after_progress(), texts{});
  copying_node other;
  other.push(ones);
  other.after_progress();
  other.end_intent();
  EXPECT_EQ(other.after_progress(), texts{"end copy 5"});  // those that were sent are not its last ones
  EXPECT_EQ(other.held.size(), 0u);
  copying_node third;
  third.push(ones);
  EXPECT_TRUE(third.agent.invalidate(5));
  EXPECT_EQ(third.after_progress(), (texts{"end copy 5 with 1", "intend 5"}));
}

TEST(node_agent, makes_its_copy_the_main_copy_of_a_key_that_is_localized) {
  copying_node at;
  at.push(ones);
  const auto waits = at.localize(5);
  EXPECT_EQ(at.after_progress(), (texts{"end copy 5 with 1", "acquire 5"}));
  EXPECT_EQ(waits->keys, 1u);
  at.agent.grant(5, bytes_of(twos));
  EXPECT_EQ(waits->keys, 0u);
  EXPECT_TRUE(at.held.holds_main(5));
  copying_node other;
  other.agent.intend(6, false);
  const auto also = other.localize(6);
  EXPECT_TRUE(other.agent.grant_copy(6, bytes_of(ones)));
  EXPECT_EQ(other.after_progress(), (texts{"intend 6", "end copy 6", "acquire 6"}));
  EXPECT_EQ(also->keys, 1u);
}

TEST(node_agent, bounces_operations_on_a_copy) {
  copying_node at;
  EXPECT_EQ(at.value(5), std::nullopt);
  EXPECT_EQ(at.held.try_push(5, bytes_of(ones).data()), kv::access_result::elsewhere);
  EXPECT_EQ(at.held.try_set(5, bytes_of(ones).data()), kv::access_result::elsewhere);
  EXPECT_TRUE(at.held.holds(5, at.held.grants()));
  EXPECT_FALSE(at.held.holds_main(5));
}

TEST(node_agent, shares_a_main_copy_that_it_intends_with_others) {
  node at;
  at.agent.intend(5, false);
  at.agent.grant(5, bytes_of(ones));
  at.messages();
  EXPECT_TRUE(at.agent.ask_back(5));
  EXPECT_EQ(at.messages(), texts{"share 5 with 1"});
  EXPECT_TRUE(at.agent.grant_copy(5, bytes_of(twos)));
  EXPECT_TRUE(at.held.is_copy(5));
  EXPECT_EQ(at.messages(), texts{});
  at.agent.release(5);
  at.agent.progress();
  EXPECT_EQ(at.messages(), texts{"end copy 5"});
  at.agent.intend(6, false);
  at.agent.release(6);
  EXPECT_TRUE(at.agent.grant_copy(6, bytes_of(ones)));  // nobody intends it any more
  at.agent.progress();
  EXPECT_EQ(at.messages(), (texts{"intend 6", "end copy 6"}));
  EXPECT_TRUE(at.agent.grant_copy(7, bytes_of(ones)));  // not asked for
  EXPECT_EQ(at.messages(), texts{"end copy 7"});
}

TEST(node_agent, ends_a_copy_for_which_there_is_no_memory) {
  constexpr std::size_t main_record = 5 * sizeof(std::uint64_t);
  node at(main_record);
  at.agent.intend(5, false);
  const auto settled = std::make_shared<kv::node_agent::wait>();
  at.agent.settle(settled);
  EXPECT_TRUE(at.agent.grant_copy(5, bytes_of(ones)));
  EXPECT_EQ(at.messages(), (texts{"intend 5", "end copy 5"}));
  EXPECT_EQ(settled->keys, 0u);
  at.agent.intend(6, false);
  EXPECT_TRUE(at.agent.grant(6, bytes_of(ones)));
  EXPECT_EQ(at.value(6), 1.0f);
}

TEST(node_agent, loses_the_pushes_of_a_copy_whose_writer_has_died) {
  copying_node at;
  at.push(ones);
  at.agent.give_up_if([](std::int64_t slot) { return slot == 5; });  // the home has died
  EXPECT_EQ(at.pull(), -1.0f);
  at.messages();
  EXPECT_EQ(at.after_progress(), texts{});
}

TEST(node_agent, copies_come_and_go_in_flat_memory) {
  node at(10 * 5 * sizeof(std::uint64_t));
  for (int round = 0; round < 50000; ++round) {
    const std::int64_t slot = round * 7919 % 1000;
    at.agent.intend(slot, false);
    round % 3 == 0 ? at.agent.grant(slot, bytes_of(ones)) : at.agent.grant_copy(slot, bytes_of(ones));
    ASSERT_TRUE(at.held.holds(slot, at.held.grants())) << round;  // also after others of the other kind
    at.agent.release(slot);
    at.agent.progress();
    at.messages();
    ASSERT_LE(at.held.size(), 20u);
  }
}

TEST(node_agent, localizes_a_key_whose_intent_is_refused) {
  node at;
  at.agent.intend(5, false);
  const auto waits = at.localize(5);
  EXPECT_EQ(at.messages(), texts{"intend 5"});
  at.agent.refuse(5);
  EXPECT_EQ(at.messages(), texts{"acquire 5"});
  EXPECT_EQ(waits->keys, 1u);
  at.agent.refuse(5);
  EXPECT_EQ(at.messages(), texts{});
  EXPECT_EQ(waits->keys, 0u);
}

TEST(node_agent, gives_back_first_what_nobody_intends) {
  constexpr std::size_t record = 5 * sizeof(std::uint64_t);
  node at(2 * record);
  at.agent.intend(1, false);
  at.localize(2);
  at.agent.grant(1, bytes_of(ones));
  at.agent.grant(2, bytes_of(twos));
  at.messages();
  at.agent.intend(3, false);
  EXPECT_EQ(at.messages(), (texts{"give back 2 with 2", "intend 3"}));
  at.agent.grant(3, bytes_of(ones));
  at.agent.intend(4, false);  // both others are intended
  EXPECT_EQ(at.messages(), texts{});
  EXPECT_EQ(at.localize(5)->keys, 1u);
  const texts found = at.messages();
  EXPECT_EQ(found.back(), "acquire 5");
  EXPECT_EQ(found.size(), 2u);
}

TEST(node_agent, memory_stays_flat_while_keys_come_and_go) {
  node at(10 * 5 * sizeof(std::uint64_t));
  for (int round = 0; round < 100000; ++round) {
    const std::int64_t slot = round * 7919 % 1000;
    if (at.value(slot)) continue;
    ASSERT_EQ(at.localize(slot)->keys, 1u) << round;
    at.agent.grant(slot, bytes_of(ones));
    ASSERT_EQ(at.value(slot), 1.0f);
    ASSERT_TRUE(round % 3 != 0 || at.agent.recall(slot));
    at.messages();
    ASSERT_LE(at.held.size(), 10u);
  }
}

/// An operation that has read the number of a grant must find the key: otherwise it asks the home for it, and the
/// worker's next operation may be done here before.
TEST(held_keys, are_found_once_their_grant_is_counted) {
  constexpr std::int64_t many = 20, long_vector = 5000;
  const kv::key_layout layout(many, long_vector);
  const std::size_t budget = many * (long_vector / 2 + 8) * sizeof(std::uint64_t);
  const auto values = std::vector<float>(long_vector, 1.0f);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint64_t> memory(kv::held_keys::memory_bytes(budget, layout) / 8);
    kv::held_keys held(layout, reinterpret_cast<std::byte*>(memory.data()), budget, {0, [](int) { return true; }});
    std::thread agent([&] {
      for (std::int64_t slot = 0; slot < many; ++slot) held.add(slot, held.reserve(slot), bytes_of(values));
    });
    bool was_found = true;
    for (std::uint64_t number = 0; number < many && was_found;) {
      number = held.grants();
      was_found = number == 0 || held.holds(static_cast<std::int64_t>(number) - 1, number);
    }
    agent.join();
    ASSERT_TRUE(was_found);
  }
}

}  // namespace
