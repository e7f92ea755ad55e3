// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point messages: received elements, errors, and no writes beside a buffer.

#include <algorithm>
#include <memory>
#include <vector>

#include "base/buffer.hpp"
#include "core_world.hpp"
#include "messages/message.hpp"
#include "strided_array.hpp"

namespace {

using namespace syncyte;
using messages::message;
using messages::message_peer;
using test::expect_error;
using test::extents;
using test::outcome_of;
using test::shared_world;
using test::strided_array;
using test::strides;
using test::world;

constexpr strides all_strides[] = {strides::dense, strides::gaps, strides::transposed};

int next() { return (world().rank() + 1) % world().size(); }
int previous() { return (world().rank() + world().size() - 1) % world().size(); }

/// The element at some indices of a rank's message.
auto values_of(int rank) {
  return [rank](const extents& at) {
    std::int64_t result = rank + 1;
    for (const auto index : at) result = 13 * result + index;
    return static_cast<std::int32_t>(result % 1000003);
  };
}

std::unique_ptr<message> send(const syncyte_buffer_t& buffer, int dest, int tag = 3) {
  return message::send(shared_world(), &buffer, {dest, tag});
}
std::unique_ptr<message> receive(const syncyte_buffer_t& buffer, int source, int tag = 3) {
  return message::receive(shared_world(), &buffer, {source, tag});
}

TEST(messages, go_round_in_a_ring_with_any_strides) {
  // empty, short and long; the last two are too long for one piece of memory with the envelope
  for (const extents& shape : {extents{}, {0}, {5}, {3, 4, 2}, {100, 50}, {2, 3, 5, 7, 2, 3, 5}})
    for (const strides from : all_strides)
      for (const strides to : all_strides) {
        strided_array input = strided_array(shape, from).fill(values_of(world().rank()));
        strided_array output(shape, to);
        const auto sending = send(input.buffer(), next());
        const auto receiving = receive(output.buffer(), previous());
        receiving->wait();
        sending->wait();
        output.expect(values_of(previous()));
        EXPECT_EQ(receiving->peer().rank, previous());
        EXPECT_EQ(receiving->peer().tag, 3);
      }
}

TEST(messages, of_one_tag_arrive_in_order_and_tags_choose) {
  std::int32_t sent[] = {10, 11, 20};
  std::vector<std::unique_ptr<message>> sending;
  const int tags[] = {1, 1, 2};
  for (int i = 0; i < 3; ++i) sending.push_back(send(base::make_buffer(&sent[i], SYNCYTE_INT32, {}), next(), tags[i]));
  std::int32_t got = 0;
  const auto into = base::make_buffer(&got, SYNCYTE_INT32, {});
  receive(into, previous(), 2)->wait();
  EXPECT_EQ(got, 20);
  receive(into, previous(), 1)->wait();
  EXPECT_EQ(got, 10);
  const auto last = receive(into, SYNCYTE_ANY, SYNCYTE_ANY);
  while (!last->test()) {
  }
  EXPECT_EQ(got, 11);
  EXPECT_EQ(last->peer().rank, previous());
  EXPECT_EQ(last->peer().tag, 1);
  for (const auto& each : sending) each->wait();
}

TEST(messages, channels_do_not_meet) {
  std::int32_t sent[] = {1, 2};
  std::int32_t got = 0;
  const auto first = base::make_buffer(&sent[0], SYNCYTE_INT32, {});
  const auto second = base::make_buffer(&sent[1], SYNCYTE_INT32, {});
  const auto into = base::make_buffer(&got, SYNCYTE_INT32, {});
  const auto of_channel = message::send(shared_world(), &first, {next(), 5, 3});
  const auto of_user = message::send(shared_world(), &second, {next(), 5});
  receive(into, SYNCYTE_ANY, SYNCYTE_ANY)->wait();
  EXPECT_EQ(got, 2);
  message::receive(shared_world(), &into, {previous(), 5, 3})->wait();
  EXPECT_EQ(got, 1);
  of_channel->wait();
  of_user->wait();
}

TEST(messages, to_and_from_nobody_change_nothing) {
  strided_array array = strided_array({4}, strides::dense).fill(values_of(1));
  send(array.buffer(), SYNCYTE_PROC_NULL)->wait();
  receive(array.buffer(), SYNCYTE_PROC_NULL)->wait();
  array.expect(values_of(1));
}

/// Sends one array round the ring and expects another.
test::outcome mismatch(const extents& sent, syncyte_dtype_t sent_dtype, const extents& expected,
                       syncyte_dtype_t expected_dtype, strides how) {
  strided_array input(sent, strides::dense);
  strided_array output(expected, how);
  auto from = input.buffer();
  auto to = output.buffer();
  from.dtype = sent_dtype;
  to.dtype = expected_dtype;
  const auto sending = send(from, next());
  const auto result = outcome_of([&] { receive(to, previous())->wait(); });
  sending->wait();
  if (how != strides::dense) output.expect([](const extents&) { return strided_array::untouched; });
  return result;
}

TEST(messages, that_do_not_match_are_the_receivers_error_and_write_nothing) {
  for (const strides how : all_strides) {
    expect_error(mismatch({4}, SYNCYTE_FLOAT32, {4}, SYNCYTE_INT32, how), SYNCYTE_ERR_MISMATCH,
                 "is float32 of shape [4]; expected int32 of shape [4]");
    expect_error(mismatch({2, 3}, SYNCYTE_INT32, {3, 2}, SYNCYTE_INT32, how), SYNCYTE_ERR_MISMATCH,
                 "is int32 of shape [2, 3]; expected int32 of shape [3, 2]");
    expect_error(mismatch({5}, SYNCYTE_INT32, {4}, SYNCYTE_INT32, how), SYNCYTE_ERR_MISMATCH, "of shape [5]");
    expect_error(mismatch({3}, SYNCYTE_INT32, {4}, SYNCYTE_INT32, how), SYNCYTE_ERR_MISMATCH, "of shape [3]");
    expect_error(mismatch({6}, SYNCYTE_INT32, {6, 1}, SYNCYTE_INT32, how), SYNCYTE_ERR_MISMATCH, "of shape [6, 1]");
    expect_error(mismatch({9000}, SYNCYTE_INT32, {2}, SYNCYTE_INT32, how), SYNCYTE_ERR_MISMATCH, "longer than");
    expect_error(mismatch({9000}, SYNCYTE_INT32, {8000}, SYNCYTE_INT32, how), SYNCYTE_ERR_MISMATCH, "longer than");
    expect_error(mismatch({2}, SYNCYTE_INT32, {9000}, SYNCYTE_INT32, how), SYNCYTE_ERR_MISMATCH, "of shape [2]");
    expect_error(mismatch({1, 1, 1, 1, 1, 2, 3}, SYNCYTE_INT32, {1, 1, 1, 1, 1, 3, 2}, SYNCYTE_INT32, how),
                 SYNCYTE_ERR_MISMATCH, "and 2 more extents");
  }
}

int errors_of_self = 0;
void count_error(MPI_Comm*, int*, ...) { ++errors_of_self; }

TEST(messages, to_oneself_that_are_too_long_leave_the_applications_handler_alone) {
  MPI_Errhandler before, own, after;
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
  MPI_Comm_create_errhandler(count_error, &own);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, own);
  const int self = world().rank();
  strided_array input({9000}, strides::dense), output({2}, strides::dense);
  for (const int source : {self, SYNCYTE_ANY}) {
    const auto sending = send(input.buffer(), self);
    expect_error(outcome_of([&] { receive(output.buffer(), source)->wait(); }), SYNCYTE_ERR_MISMATCH, "longer than");
    const auto dropped = send(input.buffer(), self);
    receive(output.buffer(), source).reset();
    sending->wait();
    dropped->wait();
  }
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &after);
  EXPECT_EQ(after, own);
  EXPECT_EQ(errors_of_self, 0);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, before);
}

TEST(messages, carry_a_label) {
  std::int32_t value = 1;
  const auto buffer = base::make_buffer(&value, SYNCYTE_INT32, {});
  const auto sending = message::send(shared_world(), &buffer, {next(), 1, 0, 100 + world().rank()});
  std::int32_t got = 0;
  const auto into = base::make_buffer(&got, SYNCYTE_INT32, {});
  const auto receiving = receive(into, previous(), 1);
  receiving->wait();
  sending->wait();
  EXPECT_EQ(receiving->peer().label, 100 + previous());
}

TEST(messages, wrong_arguments_are_the_callers_error) {
  std::int32_t value = 1;
  const auto buffer = base::make_buffer(&value, SYNCYTE_INT32, {});
  expect_error(outcome_of([&] { send(buffer, world().size()); }), SYNCYTE_ERR_ARGUMENT, "dest is");
  expect_error(outcome_of([&] { send(buffer, SYNCYTE_ANY); }), SYNCYTE_ERR_ARGUMENT, "dest is -1");
  expect_error(outcome_of([&] { receive(buffer, -7); }), SYNCYTE_ERR_ARGUMENT, "source is -7");
  expect_error(outcome_of([&] { send(buffer, 0, -1); }), SYNCYTE_ERR_ARGUMENT, "tag is -1");
  expect_error(outcome_of([&] { receive(buffer, 0, comm::highest_tag() + 1); }), SYNCYTE_ERR_ARGUMENT, "tag is");
  expect_error(outcome_of([&] { message::send(shared_world(), nullptr, {0, 0}); }), SYNCYTE_ERR_ARGUMENT, "null");
  expect_error(outcome_of([&] { message::send(shared_world(), &buffer, {0, 0, 8}); }), SYNCYTE_ERR_ARGUMENT,
               "options->channel is 8");
}

/// A column of a matrix with `columns` columns.
syncyte_buffer_t column(std::vector<double>& matrix, std::int64_t columns, std::int64_t which) {
  const std::int64_t rows = std::ssize(matrix) / columns;
  syncyte_buffer_t result = base::make_buffer(matrix.data() + which, SYNCYTE_FLOAT64, {&rows, 1});
  result.strides[0] = columns * 8;
  return result;
}

TEST(messages, that_exchange_one_memory_are_refused) {
  for (const std::int64_t rows : {4, 20'000}) {
    std::vector<double> matrix(static_cast<std::size_t>(2 * rows));
    const std::int64_t all = 2 * rows, most = all - 1;
    const auto whole = base::make_buffer(matrix.data(), SYNCYTE_FLOAT64, {&all, 1});
    const auto front = base::make_buffer(matrix.data(), SYNCYTE_FLOAT64, {&most, 1});
    const auto behind = base::make_buffer(matrix.data() + 1, SYNCYTE_FLOAT64, {&most, 1});
    const auto exchange = [&](const syncyte_buffer_t& sent, const syncyte_buffer_t& received) {
      const message in(shared_world(), &received, {previous(), 6}, message::direction::in);
      const message out(shared_world(), &sent, {next(), 6}, message::direction::out);
      return outcome_of([&] { message::require_buffers_apart(out, in); });
    };
    expect_error(exchange(whole, whole), SYNCYTE_ERR_ARGUMENT, "recv_array is memory that is sent too");
    expect_error(exchange(front, behind), SYNCYTE_ERR_ARGUMENT, "clone()");
    EXPECT_EQ(exchange(column(matrix, 2, 0), column(matrix, 2, 0)).status, SYNCYTE_ERR_ARGUMENT);
    EXPECT_EQ(exchange(column(matrix, 2, 0), column(matrix, 2, 1)).status, SYNCYTE_SUCCESS);
  }
}

TEST(messages, that_were_started_keep_their_memory) {
  std::vector<double> sent(20'000, 1.0), got(20'000), little(4);
  const std::int64_t count = 20'000, half = 10'000, four = 4;
  const auto source = base::make_buffer(sent.data(), SYNCYTE_FLOAT64, {&count, 1});
  const auto part = base::make_buffer(sent.data() + half, SYNCYTE_FLOAT64, {&four, 1});
  const auto target = base::make_buffer(got.data(), SYNCYTE_FLOAT64, {&count, 1});
  const auto into = base::make_buffer(little.data(), SYNCYTE_FLOAT64, {&four, 1});
  auto sending = send(source, next(), 1);
  sending->list_buffer();
  expect_error(outcome_of([&] { receive(part, previous(), 2); }), SYNCYTE_ERR_ARGUMENT,
               "array is memory that a message which was started still sends");
  auto again = send(source, next(), 2);  // sends may read the same memory
  again->list_buffer();
  auto receiving = receive(target, previous(), 1);
  receiving->list_buffer();
  expect_error(outcome_of([&] { receive(target, previous(), 2); }), SYNCYTE_ERR_ARGUMENT,
               "memory into which a message which was started receives");
  expect_error(outcome_of([&] { send(target, next(), 2); }), SYNCYTE_ERR_ARGUMENT, "or a wait for that message first");
  receiving->wait();
  EXPECT_EQ(got, sent);
  receive(target, previous(), 2)->wait();
  sending->wait();
  again->wait();
  sending = send(into, next(), 3);  // a short one is copied at once
  sending->list_buffer();
  receiving = receive(into, previous(), 3);
  receiving->list_buffer();
  EXPECT_EQ(outcome_of([&] { receive(into, previous(), 3); }).status, SYNCYTE_ERR_ARGUMENT);
  receiving->wait();
  sending->wait();
  receiving = receive(source, previous(), 4);  // no message is in flight any more
  send(target, next(), 4)->wait();
  receiving->wait();
}

TEST(messages, into_columns_of_one_matrix_may_be_in_flight_together) {
  constexpr std::int64_t columns = 5;
  std::vector<double> matrix(2000 * columns, -1.0), values(2000);
  std::vector<std::unique_ptr<message>> all;
  for (std::int64_t which = 0; which < columns; ++which) {
    all.push_back(receive(column(matrix, columns, which), previous(), static_cast<int>(which)));
    all.back()->list_buffer();
  }
  EXPECT_EQ(outcome_of([&] { receive(column(matrix, columns, 3), previous(), 9); }).status, SYNCYTE_ERR_ARGUMENT);
  for (int which = 0; which < columns; ++which) {
    std::fill(values.begin(), values.end(), which);
    const std::int64_t count = std::ssize(values);
    send(base::make_buffer(values.data(), SYNCYTE_FLOAT64, {&count, 1}), next(), which)->wait();
  }
  for (const auto& each : all) each->wait();
  for (std::size_t i = 0; i < matrix.size(); ++i) ASSERT_EQ(matrix[i], static_cast<double>(i % columns));
}

TEST(messages, elements_that_are_one_are_sent_and_not_received_into) {
  const std::int64_t shape[] = {3};
  std::int32_t value = 5, received[3] = {};
  auto buffer = base::make_buffer(&value, SYNCYTE_INT32, shape);
  buffer.strides[0] = 0;
  const auto sent = message::send(shared_world(), &buffer, {world().rank(), 4});
  expect_error(outcome_of([&] { receive(buffer, world().rank(), 4); }), SYNCYTE_ERR_SHAPE, "strides[0] is 0");
  receive(base::make_buffer(received, SYNCYTE_INT32, shape), world().rank(), 4)->wait();
  sent->wait();
  EXPECT_EQ(received[2], 5);
}

}  // namespace
