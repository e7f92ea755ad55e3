// Non-blocking collectives against the blocking ones; their order, errors, and what may happen between start and wait.

#include "comm/nonblocking.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "comm/collectives.hpp"
#include "comm/halo.hpp"
#include "comm/halo_transfer.hpp"
#include "comm/message.hpp"
#include "comm/pieces.hpp"
#include "core_world.hpp"
#include "strided_array.hpp"

namespace {

using namespace syncyte;
using comm::started_t;
using test::expect_error;
using test::extents;
using test::outcome_of;
using test::shared_world;
using test::strided_array;
using test::strides;
using test::world;

using group = std::shared_ptr<comm::communicator>;

constexpr strides all_strides[] = {strides::dense, strides::gaps, strides::transposed};

template <class T>
syncyte_buffer_t buffer_of(std::vector<T>& values, syncyte_dtype_t dtype) {
  const std::int64_t shape[] = {static_cast<std::int64_t>(values.size())};
  return base::make_buffer(values.data(), dtype, shape);
}

group unchecked_world() {
  comm::communicator_options options;
  options.check = 0;
  return shared_world()->duplicate(options);
}

/// For the blocking ones to compare with: what is started elsewhere stays unposted.
comm::communicator& reference_world() {
  static const group the_world = shared_world()->duplicate({});
  return *the_world;
}

/// Rank r's part, 0 for some.
extents uneven_lengths() {
  extents result;
  for (int rank = 0; rank < world().size(); ++rank) result.push_back((rank + 2) % 4);
  return result;
}

std::int64_t sum(const extents& lengths) { return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}); }

std::int32_t value(int seed, const extents& at) {
  std::int64_t result = seed + 1;
  for (const auto index : at) result = 13 * result + index;
  return static_cast<std::int32_t>(result % 10007);
}

/// An operation under way, and its check.
struct trial {
  started_t started;
  std::function<void()> expect;
};

/// Runs a blocking and a non-blocking operation on equal arrays; their outputs must be equal.
struct array_pair {
  strided_array in;
  strided_array out;
  strided_array wanted;

  array_pair(const extents& from, const extents& to, strides how, int seed)
      : in(from, how), out(to, how), wanted(to, how) {
    in.fill([&](const extents& at) { return value(seed + 100 * world().rank(), at); });
  }

  void expect() {
    std::vector<std::int32_t> values;
    wanted.for_each([&](std::int32_t& element, const extents&) { values.push_back(element); });
    std::size_t next = 0;
    out.expect([&](const extents&) { return values[next++]; });
  }
};

trial start_allreduce(const group& comm, int seed) {
  auto in = std::make_shared<std::vector<double>>(static_cast<std::size_t>(seed % 7 * 1000));
  for (std::size_t i = 0; i < in->size(); ++i) (*in)[i] = seed + static_cast<double>(i) + world().rank();
  auto out = std::make_shared<std::vector<double>>(in->size());
  auto wanted = std::make_shared<std::vector<double>>(in->size());
  const auto input = buffer_of(*in, SYNCYTE_FLOAT64);
  const auto output = buffer_of(*out, SYNCYTE_FLOAT64);
  const auto reference = buffer_of(*wanted, SYNCYTE_FLOAT64);
  comm::allreduce(reference_world(), &input, &reference, SYNCYTE_OP_SUM, {});
  return {comm::iallreduce(comm, &input, &output, SYNCYTE_OP_SUM, {}), [=] { EXPECT_EQ(*out, *wanted) << in->size(); }};
}

trial start_bcast(const group& comm, int seed) {
  const int root = seed % world().size();
  auto values = std::make_shared<std::vector<std::int64_t>>(static_cast<std::size_t>(seed % 5 * 300), -1);
  if (world().rank() == root) std::fill(values->begin(), values->end(), seed);
  const auto buffer = buffer_of(*values, SYNCYTE_INT64);
  return {comm::ibcast(comm, &buffer, root, {}),
          [=] { EXPECT_TRUE(std::all_of(values->begin(), values->end(), [=](auto each) { return each == seed; })); }};
}

trial start_allgather(const group& comm, int seed) {
  const auto lengths = std::make_shared<extents>(uneven_lengths());
  const int axis = seed % 3;
  extents part{2, 3, 4};
  extents whole = part;
  part[static_cast<std::size_t>(axis)] = (*lengths)[static_cast<std::size_t>(world().rank())];
  whole[static_cast<std::size_t>(axis)] = sum(*lengths);
  auto arrays = std::make_shared<array_pair>(part, whole, all_strides[seed % 2 + seed / 3 % 2], seed);
  const auto input = arrays->in.buffer();
  const auto output = arrays->out.buffer();
  const auto reference = arrays->wanted.buffer();
  comm::allgather_along(reference_world(), &input, axis, lengths->data(), &reference, {});
  auto started = comm::iallgather_along(comm, &input, axis - 3, lengths->data(), &output, {});
  std::fill(lengths->begin(), lengths->end(), -1);  // read during the start only
  return {started, [=] { arrays->expect(); }};
}

trial start_reduce_scatter(const group& comm, int seed) {
  const extents lengths = uneven_lengths();
  const int axis = seed % 2;
  extents part{3, 2};
  extents whole = part;
  part[static_cast<std::size_t>(axis)] = lengths[static_cast<std::size_t>(world().rank())];
  whole[static_cast<std::size_t>(axis)] = sum(lengths);
  auto arrays = std::make_shared<array_pair>(whole, part, all_strides[seed % 3], seed);
  const auto input = arrays->in.buffer();
  const auto output = arrays->out.buffer();
  const auto reference = arrays->wanted.buffer();
  const syncyte_op_t op = seed % 2 == 0 ? SYNCYTE_OP_SUM : SYNCYTE_OP_MAX;
  comm::reduce_scatter_along(reference_world(), &input, axis, lengths.data(), op, &reference, {});
  return {comm::ireduce_scatter_along(comm, &input, axis, lengths.data(), op, &output, {}), [=] { arrays->expect(); }};
}

trial start_alltoall(const group& comm, int seed) {
  const extents gathered = uneven_lengths();
  extents scattered = gathered;
  std::reverse(scattered.begin(), scattered.end());
  const auto rank = static_cast<std::size_t>(world().rank());
  const bool is_repartition = seed % 3 == 0;
  extents from{gathered[rank], 2, sum(scattered)};
  extents to{sum(gathered), 2, scattered[rank]};
  if (is_repartition) {
    from[2] = to[2] = 3;
    to[0] = scattered[rank];
  }
  auto arrays = std::make_shared<array_pair>(from, to, all_strides[seed % 3], seed);
  const auto input = arrays->in.buffer();
  const auto output = arrays->out.buffer();
  const auto reference = arrays->wanted.buffer();
  const comm::axis_change change{0, gathered.data(), is_repartition ? 0 : 2, scattered.data()};
  comm::alltoall_along(reference_world(), &input, change, &reference, {});
  return {comm::ialltoall_along(comm, &input, change, &output, {}), [=] { arrays->expect(); }};
}

trial start_any(const group& comm, int kind, int seed) {
  switch (kind) {
    case 0:
      return start_bcast(comm, seed);
    case 1:
      return start_allreduce(comm, seed);
    case 2:
      return start_allgather(comm, seed);
    case 3:
      return start_reduce_scatter(comm, seed);
    default:
      return start_alltoall(comm, seed);
  }
}

TEST(nonblocking, each_does_what_the_blocking_one_does) {
  for (const auto& comm : {shared_world(), unchecked_world()})
    for (int kind = 0; kind < 5; ++kind)
      for (int seed = 0; seed < 12; ++seed) {
        const trial one = start_any(comm, kind, seed);
        one.started->wait();
        one.expect();
        EXPECT_TRUE(one.started->test());  // also afterwards
      }
}

TEST(nonblocking, many_outstanding_are_waited_for_in_any_order) {
  std::mt19937 order(static_cast<unsigned>(17 + world().rank()));  // another one on every rank
  for (const auto& comm : {shared_world(), unchecked_world()}) {
    std::vector<trial> trials;
    for (int i = 0; i < 200; ++i) trials.push_back(start_any(comm, i % 5, i));
    std::shuffle(trials.begin(), trials.end(), order);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (i % 2 == 0)
        trials[i].started->wait();
      else
        while (!trials[i].started->test()) std::this_thread::yield();
      trials[i].expect();
    }
  }
}

TEST(nonblocking, blocking_collectives_may_come_between) {
  std::vector<trial> trials;
  for (int i = 0; i < 30; ++i) {
    trials.push_back(start_any(shared_world(), i % 5, i));
    if (i % 3 == 0) comm::barrier(world());
    if (i % 7 == 0) shared_world()->duplicate({});  // also frees the one before
    if (i % 4 == 3) {
      trials[static_cast<std::size_t>(i / 2)].started->wait();
    }
  }
  for (const trial& each : trials) {
    each.started->wait();
    each.expect();
  }
}

/// One number to or from a rank.
std::unique_ptr<comm::message> letter(bool is_send, int peer, std::vector<std::int32_t>& number) {
  const auto buffer = buffer_of(number, SYNCYTE_INT32);
  return is_send ? comm::message::send(shared_world(), &buffer, {peer, 5, 0, 0})
                 : comm::message::receive(shared_world(), &buffer, {peer, 5, 0, 0});
}

/// Rank 0 tests what the others begin only when an allreduce that all have started has ended.
void expect_to_post_when_tested(const std::function<bool()>& test_once, const std::function<void()>& other_ranks) {
  const trial one = start_allreduce(shared_world(), 3);
  if (world().rank() != 0) one.started->wait();
  const auto begin = std::chrono::steady_clock::now();
  bool is_done = false;
  if (world().rank() == 0)
    while (!is_done && std::chrono::steady_clock::now() - begin < std::chrono::seconds(15)) is_done = test_once();
  EXPECT_TRUE(is_done || world().rank() != 0);
  one.started->wait();
  if (world().rank() != 0) other_ranks();
  one.expect();
}

TEST(nonblocking, is_posted_by_testing_a_message) {
  if (world().size() == 1) GTEST_SKIP();
  std::vector<std::int32_t> number{world().rank()};
  const auto awaited = world().rank() == 0 ? letter(false, 1, number) : nullptr;
  expect_to_post_when_tested([&] { return awaited->test(); },
                             [&] {
                               if (world().rank() == 1) letter(true, 0, number)->wait();
                             });
  EXPECT_EQ(number[0], world().rank() == 0 ? 1 : world().rank());
}

TEST(nonblocking, is_posted_by_testing_a_halo_exchange) {
  const auto cart = world().make_cartesian({{world().size()}, {0}}, {});
  comm::halo_description asked;
  asked.dtype = SYNCYTE_INT32;
  asked.shape = {4};
  asked.low = asked.high = {1};
  const auto plan = comm::halo::create(cart, asked);
  std::vector<std::int32_t> cells(4, world().rank());
  const auto buffer = buffer_of(cells, SYNCYTE_INT32);
  const auto start = [&] { return std::make_unique<comm::halo_transfer>(plan, &buffer, comm::halo_way::exchange); };
  const auto exchange = world().rank() == 0 ? start() : nullptr;
  expect_to_post_when_tested([&] { return exchange->test(); }, [&] { start()->wait(); });
  EXPECT_EQ(cells[3], std::min(world().rank() + 1, world().size() - 1));
}

TEST(nonblocking, a_start_waits_for_nobody) {
  // Rank 0 starts and then sends, the others receive and then start.
  std::vector<std::int32_t> number{world().rank()};
  trial one;
  if (world().rank() == 0) {
    one = start_bcast(shared_world(), 1);
    for (int rank = 1; rank < world().size(); ++rank) letter(true, rank, number)->wait();
  } else {
    letter(false, 0, number)->wait();
    one = start_bcast(shared_world(), 1);
  }
  one.started->wait();
  one.expect();
}

TEST(nonblocking, who_waits_for_a_message_goes_on_with_what_was_started) {
  // Rank 0 is inside a receive until the last rank has waited, for which rank 0 has to post.
  for (const bool is_long : {false, true}) {
    std::vector<std::int32_t> number(is_long ? 100000 : 1, 7);
    const int last = world().size() - 1;
    if (last == 0) return;
    const trial one = start_bcast(shared_world(), 3);
    if (world().rank() == 0) letter(false, last, number)->wait();
    one.started->wait();
    one.expect();
    if (world().rank() == last) letter(true, 0, number)->wait();
  }
}

TEST(nonblocking, waits_go_on_with_other_communicators) {
  const group first = shared_world()->duplicate({});
  const group second = shared_world()->duplicate({});
  const trial one = start_bcast(first, 3);
  const trial two = start_bcast(second, 4);
  if (world().rank() % 2 == 0) {
    one.started->wait();
    two.started->wait();
  } else {
    two.started->wait();
    one.started->wait();
  }
  one.expect();
  two.expect();
}

TEST(nonblocking, early_ranks_wait_while_a_late_one_is_in_a_blocking_collective) {
  for (comm::communicator* blocking : {&world(), &reference_world()}) {
    const trial one = start_bcast(shared_world(), 3);
    if (world().rank() == 0) comm::barrier(*blocking);
    one.started->wait();
    if (world().rank() != 0) comm::barrier(*blocking);
    one.expect();
  }
}

TEST(nonblocking, half_precision_is_reduced_in_float32_and_rounded_once) {
  // 2048 + 1 + 1 + ...: float16 alone would stay at 2048.
  std::vector<base::float16> in(70000, base::float16(world().rank() == 0 ? 2048.0f : 1.0f));
  std::vector<base::float16> out(in.size());
  const auto input = buffer_of(in, SYNCYTE_FLOAT16);
  const auto output = buffer_of(out, SYNCYTE_FLOAT16);
  comm::iallreduce(shared_world(), &input, &output, SYNCYTE_OP_SUM, {})->wait();
  const auto wanted = base::float16(2048.0f + static_cast<float>(world().size() - 1));
  for (const auto each : out) ASSERT_EQ(static_cast<float>(each), static_cast<float>(wanted));
  comm::iallreduce(shared_world(), nullptr, &input, SYNCYTE_OP_SUM, {})->wait();  // in place
  for (const auto each : in) ASSERT_EQ(static_cast<float>(each), static_cast<float>(wanted));

  const extents lengths = uneven_lengths();
  std::vector<base::bfloat16> whole(static_cast<std::size_t>(sum(lengths)),
                                    base::bfloat16(world().rank() == 0 ? 256.0f : 1.0f));
  std::vector<base::bfloat16> part(static_cast<std::size_t>(lengths[static_cast<std::size_t>(world().rank())]));
  const auto from = buffer_of(whole, SYNCYTE_BFLOAT16);
  const auto to = buffer_of(part, SYNCYTE_BFLOAT16);
  comm::ireduce_scatter_along(shared_world(), &from, 0, lengths.data(), SYNCYTE_OP_SUM, &to, {})->wait();
  const auto rounded = static_cast<float>(base::bfloat16(256.0f + static_cast<float>(world().size() - 1)));
  for (const auto each : part) ASSERT_EQ(static_cast<float>(each), rounded);
}

TEST(nonblocking, counts_beyond_mpis_go_in_pieces) {
  const auto limit = comm::piece_limit();
  comm::piece_limit() = 5;
  std::vector<trial> trials;
  for (int i = 0; i < 40; ++i) trials.push_back(start_any(shared_world(), i % 5, i));
  for (auto each = trials.rbegin(); each != trials.rend(); ++each) each->started->wait();
  comm::piece_limit() = limit;
  for (const trial& each : trials) each.expect();
}

/// An allreduce whose number of elements is wrong on one rank, or whose op is.
test::outcome odd_allreduce(const group& comm, int odd, bool is_bad_argument) {
  const bool is_odd = comm->rank() == odd;
  std::vector<float> values(is_odd && !is_bad_argument ? 4 : 3, 1.0f);
  const auto buffer = buffer_of(values, SYNCYTE_FLOAT32);
  const syncyte_op_t op = is_odd && is_bad_argument ? SYNCYTE_OP_BAND : SYNCYTE_OP_SUM;
  started_t started;
  const auto at_start = outcome_of([&] { started = comm::iallreduce(comm, nullptr, &buffer, op, {}); });
  if (is_odd && is_bad_argument) {
    EXPECT_EQ(started, nullptr);
    return at_start;
  }
  EXPECT_EQ(at_start.status, SYNCYTE_SUCCESS) << at_start.message;
  const auto result = outcome_of([&] { started->wait(); });
  EXPECT_EQ(values[0], 1.0f);  // not written
  EXPECT_EQ(outcome_of([&] { started->test(); }).message, result.message);
  return result;
}

TEST(nonblocking, a_bad_argument_is_an_error_at_once_there_and_at_the_wait_elsewhere) {
  for (int odd = 0; odd < world().size(); ++odd) {
    const trial before = start_bcast(shared_world(), 8);
    const auto result = odd_allreduce(shared_world(), odd, true);
    const trial after = start_allgather(shared_world(), 5);
    if (world().rank() == odd)
      EXPECT_EQ(result.message, "op BAND is not defined for dtype float32");
    else
      EXPECT_EQ(result.message, fmt::format("comm_iallreduce failed on rank {} of world: op BAND is not "
                                            "defined for dtype float32",
                                            odd));
    EXPECT_EQ(result.status, SYNCYTE_ERR_UNSUPPORTED);
    after.started->wait();
    before.started->wait();
    before.expect();
    after.expect();
  }
}

TEST(nonblocking, orphans_of_errors_do_not_pile_up) {
  const group comm = shared_world()->duplicate({});
  for (int i = 0; i < 300; ++i) odd_allreduce(comm, i % world().size(), true);
  start_bcast(comm, 8).started->wait();
}

TEST(nonblocking, a_mismatch_names_the_odd_rank_as_the_blocking_one_does) {
  if (world().size() == 1) return;
  const int odd = world().size() - 1;
  const trial before = start_bcast(shared_world(), 8);
  const auto result = odd_allreduce(shared_world(), odd, false);
  const trial after = start_allgather(shared_world(), 5);
  std::vector<float> values(world().rank() == odd ? 4 : 3);
  const auto buffer = buffer_of(values, SYNCYTE_FLOAT32);
  auto blocking = outcome_of([&] { comm::allreduce(world(), nullptr, &buffer, SYNCYTE_OP_SUM, {}); });
  EXPECT_EQ(result.status, SYNCYTE_ERR_MISMATCH);
  EXPECT_EQ(result.message, "comm_i" + blocking.message.substr(std::string("comm_").size()));
  if (world().size() > 2) expect_error(result, SYNCYTE_ERR_MISMATCH, fmt::format("but 4 on rank {}", odd));
  after.started->wait();
  before.started->wait();
  before.expect();
  after.expect();
}

TEST(nonblocking, different_operations_are_named) {
  if (world().size() == 1) return;
  std::vector<float> values(3);
  const auto buffer = buffer_of(values, SYNCYTE_FLOAT32);
  const started_t started = world().rank() == 0
                                ? comm::ibcast(shared_world(), &buffer, 0, {})
                                : comm::iallreduce(shared_world(), nullptr, &buffer, SYNCYTE_OP_SUM, {});
  expect_error(outcome_of([&] { started->wait(); }), SYNCYTE_ERR_MISMATCH, "comm_ibcast on rank 0");
  comm::barrier(world());
}

TEST(nonblocking, further_facts_of_the_caller_count_and_their_names_need_not_stay) {
  if (world().size() == 1) return;
  std::vector<float> values(3);
  const auto buffer = buffer_of(values, SYNCYTE_FLOAT32);
  started_t started;
  {
    std::string name = "learning rate";
    const syncyte_fact_t fact{name.c_str(), world().rank() == 0};
    comm::collective_extras extras;
    extras.facts = {&fact, 1};
    started = comm::iallreduce(shared_world(), nullptr, &buffer, SYNCYTE_OP_SUM, extras);
    std::fill(name.begin(), name.end(), '?');
  }
  expect_error(outcome_of([&] { started->wait(); }), SYNCYTE_ERR_MISMATCH, "learning rate is ");
}

TEST(nonblocking, without_checks_an_error_is_the_callers_alone) {
  const group comm = unchecked_world();
  std::vector<float> values(3);
  const auto buffer = buffer_of(values, SYNCYTE_FLOAT32);
  if (world().rank() == 0)
    expect_error(outcome_of([&] { comm::ibcast(comm, &buffer, -1, {}); }), SYNCYTE_ERR_ARGUMENT, "root is -1");
  const trial one = start_bcast(comm, 3);
  one.started->wait();
  one.expect();
}

TEST(nonblocking, another_thread_waits_while_this_one_is_in_collectives) {
  for (int round = 0; round < 20; ++round) {
    std::vector<trial> trials;
    for (int i = 0; i < 10; ++i) trials.push_back(start_any(shared_world(), i % 5, i));
    std::thread waiter([&] {
      for (auto each = trials.rbegin(); each != trials.rend(); ++each) each->started->wait();
    });
    for (int i = 0; i < 10; ++i) comm::barrier(world());
    waiter.join();
    for (const trial& each : trials) each.expect();
  }
}

TEST(nonblocking, a_start_beside_another_threads_collective_is_busy) {
  const group comm = shared_world()->duplicate({});
  std::vector<float> values(3);
  const auto buffer = buffer_of(values, SYNCYTE_FLOAT32);
  {
    const comm::collective_turn turn(*comm, "test_operation");
    expect_error(outcome_of([&] { comm::ibcast(comm, &buffer, 0, {}); }), SYNCYTE_ERR_BUSY, "another thread");
  }
  comm::ibcast(comm, &buffer, 0, {})->wait();
}

TEST(nonblocking, a_communicator_stays_until_its_requests_have_ended) {
  group comm = shared_world()->duplicate({});
  const trial one = start_allreduce(comm, 3);
  comm.reset();
  comm::barrier(world());  // frees what all have dropped
  one.started->wait();
  one.expect();
}

TEST(nonblocking, freed_resources_are_not_disturbed) {
  const group comm = shared_world()->duplicate({});
  for (int i = 0; i < 10; ++i) {
    const trial one = start_bcast(comm, 3);
    comm->duplicate({});  // dropped at once: freed by the next lifecycle call
    one.started->wait();
    one.expect();
  }
  comm::barrier(*comm);
  EXPECT_FALSE(comm->deferred().pending());
}

}  // namespace
