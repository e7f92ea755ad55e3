// SPDX-License-Identifier: BSD-3-Clause
// Requests about items and their owner's view of them, without a network.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "access/item_requests.hpp"
#include "core_world.hpp"

namespace {

using namespace syncyte;

/// Items of any sizes whose data are bytes.
struct byte_items {
  std::string owner_name() const { return "rank 1"; }
  std::uint16_t operation() const { return 7; }
  bool happens_once() const { return !is_read; }
  bool reads() const { return is_read; }
  std::span<const std::byte> own() const { return prefix; }
  std::size_t size() const { return offsets.size(); }
  std::size_t most_together() const { return most; }
  std::uint64_t offset(std::size_t i) const { return offsets[i]; }
  std::size_t bytes(std::size_t i) const { return sizes[i]; }
  std::array<std::uint64_t, 2> arguments(std::size_t i) const { return {i, 5}; }
  std::byte* at(std::size_t i) const {
    return data->data() +
           std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(i), std::size_t{0});
  }
  std::size_t bytes_of(std::size_t first, std::size_t count) const {
    return static_cast<std::size_t>(at(first + count) - at(first));
  }
  void write(std::size_t first, std::size_t count, std::byte* to) const {
    std::memcpy(to, at(first), bytes_of(first, count));
  }
  void read(std::size_t first, std::size_t count, const std::byte* from) const {
    std::memcpy(at(first), from, bytes_of(first, count));
  }

  bool is_read;
  std::vector<std::byte> prefix;
  std::size_t most;
  std::vector<std::uint64_t> offsets;
  std::vector<std::size_t> sizes;
  std::vector<std::byte>* data;
};

std::byte byte_at(std::uint64_t offset, std::size_t place) { return static_cast<std::byte>(offset * 7 + place); }

/// Offsets that are multiples of `unit` below `end`.
byte_items random_items(bool reads, std::size_t count, std::uint64_t unit, std::uint64_t end, std::size_t longest,
                        std::vector<std::byte>& data) {
  std::mt19937_64 random(count + unit);
  byte_items made{reads, std::vector<std::byte>(random() % 40), 1 + random() % 300, {}, {}, &data};
  for (std::size_t i = 0; i < count; ++i) {
    made.offsets.push_back(random() % (end / unit) * unit);
    made.sizes.push_back(random() % (longest + 1));
  }
  data.assign(std::accumulate(made.sizes.begin(), made.sizes.end(), std::size_t{0}), std::byte{0});
  return made;
}

/// Sends all requests of items whose data are byte_at(); returns how many there were.
std::size_t exchange(const byte_items& items) {
  if (!items.reads())
    for (std::size_t i = 0; i < items.size(); ++i)
      for (std::size_t k = 0; k < items.bytes(i); ++k) items.at(i)[k] = byte_at(items.offset(i), k);
  access::item_requests<byte_items> requests({3, 4}, items);
  std::size_t item = 0, messages = 0;
  for (; const auto request = requests.next(); ++messages) {
    EXPECT_LE(request->size, fabric::most_payload);
    EXPECT_EQ(request->header.operation, 7);
    const access::served_items served({request->header, request->payload()}, items.prefix.size());
    EXPECT_LE(served.count(), items.most);
    EXPECT_EQ(served.first_argument(), item);
    EXPECT_EQ(served.second_argument(), 5u);
    std::vector<std::byte> answer;
    const std::byte* given = served.data().data();
    for (std::size_t i = 0; i < served.count(); ++i, ++item) {
      EXPECT_EQ(served.offset(i), items.offset(item));
      for (std::size_t k = 0; k < items.bytes(item); ++k)
        if (items.reads())
          answer.push_back(byte_at(served.offset(i), k));
        else
          EXPECT_EQ(*given++, byte_at(served.offset(i), k));
    }
    EXPECT_EQ(given, served.data().data() + served.data().size());
    EXPECT_LE(answer.size(), fabric::most_payload);
    requests.on_answer(request->header, answer);
  }
  EXPECT_EQ(item, items.size());
  return messages;
}

TEST(items, arrive_as_they_were_sent) {
  for (const bool reads : {false, true})
    for (const std::uint64_t unit : {1, 8, 4096})
      for (const std::uint64_t end : {std::uint64_t{1} << 20, std::uint64_t{1} << 34, std::uint64_t{1} << 60}) {
        std::vector<std::byte> data;
        const byte_items items = random_items(reads, 400, unit, end, 3000, data);
        EXPECT_GE(exchange(items), data.size() / fabric::most_payload);
        if (!reads) continue;
        for (std::size_t i = 0; i < items.size(); ++i)
          for (std::size_t k = 0; k < items.bytes(i); ++k)
            ASSERT_EQ(items.at(i)[k], byte_at(items.offset(i), k)) << "item " << i;
      }
}

TEST(items, without_items_are_no_request) {
  std::vector<std::byte> data;
  EXPECT_EQ(exchange(random_items(true, 0, 8, 1 << 20, 8, data)), 0u);
}

TEST(items, have_short_lists_where_offsets_allow) {
  const auto bytes = [](std::uint64_t bits) { return access::item_coding::of(bits).bytes_each(); };
  EXPECT_EQ(bytes(0), 4u);
  EXPECT_EQ(bytes(UINT32_MAX), 4u);
  EXPECT_EQ(bytes(std::uint64_t{1} << 63), 4u);
  EXPECT_EQ(bytes(std::uint64_t{UINT32_MAX} + 1 + 1), 8u);
  EXPECT_EQ(bytes(std::uint64_t{UINT32_MAX} << 12), 4u);
}

TEST(items, are_refused_if_the_list_does_not_fit) {
  const auto serve = [](std::size_t count, std::uint64_t shift, std::size_t payload, std::size_t own) {
    const fabric::message_header header{.arguments = {access::item_arguments::pack(count, shift)}};
    const std::vector<std::byte> bytes(payload);
    const fabric::served_request request{header, bytes};
    return test::outcome_of([&] { access::served_items(request, own); });
  };
  EXPECT_EQ(serve(3, 0, 12, 0).status, SYNCYTE_SUCCESS);
  EXPECT_EQ(serve(3, 64, 24, 0).status, SYNCYTE_SUCCESS);
  test::expect_error(serve(3, 64, 23, 0), SYNCYTE_ERR_INTERNAL, "3 items with 23 bytes");
  test::expect_error(serve(3, 0, 12, 1), SYNCYTE_ERR_INTERNAL, "3 items with 12 bytes");
  test::expect_error(serve(0, 0, 12, 13), SYNCYTE_ERR_INTERNAL, "0 items");
  test::expect_error(serve(1, 65, 12, 0), SYNCYTE_ERR_INTERNAL, "1 items");
}

}  // namespace
