// SPDX-License-Identifier: BSD-3-Clause
// Every cell of the table in kv/node_agent.hpp: what a node's agent does with each message in each state. Keys of other
// nodes in a node's memory (kv/held_keys.hpp).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kv/node_agent.hpp"
#include "move_texts.hpp"

namespace {

using namespace syncyte;
using test::bytes_of;
using test::length;
using test::ones;
using test::texts;
using test::twos;

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
        held(layout_, aligned(), budget, {1, [](int process) { return process != 7; }}),
        agent(held, effect) {}

  /// Process 7, which has died, holds the lock of a record.
  bool lock(std::int64_t record) {
    kv::key_locks locks(reinterpret_cast<std::uint64_t*>(aligned()), {7, [](int) { return true; }});
    return locks.begin_write(record, kv::key_locks::damage::is_refused);
  }
  std::vector<std::string> messages() {
    std::vector<std::string> result;
    for (auto& each : agent.take_messages()) {
      std::string text = fmt::format("{} {}", name_of(each.what), each.slot);
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
    agent.end_copies();
    agent.send_pushes();
    return messages();
  }
  void end_intent() { agent.release(5); }
  bool lock_by_dead_process() { return lock(record()); }

 private:
  std::int64_t record() {
    std::vector<kv::held_keys::held_key> found;
    std::vector<kv::listed_key> others;
    const kv::listed_key key{5, 0};
    held.find({&key, 1}, found, others);
    return found.empty() ? 0 : found.front().record;
  }
};

/// The agent may come to a copy by a slot that it remembers from before, after a worker has put the copy into the list
/// of dirty ones, and before it takes the list. A copy that stood in the list twice would make it a circle.
TEST(node_agent, takes_pushes_to_a_copy_that_stands_in_the_list_of_dirty_ones) {
  copying_node at;
  float taken[length];
  std::uint8_t number = 0;
  for (int round = 1; round <= 3; ++round) {
    at.push(ones);
    ASSERT_EQ(at.held.take_pushes(5, reinterpret_cast<std::byte*>(taken), number), kv::access_result::done);
    EXPECT_EQ(taken[0], 1.0f);
    at.push(ones);
    const auto dirty = at.held.take_dirty();
    for (const std::int64_t slot : dirty) EXPECT_EQ(slot, 5);
    EXPECT_GE(dirty.size(), 1u);
    EXPECT_EQ(at.held.refresh(5, bytes_of(twos), number), kv::access_result::done_shared);
    ASSERT_EQ(at.held.take_pushes(5, reinterpret_cast<std::byte*>(taken), number), kv::access_result::done);
    EXPECT_EQ(at.held.refresh(5, bytes_of(twos), number), kv::access_result::done_shared);
    EXPECT_EQ(at.held.take_dirty(), std::vector<std::int64_t>{});
  }
}

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
  EXPECT_EQ(other.after_progress(), texts{"end copy none 5"});  // those that were sent are not its last ones
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
  EXPECT_EQ(other.after_progress(), (texts{"intend 6", "end copy none 6", "acquire 6"}));
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
  const auto grant = at.held.granted(5);
  EXPECT_TRUE(at.agent.ask_back(5));
  EXPECT_EQ(at.messages(), texts{"share 5 with 1"});
  EXPECT_FALSE(at.held.holds_main(5));
  EXPECT_TRUE(at.held.holds(5, grant));  // all the time
  EXPECT_TRUE(at.held.may_have_copies());
  EXPECT_TRUE(at.agent.refresh(5, bytes_of(twos), 0));
  at.agent.release(5);
  at.agent.end_copies();
  EXPECT_EQ(at.messages(), texts{"end copy none 5"});
  at.agent.intend(6, false);
  at.agent.release(6);
  EXPECT_TRUE(at.agent.grant_copy(6, bytes_of(ones)));  // nobody intends it any more
  at.agent.end_copies();
  EXPECT_EQ(at.messages(), (texts{"intend 6", "end copy none 6"}));
  EXPECT_TRUE(at.agent.grant_copy(7, bytes_of(ones)));  // not asked for
  EXPECT_EQ(at.messages(), texts{"end copy none 7"});
}

TEST(node_agent, gives_a_main_copy_back_if_there_is_no_memory_for_another_copy) {
  constexpr std::size_t main_record = 5 * sizeof(std::uint64_t);
  node at(2 * main_record);
  at.agent.intend(5, false);
  at.agent.grant(5, bytes_of(ones));
  at.messages();
  EXPECT_TRUE(at.agent.ask_back(5));
  EXPECT_EQ(at.messages(), texts{"give back 5 with 1"});
  EXPECT_FALSE(at.held.holds(5, at.held.grants()));
}

TEST(node_agent, gives_back_a_damaged_key_that_it_intends_with_others) {
  node at;
  at.agent.intend(5, false);
  at.agent.grant(5, bytes_of(ones));
  at.messages();
  std::vector<kv::held_keys::held_key> found;
  std::vector<kv::listed_key> others;
  const kv::listed_key key{5, 0};
  at.held.find({&key, 1}, found, others);
  ASSERT_TRUE(at.lock(found.at(0).record));
  at.agent.ask_back(5);  // finds the damage
  EXPECT_TRUE(at.agent.ask_back(5));
  EXPECT_EQ(at.messages(), texts{"give back none 5"});
}

TEST(node_agent, ends_a_copy_for_which_there_is_no_memory) {
  constexpr std::size_t main_record = 5 * sizeof(std::uint64_t);
  node at(main_record);
  at.agent.intend(5, false);
  const auto settled = std::make_shared<kv::node_agent::wait>();
  at.agent.settle(settled);
  EXPECT_TRUE(at.agent.grant_copy(5, bytes_of(ones)));
  EXPECT_EQ(at.messages(), (texts{"intend 5", "end copy none 5"}));
  EXPECT_EQ(settled->keys, 0u);
  at.agent.intend(6, false);
  EXPECT_TRUE(at.agent.grant(6, bytes_of(ones)));
  EXPECT_EQ(at.value(6), 1.0f);
}

TEST(node_agent, drops_the_copies_of_a_dead_home) {
  copying_node at;
  at.push(ones);
  at.agent.give_up_if([](std::int64_t slot) { return slot == 5; });  // the home has died
  EXPECT_EQ(at.pull(), -1.0f);
  at.messages();
  EXPECT_EQ(at.after_progress(), texts{});
}

TEST(node_agent, loses_the_pushes_of_a_copy_whose_writer_has_died) {
  copying_node at;
  at.push(ones);
  ASSERT_TRUE(at.lock_by_dead_process());
  EXPECT_FALSE(at.agent.recall(5));  // finds the damage
  EXPECT_TRUE(at.agent.recall(5));
  EXPECT_EQ(at.after_progress(), texts{"end copy none 5"});
  EXPECT_EQ(at.pull(), -1.0f);
  EXPECT_EQ(at.localize(5)->keys, 1u);
}

TEST(node_agent, copies_come_and_go_in_flat_memory) {
  node at(10 * 5 * sizeof(std::uint64_t));
  for (int round = 0; round < 50000; ++round) {
    const std::int64_t slot = round * 7919 % 1000;
    at.agent.intend(slot, false);
    round % 3 == 0 ? at.agent.grant(slot, bytes_of(ones)) : at.agent.grant_copy(slot, bytes_of(ones));
    ASSERT_TRUE(at.held.holds(slot, at.held.grants())) << round;  // also after others of the other kind
    at.agent.release(slot);
    at.agent.end_copies();
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

/// The second copy is in the list of dirty ones when it ends.
TEST(node_agent, is_not_idle_before_it_has_looked_at_ended_copies) {
  node at;
  const std::vector<kv::listed_key> list{{5, 0}, {6, length}};
  for (const auto& each : list) {
    at.agent.intend(each.slot, false);
    at.agent.grant_copy(each.slot, bytes_of(ones));
  }
  std::vector<kv::held_keys::held_key> found;
  std::vector<kv::listed_key> others;
  at.held.find(list, found, others);
  const std::vector<float> values(2 * length, 1.0f);
  kv::absent_keys absent;
  at.held.push(found, at.held.grants(), values.data(), absent);
  for (const auto& each : list) at.agent.release(each.slot);
  at.agent.end_copies();
  EXPECT_EQ(at.messages(), (texts{"intend 5", "intend 6", "end copy 5 with 1", "end copy 6 with 1"}));
  EXPECT_EQ(at.agent.is_idle(), !at.agent.has_pushes());
  at.agent.send_pushes();
  EXPECT_EQ(at.messages(), texts{});
  EXPECT_FALSE(at.agent.has_pushes());
  EXPECT_TRUE(at.agent.is_idle());
}

TEST(node_agent, asks_again_for_a_key_that_was_put_off_when_the_time_is_over) {
  node at;
  at.agent.intend(5, false);
  EXPECT_EQ(at.messages(), texts{"intend 5"});
  at.agent.put_off(5);
  at.agent.release(5);
  at.agent.intend(5, false);
  EXPECT_EQ(at.messages(), texts{});
  const auto by = at.localize(5);
  EXPECT_EQ(by->keys, 1u);
  EXPECT_EQ(at.messages(), texts{"acquire 5"});
  at.agent.refuse(5);
  EXPECT_FALSE(at.agent.is_idle());
  EXPECT_EQ(at.agent.time_without_intents(std::chrono::milliseconds(400)), std::chrono::milliseconds(600));
  at.agent.begin(std::chrono::milliseconds(999));
  at.agent.ask_again();
  EXPECT_EQ(at.messages(), texts{});
  at.agent.begin(std::chrono::milliseconds(1000));
  at.agent.ask_again();  // for the open window
  EXPECT_EQ(at.messages(), texts{"intend 5"});
  EXPECT_LT(at.agent.time_without_intents({}), std::chrono::nanoseconds(0));
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
