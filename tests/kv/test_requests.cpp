// SPDX-License-Identifier: BSD-3-Clause
// Requests for keys of another node, and their answers, without a network: an owner's table_target serves them at once.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "access/item_requests.hpp"
#include "kv/key_items.hpp"
#include "kv/keys_by_owner.hpp"
#include "kv/table_target.hpp"
#include "reference.hpp"

namespace {

using namespace syncyte;
using kv::sort_by_owner;
using table_operation = const kv::operation*;
using key_list = std::vector<std::int64_t>;

constexpr std::int64_t first = 7;  // the owner's first key

/// Blocks of keys, so that keys are their own slots.
kv::key_homes homes_of(std::int64_t keys, int ranks) { return kv::key_homes(distribution::axis::equal(keys, ranks)); }

using key_requests = access::item_requests<kv::key_items>;

/// The requests for a list that has one owner, whose slots begin at `first_slot`.
key_requests requests_for(table_operation what, const key_list& keys, const kv::key_layout& layout, float* values,
                          std::int64_t first_slot = first) {
  const auto sorted =
      std::make_shared<const kv::keys_by_owner>(sort_by_owner(homes_of(layout.keys(), 1), layout, keys));
  EXPECT_LE(sorted->parts().size(), 1u);
  const auto mine = sorted->parts().empty() ? std::span<const kv::listed_key>() : sorted->parts()[0].elements;
  return {fabric::object_name{}, kv::key_items({1, first_slot, nullptr, nullptr}, *what, sorted, mine, layout, values)};
}

/// An owner of the keys from `first` on.
class owner {
 public:
  explicit owner(const kv::key_layout& layout)
      : layout_(layout),
        keys_{first, layout.keys() - first},
        words_(static_cast<std::size_t>(keys_.count)),
        values_(layout.first(layout.keys()) - layout.first(first)),
        target_(seen_by(0), keys_, 0, nullptr) {}

  kv::table seen_by(int process) {
    return {layout_, words_.data(), values_.data(), {process, [](int) { return true; }}, first};
  }
  kv::key_locks locks(int process) {
    return {words_.data(), {process, [](int) { return true; }}, first};
  }

  /// Runs an operation; returns the bytes of all messages.
  std::size_t run(table_operation what, const key_list& keys, float* values) {
    key_requests requests = requests_for(what, keys, layout_, values);
    std::size_t bytes = 0;
    while (const auto request = requests.next()) {
      fabric::served_request served{request->header, request->payload()};
      fabric::answer reply;
      EXPECT_TRUE(target_.serve(served, reply));
      const auto answer = reply.to_message({});
      EXPECT_LE(std::max(request->size, answer->size), fabric::most_payload);
      EXPECT_EQ(request->header.changes, 1u);  // a pull too: repeated, it must not see later pushes
      requests.on_answer(request->header, answer->payload());
      bytes += request->size + answer->size + 2 * sizeof(fabric::message_header);
    }
    return bytes;
  }

  kv::table_target& target() { return target_; }

 private:
  kv::key_layout layout_;
  kv::key_range keys_;
  std::vector<std::uint64_t> words_, values_;
  kv::table_target target_;
};

key_list random_keys(int round, std::int64_t count, std::int64_t keys) {
  auto result = reference::random_rows<std::int64_t>(11, round, count, keys - first);
  for (auto& key : result) key += first;
  return result;
}

/// Random pushes and sets by requests, against the same ones in a table; then everything is pulled.
void check_against_table(const kv::key_layout& layout, std::int64_t most_keys) {
  owner remote(layout), local(layout);
  kv::table expected = local.seen_by(0);
  for (int round = 0; round < 12; ++round) {
    const key_list keys = random_keys(round, 1 + round * most_keys / 12, layout.keys());
    expected.require_inside(keys);
    std::vector<float> values(static_cast<std::size_t>(expected.count_values(keys)));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(reference::random_integer(5, round, static_cast<std::int64_t>(i), -9, 9));
    const bool sets = round % 3 == 1;
    remote.run(sets ? &kv::set : &kv::push, keys, values.data());
    sets ? expected.set(keys, values.data()) : expected.push(keys, values.data());
    std::vector<float> found(values.size(), -1), right(values.size());
    remote.run(&kv::pull, keys, found.data());
    expected.pull(keys, right.data());
    ASSERT_EQ(found, right) << "round " << round;
  }
}

TEST(key_requests, equal_the_table_for_vectors_of_one_length) {
  for (const std::int64_t length : {1, 3, 16, 5000}) check_against_table(kv::key_layout(300, length), 200);
  check_against_table(kv::key_layout(40, 16), 20000);  // several requests for each operation
  check_against_table(kv::key_layout(9, kv::key_items::most_values), 5);
}

TEST(key_requests, equal_the_table_for_vectors_of_any_length) {
  key_list lengths(500);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = 1 + static_cast<std::int64_t>(i * i % 1300);
  const auto places = kv::key_layout::places(lengths);
  check_against_table(kv::key_layout{std::span<const std::int64_t>(places)}, 3000);
}

TEST(key_requests, take_little_more_than_the_values) {
  const kv::key_layout layout(100000, 16);
  owner remote(layout);
  for (const std::int64_t count : {100, 1000, 20000}) {
    const key_list keys = random_keys(1, count, layout.keys());
    std::vector<float> values(16 * keys.size());
    for (const auto what : {&kv::pull, &kv::push, &kv::set})
      EXPECT_LT(static_cast<double>(remote.run(what, keys, values.data())),
                1.15 * static_cast<double>(values.size() * sizeof(float)));
  }
}

/// A request for these keys, with the values 1, 2, 3 and so on.
std::shared_ptr<fabric::message> request_for(table_operation what, const key_list& keys, const kv::key_layout& layout,
                                             std::vector<float>& values) {
  values.resize(keys.size() * static_cast<std::size_t>(layout.length(0)));
  std::iota(values.begin(), values.end(), 1.0f);
  return requests_for(what, keys, layout, values.data()).next();
}

TEST(key_requests, go_on_after_a_key_was_locked) {
  const kv::key_layout layout(20, 3);
  owner remote(layout);
  std::vector<float> values;
  kv::key_locks other = remote.locks(1);
  fabric::answer reply;
  const auto push = request_for(&kv::push, {8, 9, 9, 10, 11}, layout, values);
  fabric::served_request served{push->header, push->payload()};
  other.begin_write(9, kv::key_locks::damage::is_refused);
  EXPECT_FALSE(remote.target().serve(served, reply));
  EXPECT_EQ(served.done, 1u);
  EXPECT_FALSE(remote.target().serve(served, reply));
  other.end_write(9);
  other.begin_write(11, kv::key_locks::damage::is_refused);
  EXPECT_FALSE(remote.target().serve(served, reply));
  EXPECT_EQ(served.done, 4u);
  const auto pull = request_for(&kv::pull, {8, 11, 10}, layout, values);
  fabric::served_request read{pull->header, pull->payload()};
  EXPECT_FALSE(remote.target().serve(read, reply));
  other.end_write(11);
  EXPECT_TRUE(remote.target().serve(served, reply));
  const key_list keys{8, 9, 10, 11};
  std::vector<float> found(12);
  remote.run(&kv::pull, keys, found.data());
  EXPECT_EQ(found, (std::vector<float>{1, 2, 3, 4 + 7, 5 + 8, 6 + 9, 10, 11, 12, 13, 14, 15}));
}

TEST(key_requests, have_wide_numbers_where_the_owner_has_many_keys) {
  const std::int64_t many = std::int64_t{1} << 40;
  const kv::key_layout layout(many, 1);
  const key_list keys{many - 1, 3};
  float value = 0;
  key_requests requests = requests_for(&kv::pull, keys, layout, &value, 3);
  const auto request = requests.next();
  ASSERT_EQ(request->size, 16u);
  std::int64_t sent[2];
  std::memcpy(sent, request->payload().data(), sizeof sent);
  EXPECT_EQ(sent[0], many - 4);
  EXPECT_EQ(sent[1], 0);
}

TEST(key_requests, are_refused_if_they_do_not_fit_the_table) {
  const kv::key_layout layout(20, 3);
  owner remote(layout);
  std::vector<float> values;
  const auto push = request_for(&kv::push, {8, 9}, layout, values);
  fabric::answer reply;
  fabric::served_request shorter{push->header, push->payload().first(push->size - 1)};
  EXPECT_THROW(remote.target().serve(shorter, reply), base::error);
  const std::uint32_t beyond = 13;
  std::memcpy(push->payload().data(), &beyond, sizeof beyond);
  fabric::served_request wrong{push->header, push->payload()};
  EXPECT_THROW(remote.target().serve(wrong, reply), base::error);
}

using places = std::vector<std::pair<std::int64_t, std::int64_t>>;  // keys with the places of their values

std::vector<std::pair<int, places>> sort_of(const kv::key_homes& homes, const kv::key_layout& layout,
                                            const key_list& keys) {
  std::vector<std::pair<int, places>> found;
  const kv::keys_by_owner sorted = sort_by_owner(homes, layout, keys);
  for (const auto& part : sorted.parts()) {
    found.emplace_back(part.owner, places());
    for (const kv::listed_key& each : part.elements) found.back().second.emplace_back(each.slot, each.place);
  }
  return found;
}

/// Several times, because the counters of the thread are used again, also for fewer ranks.
TEST(keys_by_owner, keep_their_order) {
  const key_list lengths{2, 1, 4, 1, 1, 3};
  const auto begins = kv::key_layout::places(lengths);
  const kv::key_layout layout{std::span<const std::int64_t>(begins)};
  const auto four = homes_of(6, 4), two = homes_of(6, 2);
  const std::vector<std::pair<int, places>> of_four{
      {0, {{0, 3}, {1, 9}, {0, 14}}}, {1, {{2, 5}, {3, 13}}}, {3, {{5, 0}, {5, 10}}}};
  const std::vector<std::pair<int, places>> of_two{{1, {{4, 0}, {3, 1}}}};
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(sort_of(four, layout, {5, 0, 2, 1, 5, 3, 0}), of_four);
    EXPECT_EQ(sort_of(two, layout, {4, 3}), of_two);
    EXPECT_TRUE(sort_of(four, layout, {}).empty());
  }
}

TEST(keys_by_owner, have_slots_at_their_homes) {
  const kv::key_homes homes(distribution::axis::cyclic(7, 3));  // slots of 0, 3, 6; 1, 4; 2, 5
  const std::vector<std::pair<int, places>> expected{{0, {{1, 0}, {2, 2}}}, {2, {{6, 1}}}};
  EXPECT_EQ(sort_of(homes, kv::key_layout(7, 1), {3, 5, 6}), expected);
  for (std::int64_t key = 0; key < 7; ++key) EXPECT_EQ(homes.key(homes.owner(key), homes.slot(key)), key);
}

TEST(keys_by_owner, have_homes_at_other_ranks_than_their_parts) {
  constexpr int ranks[] = {1, 2, 0, 2, 0, 1};  // of the parts, and the parts of the ranks
  const kv::key_homes homes(distribution::axis::cyclic(7, 3), {std::shared_ptr<void>(), ranks});
  for (std::int64_t key = 0; key < 7; ++key) {
    const int owner = ranks[key % 3];
    EXPECT_EQ(homes.owner(key), owner);
    EXPECT_EQ(homes.slot(key) - homes.slots(owner).first, key / 3);
    EXPECT_EQ(homes.key(owner, homes.slot(key)), key);
  }
}

}  // namespace
