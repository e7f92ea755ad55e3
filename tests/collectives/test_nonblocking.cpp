// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives against the blocking ones: their results and their errors.

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "comm/split.hpp"
#include "mpi/large_counts.hpp"
#include "trials.hpp"

namespace {

using namespace syncyte;
using collectives::started_t;
using test::buffer_of;
using test::expect_error;
using test::extents;
using test::group;
using test::outcome_of;
using test::shared_world;
using test::start_allgather;
using test::start_allreduce;
using test::start_any;
using test::start_bcast;
using test::sum;
using test::trial;
using test::unchecked_world;
using test::uneven_lengths;
using test::world;

TEST(nonblocking, each_does_what_the_blocking_one_does) {
  for (const auto& comm : {shared_world(), unchecked_world()})
    for (int kind = 0; kind < 5; ++kind)
      for (int seed = 0; seed < 12; ++seed) {
        const trial one = start_any(comm, kind, seed);
        one.started->wait();
        one.expect();
        EXPECT_TRUE(one.started->test());  // still true after the wait
      }
}

TEST(nonblocking, many_outstanding_are_waited_for_in_any_order) {
  std::mt19937 order(static_cast<unsigned>(17 + world().rank()));  // another order on every rank
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

TEST(nonblocking, half_precision_is_reduced_in_float32_and_rounded_once) {
  // 2048 + 1 + 1 + ...: float16 alone would stay at 2048.
  std::vector<base::float16> in(70000, base::float16(world().rank() == 0 ? 2048.0f : 1.0f));
  std::vector<base::float16> out(in.size());
  const auto input = buffer_of(in, SYNCYTE_FLOAT16);
  const auto output = buffer_of(out, SYNCYTE_FLOAT16);
  collectives::start<collectives::allreduce>(shared_world(), "comm_iallreduce", {}, &input, SYNCYTE_OP_SUM, &output)
      ->wait();
  const auto wanted = base::float16(2048.0f + static_cast<float>(world().size() - 1));
  for (const auto each : out) ASSERT_EQ(static_cast<float>(each), static_cast<float>(wanted));
  collectives::start<collectives::allreduce>(shared_world(), "comm_iallreduce", {}, nullptr, SYNCYTE_OP_SUM, &input)
      ->wait();  // in place
  for (const auto each : in) ASSERT_EQ(static_cast<float>(each), static_cast<float>(wanted));

  const extents lengths = uneven_lengths();
  std::vector<base::bfloat16> whole(static_cast<std::size_t>(sum(lengths)),
                                    base::bfloat16(world().rank() == 0 ? 256.0f : 1.0f));
  std::vector<base::bfloat16> part(static_cast<std::size_t>(lengths[static_cast<std::size_t>(world().rank())]));
  const auto from = buffer_of(whole, SYNCYTE_BFLOAT16);
  const auto to = buffer_of(part, SYNCYTE_BFLOAT16);
  collectives::start<collectives::reduce_scatter_along>(shared_world(), "comm_ireduce_scatter_along", {}, &from, 0,
                                                        SYNCYTE_OP_SUM, lengths, &to)
      ->wait();
  const auto rounded = static_cast<float>(base::bfloat16(256.0f + static_cast<float>(world().size() - 1)));
  for (const auto each : part) ASSERT_EQ(static_cast<float>(each), rounded);
}

TEST(nonblocking, counts_beyond_mpis_go_in_pieces) {
  const auto limit = mpi::piece_limit();
  mpi::piece_limit() = 5;
  std::vector<trial> trials;
  const int count = world().size() > 3 ? 15 : 40;  // many messages at once, which take seconds where ranks share cores
  for (int i = 0; i < count; ++i) trials.push_back(start_any(shared_world(), i % 5, i));
  for (auto each = trials.rbegin(); each != trials.rend(); ++each) each->started->wait();
  mpi::piece_limit() = limit;
  for (const trial& each : trials) each.expect();
}

/// An allreduce whose number of elements, or whose op, is wrong on one rank.
test::outcome odd_allreduce(const group& comm, int odd, bool is_bad_argument) {
  const bool is_odd = comm->rank() == odd;
  std::vector<float> values(is_odd && !is_bad_argument ? 4 : 3, 1.0f);
  const auto buffer = buffer_of(values, SYNCYTE_FLOAT32);
  const syncyte_op_t op = is_odd && is_bad_argument ? SYNCYTE_OP_BAND : SYNCYTE_OP_SUM;
  started_t started;
  const auto at_start = outcome_of(
      [&] { started = collectives::start<collectives::allreduce>(comm, "comm_iallreduce", {}, nullptr, op, &buffer); });
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
      EXPECT_EQ(result.message, "op is BAND; expected an operation that is defined for dtype float32");
    else
      EXPECT_EQ(result.message, fmt::format("comm_iallreduce failed on rank {} of world: op is BAND; expected an "
                                            "operation that is defined for dtype float32",
                                            odd));
    EXPECT_EQ(result.status, SYNCYTE_ERR_UNSUPPORTED);
    after.started->wait();
    before.started->wait();
    before.expect();
    after.expect();
  }
}

TEST(nonblocking, orphans_of_errors_do_not_pile_up) {
  const group comm = comm::duplicate(*shared_world(), {});
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
  auto blocking = outcome_of([&] {
    collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, nullptr, SYNCYTE_OP_SUM, &buffer);
  });
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
                                ? collectives::start<collectives::bcast>(shared_world(), "comm_ibcast", {}, 0, &buffer)
                                : collectives::start<collectives::allreduce>(shared_world(), "comm_iallreduce", {},
                                                                             nullptr, SYNCYTE_OP_SUM, &buffer);
  expect_error(outcome_of([&] { started->wait(); }), SYNCYTE_ERR_MISMATCH, "comm_ibcast on rank 0");
  collectives::barrier(world());
}

TEST(nonblocking, further_facts_of_the_caller_count_and_their_names_need_not_stay) {
  if (world().size() == 1) return;
  std::vector<float> values(3);
  const auto buffer = buffer_of(values, SYNCYTE_FLOAT32);
  started_t started;
  {
    std::string name = "learning rate of the second optimizer";
    const syncyte_fact_t fact{sizeof(fact), name.c_str(), world().rank() == 0};
    collectives::caller_facts caller;
    caller.facts = {1, &fact, "facts"};
    started = collectives::start<collectives::allreduce>(shared_world(), "comm_iallreduce", caller, nullptr,
                                                         SYNCYTE_OP_SUM, &buffer);
    std::fill(name.begin(), name.end(), '?');
  }
  expect_error(outcome_of([&] { started->wait(); }), SYNCYTE_ERR_MISMATCH, "learning rate of the second optimizer is ");
}

TEST(nonblocking, without_checks_an_error_is_the_callers_alone) {
  const group comm = unchecked_world();
  std::vector<float> values(3);
  const auto buffer = buffer_of(values, SYNCYTE_FLOAT32);
  if (world().rank() == 0)
    expect_error(outcome_of([&] { collectives::start<collectives::bcast>(comm, "comm_ibcast", {}, -1, &buffer); }),
                 SYNCYTE_ERR_ARGUMENT, "root is -1");
  const trial one = start_bcast(comm, 3);
  one.started->wait();
  one.expect();
}

}  // namespace
