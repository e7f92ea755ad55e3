// SPDX-License-Identifier: BSD-3-Clause
// Requests that no fabric_remote sends: the owner refuses them, and neither reads nor writes outside of its memory and
// of the message.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "core_world.hpp"
#include "window/fabric_requests.hpp"
#include "window/memory_target.hpp"

namespace {

using namespace syncyte;
using window::memory_operation;
using arguments = std::initializer_list<std::uint64_t>;

constexpr std::size_t part_bytes = 256;

/// Serves a request with a payload of zeros behind `first`; the memory must stay as it is.
test::outcome serve(memory_operation what, arguments given, std::size_t payload_bytes, std::uint32_t first = 0) {
  std::vector<std::byte> memory(part_bytes, std::byte{7});
  const auto add_all = [](std::span<const std::size_t> offsets, std::size_t, const std::byte*, syncyte_op_t) {
    return offsets.size();
  };
  window::memory_target target(memory, nullptr, add_all);
  fabric::message_header header{.operation = static_cast<std::uint16_t>(what)};
  std::ranges::copy(given, header.arguments);
  std::vector<std::byte> payload(payload_bytes);
  std::memcpy(payload.data(), &first, std::min(payload_bytes, sizeof first));
  fabric::served_request request{header, payload};
  fabric::answer reply;
  const auto result = test::outcome_of([&] { EXPECT_TRUE(target.serve(request, reply)); });
  if (result.status != SYNCYTE_SUCCESS) {
    EXPECT_EQ(memory, std::vector<std::byte>(part_bytes, std::byte{7}));
  }
  return result;
}

/// Serves a request about items, whose list begins with `first_unit`.
test::outcome serve_items(memory_operation what, std::size_t count, std::uint64_t shift, std::uint64_t item_bytes,
                          std::size_t payload_bytes, std::uint32_t first_unit = 0) {
  return serve(what, {access::item_arguments::pack(count, shift), 0, item_bytes, SYNCYTE_OP_SUM}, payload_bytes,
               first_unit);
}

TEST(malformed_requests, have_the_payload_that_they_announce) {
  for (const auto what : {memory_operation::write, memory_operation::add}) {
    EXPECT_EQ(serve_items(what, 2, 3, 16, 8 + 32).status, SYNCYTE_SUCCESS);
    test::expect_error(serve_items(what, 2, 3, 16, 8 + 31), SYNCYTE_ERR_INTERNAL, "2 items of 16 bytes");
    test::expect_error(serve_items(what, 2, 3, 16, 8), SYNCYTE_ERR_INTERNAL, "with 0 bytes of data");
    test::expect_error(serve_items(what, 2, 3, std::uint64_t{1} << 63, 8), SYNCYTE_ERR_INTERNAL, "");
  }
  EXPECT_EQ(serve_items(memory_operation::read, 2, 3, 16, 8).status, SYNCYTE_SUCCESS);
  test::expect_error(serve_items(memory_operation::read, 2, 3, 16, 4), SYNCYTE_ERR_INTERNAL, "2 items");
  test::expect_error(serve_items(memory_operation::read, 2, 200, 16, 8), SYNCYTE_ERR_INTERNAL, "2 items");
  test::expect_error(serve_items(memory_operation::read, UINT32_MAX, 64, 16, 8), SYNCYTE_ERR_INTERNAL, "items");
  EXPECT_EQ(serve(memory_operation::compare_swap, {8, SYNCYTE_INT64}, 16).status, SYNCYTE_SUCCESS);
  test::expect_error(serve(memory_operation::compare_swap, {8, SYNCYTE_INT64}, 15), SYNCYTE_ERR_INTERNAL, "15 bytes");
  EXPECT_NE(serve(memory_operation::compare_swap, {8, 99}, 0).status, SYNCYTE_SUCCESS);
  EXPECT_EQ(serve(memory_operation::combine, {8, SYNCYTE_INT64, SYNCYTE_OP_SUM, 1}, 16).status, SYNCYTE_SUCCESS);
  test::expect_error(serve(memory_operation::combine, {8, SYNCYTE_INT64, SYNCYTE_OP_SUM, 1}, 15), SYNCYTE_ERR_INTERNAL,
                     "elements of 8 bytes with 15 bytes");
  EXPECT_NE(serve(memory_operation::combine, {8, 99, SYNCYTE_OP_SUM, 1}, 8).status, SYNCYTE_SUCCESS);
}

TEST(malformed_requests, stay_within_the_part) {
  constexpr std::size_t list = sizeof(std::uint32_t);
  for (const auto what : {memory_operation::write, memory_operation::add}) {
    test::expect_error(serve_items(what, 1, 0, 4, list + 4, part_bytes - 3), SYNCYTE_ERR_INDEX, "offset");
    test::expect_error(serve_items(what, 1, 40, 4, list + 4, 1), SYNCYTE_ERR_INDEX, "offset");
  }
  test::expect_error(serve_items(memory_operation::read, 1, 0, 1, list, part_bytes + 1), SYNCYTE_ERR_INDEX, "offset");
  test::expect_error(serve_items(memory_operation::read, 1, 0, std::uint64_t{1} << 40, list), SYNCYTE_ERR_INTERNAL,
                     "bytes");
  test::expect_error(serve(memory_operation::combine, {part_bytes, SYNCYTE_INT64, SYNCYTE_OP_SUM, 0}, 8),
                     SYNCYTE_ERR_INDEX, "offset");
  test::expect_error(serve(memory_operation{77}, {}, 0), SYNCYTE_ERR_INTERNAL, "unknown operation 77");
}

TEST(malformed_answers, are_not_copied) {
  std::vector<std::byte> output(64, std::byte{1});
  const std::vector<std::size_t> offsets{0, 32};
  const window::remote_rows rows{1, 32, offsets, output.data(), {}};
  access::item_requests<window::row_items> reads(
      {1, 1}, window::row_items("rank 1", memory_operation::read, rows, nullptr, SYNCYTE_OP_REPLACE, 0));
  const auto request = reads.next();
  ASSERT_NE(request, nullptr);
  const std::vector<std::byte> longer(65), shorter(63), right(64);
  for (const auto& wrong : {longer, shorter})
    test::expect_error(test::outcome_of([&] { reads.on_answer(request->header, wrong); }), SYNCYTE_ERR_INTERNAL,
                       "expected 64");
  EXPECT_EQ(output, std::vector<std::byte>(64, std::byte{1}));
  reads.on_answer(request->header, right);
  EXPECT_EQ(output, right);
}

}  // namespace
