// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "reference.hpp"
#include "window_world.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::get;
using test::make_window;
using test::outcome_of;
using test::put;
using test::rank;
using test::ranks;

TEST(window, starts_zeroed_and_aligned) {
  const auto memory = make_window(1000 + 64 * static_cast<std::size_t>(rank()));
  const std::byte* mine = memory->pointer(rank());
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mine) % 64, 0u);
  for (std::int64_t i = 0; i < memory->size(rank()); ++i) ASSERT_EQ(mine[i], std::byte{0});
  for (int other = 0; other < ranks(); ++other) EXPECT_EQ(memory->size(other), 1000 + 64 * other);
}

TEST(window, every_rank_writes_to_every_rank) {
  const auto memory = make_window(static_cast<std::size_t>(ranks()) * sizeof(std::int64_t));
  for (int other = 0; other < ranks(); ++other)
    put<std::int64_t>(*memory, other, static_cast<std::size_t>(rank()), 1000 * rank() + other);
  memory->fence();
  for (int from = 0; from < ranks(); ++from) {
    for (int writer = 0; writer < ranks(); ++writer)
      EXPECT_EQ(get<std::int64_t>(*memory, from, static_cast<std::size_t>(writer)), 1000 * writer + from);
    const auto* part = reinterpret_cast<const std::int64_t*>(memory->pointer(from));
    EXPECT_TRUE(part == nullptr || part[0] == from);
  }
  memory->fence();
}

TEST(window, reads_what_the_owner_stored) {
  const auto memory = make_window(8 * 100);
  auto* mine = reinterpret_cast<std::int64_t*>(memory->pointer(rank()));
  for (int i = 0; i < 100; ++i) mine[i] = 100 * rank() + i;
  memory->fence();
  std::vector<std::int64_t> read(50);
  for (int from = 0; from < ranks(); ++from) {
    test::get_bytes(*memory, from, 8 * 25, read.data(), 8 * 50);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(read[static_cast<std::size_t>(i)], 100 * from + 25 + i);
  }
  memory->fence();
}

TEST(window, parts_may_differ_and_be_empty) {
  const auto size_of = [](int which) { return which % 2 == 0 ? std::size_t{0} : 17 * static_cast<std::size_t>(which); };
  const auto memory = make_window(size_of(rank()));
  for (int other = 0; other < ranks(); ++other) {
    ASSERT_EQ(memory->size(other), size_of(other));
    char byte = 'x';
    test::put_bytes(*memory, other, size_of(other), &byte, 0);  // no bytes, at the end of the window
    expect_error(outcome_of([&] { test::put_bytes(*memory, other, size_of(other), &byte, 1); }), SYNCYTE_ERR_INDEX,
                 "has " + std::to_string(size_of(other)) + " bytes");
    if (size_of(other) > 0) test::put_bytes(*memory, other, size_of(other) - 1, &byte, 1);
  }
  memory->fence();
  if (size_of(rank()) > 0) {
    EXPECT_EQ(memory->pointer(rank()) [size_of(rank()) - 1], std::byte { 'x' });
  }
}

TEST(window, checks_ranks_and_bounds) {
  const auto memory = make_window(64);
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max() - 1);  // bytes of a buffer
  char bytes[128] = {};
  for (const int wrong : {-1, ranks()}) {
    expect_error(outcome_of([&] { test::put_bytes(*memory, wrong, 0, bytes, 1); }), SYNCYTE_ERR_ARGUMENT, "rank is");
    expect_error(outcome_of([&] { memory->size(wrong); }), SYNCYTE_ERR_ARGUMENT, "rank is");
    expect_error(outcome_of([&] { memory->pointer(wrong); }), SYNCYTE_ERR_ARGUMENT, "rank is");
  }
  expect_error(outcome_of([&] { memory->flush(ranks()); }), SYNCYTE_ERR_ARGUMENT, "rank is");
  for (int other = 0; other < ranks(); ++other) {
    expect_error(outcome_of([&] { test::get_bytes(*memory, other, 0, bytes, 65); }), SYNCYTE_ERR_INDEX, "65 bytes");
    expect_error(outcome_of([&] { test::get_bytes(*memory, other, 65, bytes, 0); }), SYNCYTE_ERR_INDEX, "offset is 65");
    expect_error(outcome_of([&] { test::get_bytes(*memory, other, ~std::size_t{0}, bytes, 2); }), SYNCYTE_ERR_INDEX,
                 "");
    expect_error(outcome_of([&] { test::put_bytes(*memory, other, 60, bytes, most); }), SYNCYTE_ERR_INDEX, "");
  }
}

TEST(window, refuses_operands_that_are_other_bytes_of_the_access) {
  const auto memory = make_window(64);
  auto* const mine = reinterpret_cast<std::int64_t*>(memory->pointer(rank()));
  const auto fill = [&] { std::iota(mine, mine + 8, 0); };
  const std::vector<std::int64_t> before{0, 1, 2, 3, 4, 5, 6, 7};
  const int self = rank();
  const auto accumulate = [&](std::int64_t offset, std::int64_t* source) {
    test::accumulate(*memory, self, offset, SYNCYTE_INT64, source, 3, SYNCYTE_OP_SUM);
  };
  const syncyte_buffer_t given = test::elements_at(mine, SYNCYTE_INT64, 3);
  fill();
  for (const std::int64_t offset : {8, 16}) {
    expect_error(outcome_of([&] { test::put_bytes(*memory, self, offset, mine, 24); }), SYNCYTE_ERR_ARGUMENT,
                 "source is in");
    expect_error(outcome_of([&] { access::start<window::put>(memory, self, offset, &given); }), SYNCYTE_ERR_ARGUMENT,
                 "clone()");
    expect_error(outcome_of([&] { test::get_bytes(*memory, self, offset, mine, 24); }), SYNCYTE_ERR_ARGUMENT,
                 "target is in");
    expect_error(outcome_of([&] { access::start<window::get>(memory, self, offset, &given); }), SYNCYTE_ERR_ARGUMENT,
                 "target is in");
    expect_error(outcome_of([&] { accumulate(offset, mine); }), SYNCYTE_ERR_ARGUMENT, "source is in");
    expect_error(outcome_of([&] { access::start<window::accumulate>(memory, self, offset, &given, SYNCYTE_OP_SUM); }),
                 SYNCYTE_ERR_ARGUMENT, "source is in");
  }
  EXPECT_EQ(std::vector<std::int64_t>(mine, mine + 8), before);
  test::put_bytes(*memory, self, 24, mine, 24);  // other bytes
  EXPECT_EQ(std::vector<std::int64_t>(mine, mine + 8), (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 6, 7}));
  fill();
  test::put_bytes(*memory, self, 8, mine + 1, 24);  // the bytes themselves
  EXPECT_EQ(std::vector<std::int64_t>(mine, mine + 8), before);
  accumulate(8, mine + 1);
  accumulate(40, mine);
  memory->flush(self);
  EXPECT_EQ(std::vector<std::int64_t>(mine, mine + 8), (std::vector<std::int64_t>{0, 2, 4, 6, 4, 5, 8, 11}));
  memory->fence();
}

TEST(window, moves_more_than_one_request_holds) {
  if (ranks() != 2) GTEST_SKIP() << "two ranks are enough for half a gigabyte";
  const std::size_t bytes = (std::size_t{1} << 28) + 4096;
  const auto memory = make_window(rank() == 1 ? bytes : 0);
  if (rank() == 0) {
    std::vector<unsigned char> data(bytes);
    for (std::size_t i = 0; i < bytes; i += 4093) data[i] = static_cast<unsigned char>(i >> 12 | 1);
    test::put_bytes(*memory, 1, 0, data.data(), bytes);
    memory->flush(1);
    std::vector<unsigned char> back(bytes);
    test::get_bytes(*memory, 1, 0, back.data(), bytes);
    EXPECT_TRUE(data == back);
  }
  memory->fence();
}

/// Rows of each rank's memory, at random places and some of them twice.
struct rows_of_remote_memory : testing::Test {
  static constexpr std::size_t row_bytes = 48;
  static constexpr std::size_t row_count = 500;

  std::vector<std::byte> mine = std::vector<std::byte>(row_count * row_bytes);
  std::optional<test::remote_memory> memory;

  static std::byte first_value(int of, std::size_t byte) {
    return static_cast<std::byte>(reference::random_bits(3, of, static_cast<std::int64_t>(byte)));
  }
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "MPI RMA is between ranks";
    memory.emplace(mine);
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = first_value(rank(), i);
    memory->fence();
  }
  void TearDown() override {
    if (memory) memory->fence();
  }

  static void wait_for(const std::unique_ptr<window::transfer>& started) {
    if (started) started->wait();
  }
  void get_rows(const std::vector<window::remote_rows>& owners) {
    wait_for(memory->remote->start_rows("get", window::row_access::get, owners, SYNCYTE_OP_REPLACE));
  }
  void put_rows(const std::vector<window::remote_rows>& owners) {
    wait_for(memory->remote->start_rows("put", window::row_access::put, owners, SYNCYTE_OP_REPLACE));
  }

  static std::vector<std::size_t> random_offsets(std::uint64_t seed, std::size_t count) {
    std::vector<std::size_t> offsets;
    for (const auto row : reference::random_rows(seed, rank(), static_cast<std::int64_t>(count), row_count))
      offsets.push_back(static_cast<std::size_t>(row) * row_bytes);
    return offsets;
  }
};

TEST_F(rows_of_remote_memory, are_got_in_the_order_asked_for) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{333}, std::size_t{20000}}) {
    for (int from = 0; from < ranks(); ++from) {
      const auto offsets = random_offsets(count + static_cast<std::size_t>(from), count);
      std::vector<std::byte> packed(count * row_bytes);
      get_rows({{from, row_bytes, offsets, packed.data(), {}}});
      for (std::size_t i = 0; i < packed.size(); ++i)
        ASSERT_EQ(packed[i], first_value(from, offsets[i / row_bytes] + i % row_bytes)) << i;
    }
  }
}

TEST_F(rows_of_remote_memory, are_put_where_they_belong) {
  const int to = (rank() + 1) % ranks();
  std::vector<std::size_t> offsets;
  for (std::size_t row = 0; row < row_count; row += 3) offsets.push_back((row_count - 1 - row) * row_bytes);
  std::vector<std::byte> packed(offsets.size() * row_bytes, static_cast<std::byte>(rank() + 100));
  put_rows({{to, row_bytes, offsets, packed.data(), {}}});
  memory->fence();
  const auto writer = static_cast<std::byte>((rank() + ranks() - 1) % ranks() + 100);
  for (std::size_t row = 0; row < row_count; ++row) {
    const bool is_written = (row_count - 1 - row) % 3 == 0;
    for (std::size_t byte = row * row_bytes; byte < (row + 1) * row_bytes; ++byte)
      ASSERT_EQ(mine[byte], is_written ? writer : first_value(rank(), byte)) << row;
  }
}

TEST_F(rows_of_remote_memory, are_got_from_several_ranks_to_places) {
  constexpr std::size_t count = 300;
  const auto number_of_ranks = static_cast<std::size_t>(ranks());
  std::vector<std::byte> packed(count * number_of_ranks * row_bytes);
  std::vector<std::vector<std::size_t>> offsets(number_of_ranks);
  std::vector<std::vector<std::int64_t>> places(number_of_ranks);
  std::vector<window::remote_rows> owners;
  for (std::size_t from = 0; from < number_of_ranks; ++from) {
    offsets[from] = random_offsets(from, count);
    for (std::size_t i = 0; i < count; ++i)
      places[from].push_back(static_cast<std::int64_t>((count - 1 - i) * number_of_ranks + from));
    owners.push_back({static_cast<int>(from), row_bytes, offsets[from], packed.data(), places[from]});
  }
  get_rows(owners);
  for (std::size_t from = 0; from < number_of_ranks; ++from)
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t byte = 0; byte < row_bytes; ++byte)
        ASSERT_EQ(packed[static_cast<std::size_t>(places[from][i]) * row_bytes + byte],
                  first_value(static_cast<int>(from), offsets[from][i] + byte));
}

TEST_F(rows_of_remote_memory, keep_the_last_of_the_values_put) {
  const int to = (rank() + 1) % ranks();
  const std::vector<std::size_t> offsets{7 * row_bytes, 3 * row_bytes, 7 * row_bytes, 9 * row_bytes, 3 * row_bytes};
  const std::vector<std::int64_t> places{4, 3, 2, 1, 0};
  std::vector<std::byte> packed(offsets.size() * row_bytes);
  for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = static_cast<std::byte>(100 + i / row_bytes);
  put_rows({{to, row_bytes, offsets, packed.data(), places}});
  memory->fence();
  EXPECT_EQ(mine[3 * row_bytes], std::byte{100});
  EXPECT_EQ(mine[7 * row_bytes], std::byte{102});
  EXPECT_EQ(mine[9 * row_bytes], std::byte{101});
  memory->fence();
  put_rows({{to, row_bytes, offsets, packed.data(), {}}});
  memory->fence();
  EXPECT_EQ(mine[3 * row_bytes], std::byte{104});
  EXPECT_EQ(mine[7 * row_bytes], std::byte{102});
  EXPECT_EQ(mine[9 * row_bytes], std::byte{103});
}

TEST_F(rows_of_remote_memory, are_added_only_where_that_works) {
  if (memory->remote->can_add_rows()) GTEST_SKIP() << "rows are added";
  const std::vector<std::size_t> offsets{0};
  std::vector<std::byte> packed(row_bytes);
  const std::vector<window::remote_rows> owners{{(rank() + 1) % ranks(), row_bytes, offsets, packed.data(), {}}};
  expect_error(outcome_of([&] { memory->remote->start_rows("add", window::row_access::add, owners, SYNCYTE_OP_SUM); }),
               SYNCYTE_ERR_UNSUPPORTED, "MPI");
}

TEST(remote_memory, is_reached_by_others) {
  if (ranks() == 1) GTEST_SKIP() << "MPI RMA is between ranks";
  std::vector<std::byte> mine(256, static_cast<std::byte>(rank()));
  const test::remote_memory memory(mine);
  memory.fence();
  for (int from = 0; from < ranks(); ++from) {
    std::byte last{};
    memory.remote->get(from, 255, &last, 1);
    EXPECT_EQ(last, static_cast<std::byte>(from));
  }
  memory.fence();
  const std::byte value{200};
  memory.remote->put((rank() + 1) % ranks(), 7, &value, 1);
  const std::int64_t one = 1;
  for (int to = 0; to < ranks(); ++to)
    memory.remote->combine("combine", to, 64, SYNCYTE_INT64, SYNCYTE_OP_SUM, reinterpret_cast<const std::byte*>(&one),
                           nullptr, 1);
  memory.fence();
  EXPECT_EQ(mine[7], value);
  std::int64_t before = 0, sum = 0;
  std::memset(&before, rank(), sizeof(before));
  std::memcpy(&sum, &mine[64], sizeof(sum));
  EXPECT_EQ(sum, before + ranks());
  memory.fence();
}

}  // namespace
