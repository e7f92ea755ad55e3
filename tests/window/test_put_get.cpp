#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
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
  for (std::size_t i = 0; i < memory->size(rank()); ++i) ASSERT_EQ(mine[i], std::byte{0});
  for (int other = 0; other < ranks(); ++other)
    EXPECT_EQ(memory->size(other), 1000 + 64 * static_cast<std::size_t>(other));
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
    memory->get_bytes(from, 8 * 25, read.data(), 8 * 50);
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
    memory->put_bytes(other, size_of(other), &byte, 0);  // no bytes, at the end of the window
    expect_error(outcome_of([&] { memory->put_bytes(other, size_of(other), &byte, 1); }), SYNCYTE_ERR_INDEX,
                 "has " + std::to_string(size_of(other)) + " bytes");
    if (size_of(other) > 0) memory->put_bytes(other, size_of(other) - 1, &byte, 1);
  }
  memory->fence();
  if (size_of(rank()) > 0) {
    EXPECT_EQ(memory->pointer(rank()) [size_of(rank()) - 1], std::byte { 'x' });
  }
}

TEST(window, checks_ranks_and_bounds) {
  const auto memory = make_window(64);
  char bytes[128] = {};
  for (const int wrong : {-1, ranks()}) {
    expect_error(outcome_of([&] { memory->put_bytes(wrong, 0, bytes, 1); }), SYNCYTE_ERR_ARGUMENT, "rank is");
    expect_error(outcome_of([&] { memory->size(wrong); }), SYNCYTE_ERR_ARGUMENT, "rank is");
    expect_error(outcome_of([&] { memory->pointer(wrong); }), SYNCYTE_ERR_ARGUMENT, "rank is");
  }
  expect_error(outcome_of([&] { memory->flush(ranks()); }), SYNCYTE_ERR_ARGUMENT, "rank is");
  for (int other = 0; other < ranks(); ++other) {
    expect_error(outcome_of([&] { memory->get_bytes(other, 0, bytes, 65); }), SYNCYTE_ERR_INDEX, "65 bytes");
    expect_error(outcome_of([&] { memory->get_bytes(other, 65, bytes, 0); }), SYNCYTE_ERR_INDEX, "offset 65");
    expect_error(outcome_of([&] { memory->get_bytes(other, ~std::size_t{0}, bytes, 2); }), SYNCYTE_ERR_INDEX, "");
    expect_error(outcome_of([&] { memory->put_bytes(other, 60, bytes, ~std::size_t{0} - 10); }), SYNCYTE_ERR_INDEX, "");
  }
}

TEST(window, moves_more_than_one_request_holds) {
  if (ranks() != 2) GTEST_SKIP() << "two ranks are enough for half a gigabyte";
  const std::size_t bytes = (std::size_t{1} << 28) + 4096;
  const auto memory = make_window(rank() == 1 ? bytes : 0);
  if (rank() == 0) {
    std::vector<unsigned char> data(bytes);
    for (std::size_t i = 0; i < bytes; i += 4093) data[i] = static_cast<unsigned char>(i >> 12 | 1);
    memory->put_bytes(1, 0, data.data(), bytes);
    memory->flush(1);
    std::vector<unsigned char> back(bytes);
    memory->get_bytes(1, 0, back.data(), bytes);
    EXPECT_TRUE(data == back);
  }
  memory->fence();
}

/// Rows of a rank's part at random offsets, some of them twice.
struct rows_of_a_window : testing::Test {
  static constexpr std::size_t row_bytes = 48;
  static constexpr std::size_t row_count = 500;

  static std::vector<std::size_t> random_offsets(std::uint64_t seed, std::size_t count) {
    std::vector<std::size_t> offsets;
    for (const auto row : reference::random_rows(seed, rank(), static_cast<std::int64_t>(count), row_count))
      offsets.push_back(static_cast<std::size_t>(row) * row_bytes);
    return offsets;
  }
  static void fill(window::window& memory) {
    std::byte* mine = memory.pointer(rank());
    for (std::size_t i = 0; i < memory.size(rank()); ++i)
      mine[i] = static_cast<std::byte>(reference::random_bits(3, rank(), static_cast<std::int64_t>(i)));
    memory.fence();
  }
};

TEST_F(rows_of_a_window, are_got_in_the_order_asked_for) {
  const auto memory = make_window(row_count * row_bytes);
  fill(*memory);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{333}, std::size_t{20000}}) {
    for (int from = 0; from < ranks(); ++from) {
      const auto offsets = random_offsets(count + static_cast<std::size_t>(from), count);
      std::vector<std::byte> packed(count * row_bytes), whole(row_count * row_bytes);
      memory->get_rows(from, offsets, row_bytes, packed.data());
      memory->get_bytes(from, 0, whole.data(), whole.size());
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(std::memcmp(&packed[i * row_bytes], &whole[offsets[i]], row_bytes), 0) << i;
    }
  }
  memory->fence();
}

TEST_F(rows_of_a_window, are_put_where_they_belong) {
  const auto memory = make_window(row_count * row_bytes);
  fill(*memory);
  const int to = (rank() + 1) % ranks();
  std::vector<std::size_t> offsets;
  for (std::size_t row = 0; row < row_count; row += 3) offsets.push_back((row_count - 1 - row) * row_bytes);
  std::vector<std::byte> packed(offsets.size() * row_bytes, static_cast<std::byte>(rank() + 100));
  memory->put_rows(to, offsets, row_bytes, packed.data());
  memory->fence();
  const auto writer = static_cast<std::byte>((rank() + ranks() - 1) % ranks() + 100);
  for (std::size_t row = 0; row < row_count; ++row) {
    const bool is_written = (row_count - 1 - row) % 3 == 0;
    for (std::size_t byte = row * row_bytes; byte < (row + 1) * row_bytes; ++byte) {
      const auto before = static_cast<std::byte>(reference::random_bits(3, rank(), static_cast<std::int64_t>(byte)));
      ASSERT_EQ(memory->pointer(rank())[byte], is_written ? writer : before) << row;
    }
  }
  memory->fence();
}

TEST_F(rows_of_a_window, that_are_named_twice_hold_one_of_the_values) {
  const auto memory = make_window(row_count * row_bytes);
  const std::vector<std::size_t> offsets{96, 0, 96};
  std::vector<std::byte> packed(3 * row_bytes);
  for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = static_cast<std::byte>(1 + i / row_bytes);
  memory->put_rows((rank() + 1) % ranks(), offsets, row_bytes, packed.data());
  memory->fence();
  const std::byte* mine = memory->pointer(rank());
  EXPECT_EQ(mine[0], std::byte{2});
  EXPECT_TRUE(mine[96] == std::byte{1} || mine[96] == std::byte{3});
}

TEST_F(rows_of_a_window, are_checked_before_any_moves) {
  const auto memory = make_window(row_count * row_bytes);
  std::vector<std::byte> packed(2 * row_bytes, std::byte{9});
  const std::vector<std::size_t> offsets{0, row_count * row_bytes - 1};
  for (int other = 0; other < ranks(); ++other) {
    expect_error(outcome_of([&] { memory->put_rows(other, offsets, row_bytes, packed.data()); }), SYNCYTE_ERR_INDEX,
                 "");
    expect_error(outcome_of([&] { memory->get_rows(other, offsets, row_bytes, packed.data()); }), SYNCYTE_ERR_INDEX,
                 "");
  }
  memory->fence();
  EXPECT_EQ(memory->pointer(rank())[0], std::byte{0});
}

TEST(window_over_own_memory, is_reached_by_others) {
  std::vector<std::byte> mine(256, static_cast<std::byte>(rank()));
  const auto memory = test::make_window_over(mine);
  EXPECT_EQ(memory->is_direct(), ranks() == 1);
  EXPECT_EQ(memory->pointer(rank()), mine.data());
  memory->fence();
  for (int from = 0; from < ranks(); ++from)
    EXPECT_EQ(get<std::uint8_t>(*memory, from, 255), static_cast<std::uint8_t>(from));
  memory->fence();
  put<std::uint8_t>(*memory, (rank() + 1) % ranks(), 7, 200);
  const std::int64_t one = 1;
  for (int to = 0; to < ranks(); ++to) memory->accumulate(to, 64, SYNCYTE_INT64, SYNCYTE_OP_SUM, &one, 1);
  memory->fence();
  EXPECT_EQ(mine[7], std::byte{200});
  std::int64_t before = 0, sum = 0;
  std::memset(&before, rank(), sizeof(before));
  std::memcpy(&sum, &mine[64], sizeof(sum));
  EXPECT_EQ(sum, before + ranks());
  expect_error(outcome_of([&] { memory->lock(0, SYNCYTE_LOCK_EXCLUSIVE); }), SYNCYTE_ERR_UNSUPPORTED, "over");
}

TEST(window_over_node_memory, shares_its_parts) {
  std::shared_ptr<comm::node_memory> node;
  test::window_pointer memory;
  {
    comm::collective_call call(test::world(), "test_over_node", comm::collective_call::lifecycle);
    call.agree();
    node = comm::node_memory::allocate(call, 1000, "a test");
    memory = window::window::over(call, node, "over node memory");
  }
  EXPECT_EQ(memory->pointer(rank()), node->local().data());
  put<std::uint8_t>(*memory, (rank() + 1) % ranks(), 999, 55);
  memory->fence();
  EXPECT_EQ(node->local()[999], std::byte{55});
}

}  // namespace
