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

/// Serves a request with a payload of zeros; the memory must stay as it is.
test::outcome serve(memory_operation what, arguments given, std::size_t payload_bytes) {
  std::vector<std::byte> memory(part_bytes, std::byte{7});
  const auto add_all = [](std::span<const std::size_t> offsets, std::size_t, const std::byte*, syncyte_op_t) {
    return offsets.size();
  };
  window::memory_target target(memory, nullptr, add_all);
  fabric::message_header header{.operation = static_cast<std::uint16_t>(what)};
  std::ranges::copy(given, header.arguments);
  const std::vector<std::byte> payload(payload_bytes);
  fabric::served_request request{header, payload};
  fabric::answer reply;
  const auto result = test::outcome_of([&] { EXPECT_TRUE(target.serve(request, reply)); });
  if (result.status != SYNCYTE_SUCCESS) {
    EXPECT_EQ(memory, std::vector<std::byte>(part_bytes, std::byte{7}));
  }
  return result;
}

TEST(malformed_requests, have_the_payload_that_they_announce) {
  for (const auto what : {memory_operation::write_rows, memory_operation::add_rows}) {
    EXPECT_EQ(serve(what, {16, 2, 3, SYNCYTE_OP_SUM}, 8 + 32).status, SYNCYTE_SUCCESS);
    test::expect_error(serve(what, {16, 2, 3, SYNCYTE_OP_SUM}, 8 + 31), SYNCYTE_ERR_INTERNAL, "2 rows of 16 bytes");
    test::expect_error(serve(what, {16, 2, 3, SYNCYTE_OP_SUM}, 8), SYNCYTE_ERR_INTERNAL, "with 8 bytes of payload");
    test::expect_error(serve(what, {std::uint64_t{1} << 63, 2, 3, SYNCYTE_OP_SUM}, 8), SYNCYTE_ERR_INTERNAL, "");
  }
  EXPECT_EQ(serve(memory_operation::read_rows, {16, 2, 3}, 8).status, SYNCYTE_SUCCESS);
  test::expect_error(serve(memory_operation::read_rows, {16, 2, 3}, 4), SYNCYTE_ERR_INTERNAL, "2 rows");
  test::expect_error(serve(memory_operation::read_rows, {16, 2, 200}, 8), SYNCYTE_ERR_INTERNAL, "2 rows");
  EXPECT_EQ(serve(memory_operation::compare_swap, {8, SYNCYTE_INT64}, 16).status, SYNCYTE_SUCCESS);
  test::expect_error(serve(memory_operation::compare_swap, {8, SYNCYTE_INT64}, 15), SYNCYTE_ERR_INTERNAL, "15 bytes");
  EXPECT_NE(serve(memory_operation::compare_swap, {8, 99}, 0).status, SYNCYTE_SUCCESS);
}

TEST(malformed_requests, stay_within_the_part) {
  test::expect_error(serve(memory_operation::write, {part_bytes - 3}, 4), SYNCYTE_ERR_INDEX, "offset");
  test::expect_error(serve(memory_operation::read, {part_bytes + 1, 1}, 0), SYNCYTE_ERR_INDEX, "offset");
  test::expect_error(serve(memory_operation::read, {0, std::uint64_t{1} << 40}, 0), SYNCYTE_ERR_INTERNAL, "bytes");
  test::expect_error(serve(memory_operation::add, {part_bytes - 1, 8, SYNCYTE_OP_SUM}, 8), SYNCYTE_ERR_INDEX, "offset");
  test::expect_error(serve(memory_operation::combine, {part_bytes, SYNCYTE_INT64, SYNCYTE_OP_SUM, 0}, 8),
                     SYNCYTE_ERR_INDEX, "offset");
  test::expect_error(serve(memory_operation{77}, {}, 0), SYNCYTE_ERR_INTERNAL, "unknown operation 77");
}

TEST(malformed_answers, are_not_copied) {
  std::vector<std::byte> output(64, std::byte{1});
  const std::vector<std::size_t> offsets{0, 32};
  const window::remote_rows rows{1, 32, offsets, output.data(), {}};
  window::row_requests reads("rank 1", {1, 1}, memory_operation::read_rows, rows, SYNCYTE_OP_REPLACE);
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
